"""The frozen answer and what can be made of it."""

import json
import sys
from contextlib import suppress
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headlight
from headlight import (
    Attribution,
    Generation,
    HeadlightError,
    InvalidInput,
    InvalidOption,
    MissingExtra,
    Model,
)
from headlight.attribution import Explained
from tests.known import known
from tests.mutations import mutated_bytes, mutated_objects

TARGET = Explained("positive", "positive", 1.5, 0.8, (0,), "logit")


BARE = {"texts": (), "offsets": None, "segments": None, "word_ids": None}
"""An attribution of bare ids."""


def made(scores: list[float] | None = None, **changes: object) -> Attribution:
    """The film, unbelievable film: a word twice, and one in three pieces."""
    tokens = ("[CLS]", "film", ",", "un", "##believ", "##able", "film", "[SEP]")
    facts = {
        "tokens": tokens,
        "scores": np.array(scores or [0.9, 0.1, 0.0, 0.2, -0.5, 0.1, -0.4, 0.3]),
        "target": TARGET,
        "method": "attcat",
        "model": "toy",
        "signed": True,
        "is_special": (True, *[False] * 6, True),
        "texts": ("film, unbelievable film",),
        "offsets": ((0, 0), (0, 4), (4, 5), (6, 8), (8, 14), (14, 18), (19, 23), (0, 0)),
        "segments": (None, 0, 0, 0, 0, 0, 0, None),
        "word_ids": (None, 0, 1, 2, 2, 2, 3, None),
        "options": {"variant": "paper"},
        "versions": {"headlight": "0"},
    }
    return Attribution(**{**facts, **changes})  # type: ignore[arg-type]


def test_it_is_frozen() -> None:
    answer = made()
    with pytest.raises(FrozenInstanceError):
        answer.method = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        answer.scores[0] = 1


def test_scores_are_by_position_so_repeated_words_keep_theirs() -> None:
    assert made().as_tuples()[1] == ("film", 0.1)
    assert made().as_tuples()[6] == ("film", -0.4)
    assert len(made().as_tuples()) == len(made()) == 8


@pytest.mark.parametrize(("merge", "expected"), [("sum", -0.2), ("max", -0.5), ("mean", -0.2 / 3)])
def test_words_merge_pieces(merge: str, expected: float) -> None:
    words = made().words(merge)  # type: ignore[arg-type]
    assert words.tokens == ("[CLS]", "film", ",", "unbelievable", "film", "[SEP]")
    assert words.scores[3] == pytest.approx(expected)
    assert known(words.offsets)[3] == (6, 18)
    assert words.unit == "word"
    assert words.words("sum").tokens == words.tokens


def test_words_of_bare_ids_are_not_known() -> None:
    with pytest.raises(InvalidInput, match="words are not known"):
        made(word_ids=None).words()
    with pytest.raises(InvalidOption, match="merge='median'"):
        made().words("median")  # type: ignore[arg-type]


def test_top_is_by_magnitude_and_leaves_special_tokens_out() -> None:
    assert [(t, p) for t, _, p in made().top(2)] == [("##believ", 4), ("film", 6)]
    assert made().top(1, special=True)[0][0] == "[CLS]"


def test_normalising() -> None:
    assert np.abs(made().normalised().scores[1:-1]).max() == 1
    assert np.abs(made().normalised("sum").scores[1:-1]).sum() == pytest.approx(1)
    only_special = made(is_special=(True,) * 8)
    assert np.abs(only_special.normalised().scores).max() == 1
    zeros = made([0.0] * 8)
    assert zeros.normalised() == zeros
    only_cls = made([0.9, *[0.0] * 7])
    assert not only_cls.normalised().scores.any()
    with pytest.raises(InvalidOption, match="by='mean'"):
        made().normalised("mean")  # type: ignore[arg-type]


SINK = (False, True, *[False] * 6)
"""The flags of a text whose first word is a sink."""


def test_a_sink_is_outside_the_scale_and_cut_to_it() -> None:
    answer = made([0.0, 9.0, 0.0, 0.2, -0.5, 0.1, -0.4, -3.0], is_sink=SINK)
    assert answer.in_scale.tolist() == [False, False, *[True] * 5, False]
    np.testing.assert_allclose(answer.normalised().scores, [0, 1, 0, 0.4, -1, 0.2, -0.8, -1])
    by_sum = answer.normalised("sum").scores
    np.testing.assert_allclose(by_sum * 1.2, [0, 0.5, 0, 0.2, -0.5, 0.1, -0.4, -0.5])


def test_a_sink_sets_the_scale_if_no_other_ordinary_token_is_left() -> None:
    (word,) = (
        made([2.0], tokens=("film",), is_special=(False,), is_sink=(True,), **BARE).normalised()
    ).scores
    assert word == 1
    answer = made(is_special=(True, False, *[True] * 6), is_sink=SINK)
    assert answer.in_scale.tolist() == [not special for special in answer.is_special]


def test_top_leaves_a_sink_out_only_if_it_is_beyond_the_scale() -> None:
    beyond = made([0.0, 0.6, 0.0, 0.2, -0.5, 0.1, -0.4, 0.0], is_sink=SINK)
    assert [place for _, _, place in beyond.top(2)] == [4, 6]
    assert beyond.top(1, special=True)[0][2] == 1
    within = made([0.0, 0.45, 0.0, 0.2, -0.5, 0.1, -0.4, 0.0], is_sink=SINK)
    assert [place for _, _, place in within.top(2)] == [4, 1]


def test_a_word_with_a_sink_is_one() -> None:
    pieces = made(is_sink=(False, False, False, True, *[False] * 4)).words()
    assert [token for token, sink in zip(pieces.tokens, pieces.is_sink, strict=True) if sink] == [
        "unbelievable"
    ]


def test_a_difference_has_the_sinks_of_both() -> None:
    assert (made() - made(is_sink=SINK)).is_sink == (made(is_sink=SINK) - made()).is_sink == SINK


def test_sinks_are_stored_and_old_files_have_none(tmp_path: Path) -> None:
    made(is_sink=SINK).save(tmp_path / "new.json")
    assert Attribution.load(tmp_path / "new.json").is_sink == SINK
    old = made(is_sink=SINK).to_dict() | {"format": 1}
    del old["is_sink"]
    assert Attribution.from_dict(old) == made()


@pytest.mark.parametrize(
    ("scores", "flags", "note"),
    [
        ([0, 7, 1, 1, 0, 0, 0, 0], SINK, "the first token holds 78 % of all scores: attention rests there"),
        ([7, 0, 1, 1, 0, 0, 0, 0], (), "special tokens hold 78 % of all scores: they are outside the scale"),
        (
            [4, -3, 1, 1, 0, 0, 0, 0],
            SINK,
            "special tokens and the first token hold 78 % of all scores: they are outside the scale",
        ),
        ([1, 1, 1, 1, 0, 0, 0, 0], SINK, ""),
        ([0.0] * 8, SINK, ""),
    ],
)  # fmt: skip
def test_a_note_says_when_tokens_outside_the_scale_hold_most(
    scores: list[float], flags: tuple[bool, ...], note: str
) -> None:
    ends = (True, *[False] * 7) if scores[0] else (False,) * 8
    assert made(scores, is_sink=flags, is_special=ends).held_outside == note


def test_a_difference_is_of_the_same_tokens() -> None:
    difference = made() - made([0.1] * 8, method="rollout")
    np.testing.assert_allclose(difference.scores, made().scores - 0.1)
    assert difference.method == "attcat − rollout"
    assert difference.signed
    with pytest.raises(InvalidInput, match="same tokens"):
        made() - made().words()


def test_tokens_and_scores_must_agree() -> None:
    with pytest.raises(InvalidInput, match="8 tokens need as many scores"):
        made([1.0, 2.0])


@given(st.lists(st.floats(-1e9, 1e9), min_size=8, max_size=8))
def test_json_round_trip_loses_nothing(scores: list[float]) -> None:
    answer = made(scores, notes=("cut",))
    again = Attribution.from_dict(json.loads(json.dumps(answer.to_dict())))
    assert again == answer
    assert again.offsets == answer.offsets
    assert again.target == answer.target
    assert again.scores.tolist() == answer.scores.tolist()


def test_save_and_load(tmp_path: Path, classifier: Model) -> None:
    answer = headlight.explain(classifier, "a charming film")
    path = tmp_path / "answer.json"
    answer.save(path)
    assert Attribution.load(path) == answer
    with pytest.raises(InvalidInput, match="exists"):
        answer.save(path)
    answer.save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["answer.json"]
    with pytest.raises(InvalidInput, match="cannot be written"):
        answer.save(tmp_path / "nowhere" / "x.json")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": 99}'])
def test_what_is_no_attribution_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InvalidInput):
        Attribution.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.1] * 7}, "8 tokens need as many scores"),
        ({"scores": [float("nan")] * 8}, "'scores' of an attribution must hold a list of finite"),
        ({"scores": ["1"] * 8}, "'scores' of an attribution must hold a list of finite numbers"),
        ({"is_special": [True] * 7}, "need as many values of 'is_special', not 7"),
        ({"is_special": [0] * 8}, "'is_special' of an attribution must hold a list of true"),
        ({"word_ids": [0] * 9}, "need as many values of 'word_ids', not 9"),
        ({"word_ids": ["0"] * 8}, "'word_ids' of an attribution must hold"),
        ({"offsets": [[0, 1, 2]] * 8}, "'offsets' of an attribution must hold a list of spans"),
        ({"offsets": [[0, 99]] * 8}, "characters 0 to 99 of text 0, which is outside"),
        ({"offsets": [[3, 1]] * 8}, "characters 3 to 1 of text None"),
        ({"segments": [4] * 8}, "of text 4, which is outside"),
        ({"target": None}, "'target' of an attribution must hold an object"),
        ({"target": {"label": "a"}}, "the target of an attribution needs the fields"),
        ({"unit": "page"}, "'unit' of an attribution must hold 'token' or 'word'"),
        ({"format": 3}, "not an attribution of format 1 or 2: it says 3"),
        ({"is_sink": [True] * 7}, "need as many values of 'is_sink', not 7"),
        ({"is_sink": None}, "'is_sink' of an attribution must hold a list of true"),
        ({"tokens": [], "scores": []}, "at least one token"),
    ],
)
def test_a_stored_attribution_is_checked_field_by_field(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Attribution.from_dict({**made().to_dict(), **changes})


def test_a_damaged_attribution_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    read = 0
    for content in mutated_bytes(json.dumps(made().to_dict()).encode(), 100):
        path.write_bytes(content)
        with suppress(HeadlightError):
            read += len(headlight.render(Attribution.load(path), "html")) > 0
    for stored in mutated_objects(made().to_dict(), 200):
        with suppress(HeadlightError):
            read += len(headlight.render(Attribution.from_dict(stored), "html")) > 0
    assert 0 < read < 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[{}, {}]", "a list of 2, not one attribution. Read each with"),
        ('"text"', "not an attribution of format 1 or 2: it says 'str'"),
    ],
)
def test_other_json_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "other.json").write_text(content)
    with pytest.raises(InvalidInput, match=message):
        Attribution.load(tmp_path / "other.json")


def test_a_generation_has_an_attribution_for_each_output_token() -> None:
    with pytest.raises(InvalidInput, match="2 output tokens need as many attributions"):
        Generation(("film",), ("is", "dull"), (made(),))


def test_data_frame_has_a_row_for_each_token() -> None:
    frame = made().to_dataframe()
    assert list(frame.columns) == [
        "token",
        "score",
        "is_special",
        "is_sink",
        "word_ids",
        "segments",
        "start",
        "end",
    ]
    assert len(frame) == 8


def test_repr_is_short() -> None:
    assert repr(made()) == (
        "<Attribution attcat of 'positive' by toy: ##believ -0.5, film -0.4, un +0.2>"
    )


def test_a_table_for_pandas_has_a_row_for_each_token(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made().to_dataframe()
    assert list(table.columns) == [
        "token", "score", "is_special", "is_sink", "word_ids", "segments", "start", "end",
    ]  # fmt: skip
    assert table["score"].tolist() == made().scores.tolist()
    assert table["word_ids"].isna().tolist() == [word is None for word in made().word_ids]  # type: ignore[union-attr]
    assert table.loc[4, ["token", "start", "end"]].tolist() == ["##believ", 8, 14]
    bare = made(texts=(), offsets=None, segments=None, word_ids=None).to_dataframe()
    assert list(bare.columns) == ["token", "score", "is_special", "is_sink"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"to_dataframe\(\) needs the package 'pandas'"):
        made().to_dataframe()


def test_an_attribution_says_its_strongest_tokens_and_is_walked_through() -> None:
    shown = repr(made())
    assert shown.startswith("<Attribution attcat of 'positive' by toy: ")
    assert "##believ -0.5" in shown
    assert list(made())[1] == ("film", 0.1)


def test_a_list_of_attributions_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([made().to_dict()] * 2), encoding="utf-8")
    with pytest.raises(InvalidInput, match="holds a list of 2, not one attribution"):
        Attribution.load(tmp_path / "a.json")


def test_a_generation_needs_an_attribution_for_each_output() -> None:
    with pytest.raises(InvalidInput, match=r"2 output tokens need as many attributions"):
        Generation(("a",), ("b", "c"), (made(),))
