"""Gold parses from CoNLL-U files, and what a damaged file gets."""

from pathlib import Path

import pytest

from headlight import InvalidInput
from headlight.files.conllu import read_conllu

CONLLU = """# text = She don't see it.
1\tShe\tshe\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\tVB\t_\t0\troot\t_\t_
4.1\tsee\tsee\tVERB\tVB\t_\t_\t_\t_\t_
5\tit\tit\tPRON\tPRP\t_\t4\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""


def test_conllu_gives_words_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    first, second = read_conllu(path)
    assert first.text == "She don't see it."
    assert [first.text[start:end] for start, end in first.places] == list(first.words)
    assert first.heads == (3, 3, 3, 3, 3, 3)
    assert first.relations[0] == "nsubj"
    assert first.tags[:2] == ("PRP", "VBP")
    assert second.heads == (0,)


WORD = "{}\t{}\t_\t_\tNN\t_\t{}\tdep\t_\t_\n"


def words(*heads: object) -> str:
    """Lines of words with these heads."""
    return "".join(WORD.format(number, f"w{number}", head) for number, head in enumerate(heads, 1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\tShe\t_\n", "in line 1 it has 3 columns, not ten"),
        (words(7), "in line 1 the head '7' is no word of the sentence"),
        (words("_"), "the head '_' is no word"),
        (words("\u00b2"), "the head '\u00b2' is no word"),
        (words(-1), "the head '-1' is no word"),
        (words("9" * 5000), "the head '9999.* is no word"),
        (words(1), "in line 1 a word governs itself"),
        (words(2, 3, 1), "in line 1 words govern each other in a circle"),
        (words(0, 3, 2), "in line 2 words govern each other in a circle"),
        (words(0) + words(0), "in line 2 word 1 stands where word 2 is due"),
        (WORD.format(2, "a", 0), "in line 1 word 2 stands where word 1 is due"),
        (WORD.format("\u00b2", "a", 0), "'\u00b2' is not the number of a word"),
        (WORD.format("2-#", "a", 0), "'2-#' is not the number of a word"),
        (WORD.format("x", "a", 0), "'x' is not the number of a word"),
        (WORD.format("", "a", 0), "'' is not the number of a word"),
        (WORD.format(1, " ", 0), "the word has no letters"),
        (WORD.format("1-30000000", "a", "_") + words(0), "'1-30000000' are not words"),
        (WORD.format("1-2", "a", "_") + words(0), "'1-2' are not words of the sentence"),
        (WORD.format("2-1", "a", "_") + words(0, 1), "'2-1' are not words of the sentence"),
        (WORD.format("1.1", "a", "_"), "a sentence begins that has no words"),
        ("\n\n# note\n" + words(0) + "\n" + words(5), "in line 6 the head '5' is no word"),
    ],
)
def test_damaged_parses_are_refused_by_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"is not a CoNLL-U file with parses: .*{message}"):
        list(read_conllu(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file '.*none\.conllu'"):
        list(read_conllu(tmp_path / "none.conllu"))


def test_a_line_separator_in_a_word_stays_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(WORD.format(1, "a\u2028b", 0), encoding="utf-8")
    assert [parse.words for parse in read_conllu(path)] == [("a\u2028b",)]


def test_sentences_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(words(0) + "\n" + words(9), encoding="utf-8")
    assert next(read_conllu(path)).words == ("w1",)


def test_a_long_chain_of_heads_is_followed_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(words(*range(50_000)), encoding="utf-8")
    (parse,) = read_conllu(path)
    assert parse.heads[-1] == 49_998
