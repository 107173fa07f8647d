"""An answer is frozen, adds up in every unit, and comes back from a file as it was."""

import json
import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Answer, HeadlightError, InvalidInput, InvalidOption
from headlight.answer import Other, Part
from headlight.answer_fields import FIELDS
from headlight.units import Unit

PROMPT, SAID = "Ann is old. Ben? Who", " Ann is. Or\n Ben."


def spans_of(text: str) -> tuple[tuple[int, int], ...]:
    """Words with the space before them, and the line break on its own."""
    ends = [c for c, letter in enumerate(text) if letter in " \n"] + [len(text)]
    return tuple(zip([0, *ends[:-1]], ends, strict=True))


@pytest.fixture
def answer() -> Answer:
    """Known scores: token t of the prompt has (part + 1) · (t + 1), with every other sign."""
    text = PROMPT + SAID
    offsets = spans_of(text)
    first = sum(end <= len(PROMPT) for _, end in offsets)
    parts = tuple(Part(a, b, 2.0, -0.5) for a, b in offsets[first:])
    scores = np.array(
        [
            [(n + 1) * (t + 1) * (-1) ** t * (t < first) for t in range(len(offsets))]
            for n in range(len(parts))
        ],
        dtype=np.float32,
    )
    known = {"sources": (Unit("ann", 0, 11), Unit("ben", 12, 16))}
    return Answer(
        text=text,
        prompt_end=len(PROMPT),
        tokens=tuple(text[a:b] for a, b in offsets),
        offsets=offsets,
        is_special=(False,) * len(offsets),
        is_sink=(False,) * len(offsets),
        parts=parts,
        scores=scores,
        units=known["sources"],
        unit="sources",
        method="input_x_gradient",
        model="made up",
        signed=True,
        known=known,
        options={"variant": "paper"},
        versions={"headlight": "1"},
        notes=("a note",),
    )


def test_texts(answer: Answer) -> None:
    assert (answer.prompt, answer.answer) == (PROMPT, SAID)
    assert answer.prompt + answer.answer == answer.text
    assert answer.part_texts == ("Ann", "is.", "Or", "", "Ben.")
    assert answer.log_probability == pytest.approx(-2.5)
    assert answer.parts[0].probability == pytest.approx(np.exp(-0.5))


def test_units_add_up(answer: Answer) -> None:
    # Tokens of the prompt: Ann +1, is −2, old. +3 | Ben? −4 | Who +5.
    np.testing.assert_allclose(answer.matrix[0], [2, -4])
    np.testing.assert_allclose(answer.rest, [5, 10, 15, 20, 25])
    assert answer.completeness[0] == pytest.approx(1.5)
    assert [unit.name for unit in answer.by("sentences").units] == ["Ann is old.", "Ben?", "Who"]
    np.testing.assert_allclose(answer.by("sentences").matrix[1], [4, -8, 10])
    np.testing.assert_allclose(answer.by("tokens").matrix[0], [1, -2, 3, -4, 5])
    words = answer.words()
    assert [unit.name for unit in words.units] == ["Ann", "is", "old", "Ben", "Who"]
    assert answer.by(lambda _: [(0, 6)]).unit == "spans"


def test_parts_are_joined_and_nothing_is_lost(answer: Answer) -> None:
    by_sentence = answer.per("sentences")
    assert by_sentence.part_texts == ("Ann is.", "Or\n Ben.")
    np.testing.assert_allclose(by_sentence.matrix, [[6, -12], [24, -48]])
    assert by_sentence.parts[1].value == pytest.approx(6)
    assert by_sentence.parts[1].log_probability == pytest.approx(-1.5)
    whole = answer.per("answer")
    assert len(whole.parts) == 1
    np.testing.assert_allclose(whole.scores[0], answer.scores.sum(0))
    np.testing.assert_allclose(answer.per("words").scores.sum(0), answer.scores.sum(0))
    through = replace(answer, through_thoughts=answer.scores).per("answer").through_thoughts
    assert through is not None
    np.testing.assert_allclose(through[0], answer.scores.sum(0))


@pytest.mark.parametrize(
    ("joined", "sentences"),
    [
        (None, ["Ann is.", "Or\n Ben."]),
        ("sentences", ["Ann is.", "Or\n Ben."]),
        ("answer", [SAID.strip()]),
    ],
)
def test_citations(answer: Answer, joined: str | None, sentences: list[str]) -> None:
    made = answer if joined is None else answer.per(joined)
    cited = made.cite()
    assert [each.sentence for each in cited] == sentences
    assert {(each.source, each.number, each.share) for each in cited} == {("ann", 0, 1.0)}
    assert cited[0].strength == pytest.approx(2 / 15)
    assert made.by("words").cite() == cited


def test_without_sources_units_are_cited(answer: Answer) -> None:
    cited = replace(answer, known={}).by("words").cite(2)
    assert [each.source for each in cited[:2]] == ["Who", "old"]
    assert len(cited) == 4


def test_top(answer: Answer) -> None:
    assert answer.words().top(2, part=0) == [("Who", 5.0, 4), ("Ben", -4.0, 3)]
    assert [score for _, score, _ in answer.top(1, part=-1)] == [-20]
    sinks = (True, *[False] * (len(answer.tokens) - 1))
    first = replace(answer.by("tokens"), is_sink=sinks, scores=np.abs(answer.scores) * 0 + 1)
    assert all(number != 0 for _, _, number in first.top(9))


@pytest.mark.parametrize("part", [None, 0, 1, -1])
def test_an_attribution_of_a_part(answer: Answer, part: int | None) -> None:
    found = answer.attribution(part)
    expected = answer.scores.sum(0) if part is None else answer.scores[part]
    np.testing.assert_allclose(found.scores, expected)
    assert found.texts == (answer.text,)
    assert found.target.label == (SAID.strip() if part is None else answer.part_texts[part])
    assert found.words().tokens[0] == "Ann"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.by("sauces"), "no unit named 'sauces'. Did you mean 'sources'"),
        (lambda a: a.by("turns"), "no unit named 'turns'"),
        (lambda a: a.by([(1, 2)]), "the units cover no token of the prompt"),
        (lambda a: a.per("tokens"), r"per\('tokens'\) does not exist. Use one of answer"),
        (lambda a: a.top(part=5), "part 5 does not exist: 5 of the answer are explained"),
        (lambda a: a.attribution(-6), "part -6 does not exist"),
    ],
)
def test_what_does_not_exist_is_refused(answer: Answer, call: Any, message: str) -> None:
    with pytest.raises(HeadlightError, match=message):
        call(answer)


def test_an_answer_is_frozen(answer: Answer) -> None:
    with pytest.raises(FrozenInstanceError):
        answer.text = ""  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        answer.scores[0, 0] = 1
    with pytest.raises(TypeError):
        answer.options["a"] = 1  # type: ignore[index]


@pytest.mark.parametrize("has_more", [False, True])
def test_files_and_pickles_bring_the_answer_back(
    answer: Answer, tmp_path: Path, has_more: bool
) -> None:
    more = {"through_thoughts": answer.scores * 0.5, "other": Other(" no.", ("no", "."), (1.5, 0))}
    made = replace(answer, **more) if has_more else answer  # type: ignore[arg-type]
    made.save(tmp_path / "a.json")
    back = Answer.load(tmp_path / "a.json")
    assert back == made
    assert back.units == made.units
    assert dict(back.known) == dict(made.known)
    with pytest.raises(InvalidInput, match=r"'.*a\.json' exists"):
        made.save(tmp_path / "a.json")
    made.save(tmp_path / "a.json", overwrite=True)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert not again.scores.flags.writeable
    assert deepcopy(made) == made
    assert made != replace(made, notes=())
    assert made != "text"
    assert json.loads(json.dumps(made.to_dict())) == made.to_dict()


def test_it_says_what_it_is(answer: Answer) -> None:
    assert repr(answer).startswith(
        "<Answer ' Ann is. Or\\n Ben.' by made up, input_x_gradient: 'ben'"
    )


DAMAGE: dict[str, list[Any]] = {
    "format": [2, None],
    "text": [5, "short"],
    "prompt_end": [-1, "1", 10_000],
    "tokens": [[], [1], "abc"],
    "offsets": [[], [[0]], [[0, 1.5]], [[5, 4]] * 10, [[0, 999]] * 10],
    "is_special": [[], [1] * 10],
    "is_sink": [[], ["no"]],
    "parts": [[], [{"start": 0}], [5]],
    "scores": [[], [[1.0]], [[float("nan")] * 10] * 5, [[1.0] * 10, [1.0]], "x"],
    "units": [[{"name": 1, "start": 0, "end": 1}], [{"name": "a", "start": 0, "end": 30}], 5],
    "unit": [None],
    "method": [3],
    "model": [3],
    "signed": ["yes"],
    "known": [[], {"sources": [5]}, {"sources": [{"name": "a", "start": 9, "end": 3}]}],
    "through_thoughts": [[[1.0]], 5],
    "other": [5, {"text": "no"}, {"text": "no", "tokens": ["n"], "scores": []}],
    "options": [[]],
    "versions": [None],
    "notes": [[1], "note"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in DAMAGE.items() for value in values]
)
def test_damaged_files_are_refused_field_by_field(answer: Answer, name: str, value: Any) -> None:
    with pytest.raises(InvalidInput):
        Answer.from_dict({**answer.to_dict(), name: value})


def test_every_field_is_damaged_once(answer: Answer) -> None:
    assert set(DAMAGE) == set(FIELDS) == set(answer.to_dict())
    for name in FIELDS:
        lacking = {field: value for field, value in answer.to_dict().items() if field != name}
        with pytest.raises(InvalidInput, match=name):
            Answer.from_dict(lacking)
    with pytest.raises(InvalidInput, match="an answer is an object with named fields"):
        Answer.from_dict([])  # type: ignore[arg-type]


def test_scores_that_are_no_numbers_are_refused(answer: Answer) -> None:
    with pytest.raises(InvalidInput, match="'scores' of an answer must be finite"):
        replace(answer, scores=answer.scores * np.nan)
    with pytest.raises(InvalidInput, match="one number per part and token"):
        replace(answer, scores=answer.scores[:, 1:])
    with pytest.raises(InvalidOption, match="part"):
        answer.checked_part(9)


def test_a_table_has_a_row_per_part_and_unit(answer: Answer) -> None:
    pytest.importorskip("pandas")
    table = answer.to_dataframe()
    assert len(table) == 5 * 2
    assert list(table.columns) == ["part", "part_text", "unit", "start", "end", "score"]
    assert table["score"].sum() == pytest.approx(answer.matrix.sum())


def test_a_real_answer_survives_a_file(writer: headlight.Model, tmp_path: Path) -> None:
    made = headlight.explain_answer(
        writer,
        "the keys {sources}",
        " are 🎬",
        "input_x_gradient",
        sources=["a film", "好"],
        of="tokens",
    )
    made.save(tmp_path / "answer.json")
    back = Answer.load(tmp_path / "answer.json")
    assert back == made
    np.testing.assert_array_equal(back.matrix, made.matrix)
    np.testing.assert_array_equal(back.words().matrix, made.words().matrix)
