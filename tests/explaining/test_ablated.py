"""Ablations in `explain_answer`: alone or beside other methods, with one score per unit of the prompt."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Answer, InvalidOption, UnknownName
from headlight.explaining import removal, written
from headlight.explaining.ablated import calls_of

SOURCES = {"a": "the film is good", "b": "the keys are bad", "c": "a film"}
ASKED = "{sources}\nare the keys good"


def explained(writer: headlight.Model, method: Any, **options: Any) -> dict[str, Answer]:
    """The answers by method; '' for a single one."""
    found: Any = headlight.explain_answer(
        writer,
        ASKED,
        " the film",
        method,
        sources=SOURCES,
        **options,
    )
    return found if isinstance(found, dict) else {"": found}


def test_an_ablation_has_one_score_per_source(writer: headlight.Model, tmp_path: Path) -> None:
    (answer,) = explained(writer, "leave_one_out", of="words").values()
    assert answer.tokens == ("a", "b", "c")
    assert [answer.text[slice(*span)] for span in answer.offsets] == list(SOURCES.values())
    assert answer.matrix.shape == (2, 3)
    assert np.array_equal(answer.matrix, answer.scores)
    assert answer.options == {"removed": "sources"}
    assert {each.source for each in answer.cite()} <= set(SOURCES)
    answer.save(tmp_path / "answer.json")
    assert Answer.load(tmp_path / "answer.json") == answer


def test_leaving_a_source_out_is_a_prompt_without_its_tokens(writer: headlight.Model) -> None:
    (answer,) = explained(writer, "leave_one_out").values()
    without = answer.prompt.replace(f" {SOURCES['c']}\n", "\n")
    plain = headlight.explain_answer(writer, without, answer.answer, "input_x_gradient")
    assert isinstance(plain, Answer)
    expected = answer.log_probability - plain.log_probability
    assert answer.matrix[0, 2] == pytest.approx(expected, abs=1e-3)


def test_ablations_stand_beside_methods_in_the_order_of_the_call(writer: headlight.Model) -> None:
    names = ["context_cite:samples=5", "input_x_gradient", "source_shapley"]
    found = explained(writer, names, seed=3)
    assert list(found) == names
    assert found["source_shapley"].completeness[0] == pytest.approx(1)
    assert found["context_cite:samples=5"].options == {
        "removed": "sources", "samples": 5, "seed": 3,
    }  # fmt: skip
    assert found["source_shapley"].log_probability == pytest.approx(
        found["input_x_gradient"].log_probability, abs=1e-4
    )


def test_options_go_to_those_that_have_them() -> None:
    calls = calls_of(["context_cite", "lime", "gae"], {"samples": 7, "memory": "1 GB"})
    assert [entry.settled for entry in calls.ablations] == [{"samples": 7}]
    assert calls.others == ["lime", "gae"]
    assert calls.options == {"samples": 7, "memory": "1 GB"}
    assert calls_of("context_cite:seed=9", {"alpha": 0.5}).options == {}
    assert calls_of(None, {"steps": 3}).options == {"steps": 3}


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("leave_one_out", {"samples": 3}, "'leave_one_out' has no option 'samples'"),
        ("context_cite", {"samples": 0}, "samples=0"),
        ("context_cite", {"thoughts": True}, "which context_cite does not"),
        (["leave_one_out", "gae"], {"nonsense": 1}, "have no option 'nonsense'"),
    ],
)
def test_what_does_not_fit_is_refused(
    writer: headlight.Model, method: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidOption, match=message):
        explained(writer, method, **options)


def test_an_unknown_name_is_refused_with_what_is_known(writer: headlight.Model) -> None:
    with pytest.raises(UnknownName, match="no method named 'leave_two_out'"):
        explained(writer, "leave_two_out")


def test_scores_of_units_are_joined_but_never_split(writer: headlight.Model) -> None:
    (answer,) = explained(writer, "leave_one_out").values()
    end = answer.prompt_end
    assert answer.by([(0, end)]).matrix[0, 0] == pytest.approx(answer.scores.sum())
    with pytest.raises(InvalidOption, match="scores of whole sources, which can be joined but not"):
        answer.words()


def test_without_sources_sentences_are_removed(writer: headlight.Model) -> None:
    found = headlight.explain_answer(writer, "the film. the keys are", " good", "source_shapley")
    assert isinstance(found, Answer)
    assert found.unit == "sentences"
    assert found.tokens == ("the film.", "the keys are")
    assert found.by("sentences").matrix.shape == (1, 2)
    assert found.cite()[0].source in found.tokens


def test_rather_than_another_answer_is_the_difference_of_scores(writer: headlight.Model) -> None:
    (both,) = explained(writer, "source_shapley", rather_than=" bad").values()
    (own,) = explained(writer, "source_shapley").values()
    other = headlight.explain_answer(writer, ASKED, " bad", "source_shapley", sources=SOURCES)
    assert isinstance(other, Answer)
    assert np.allclose(both.scores, own.scores - other.scores)
    assert both.parts[0].value == pytest.approx(own.parts[0].value - other.parts[0].value)
    assert "rather than ' bad'" in both.notes[-1]


def test_several_prompts_give_several_answers(writer: headlight.Model) -> None:
    found = headlight.explain_answer(
        writer, ["the film. the keys", "a film. the keys"], " are", "leave_one_out"
    )
    assert isinstance(found, list)
    assert [answer.tokens[0] for answer in found] == ["the film.", "a film."]


def test_an_answer_that_cannot_follow_has_a_note(
    writer: headlight.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain,) = explained(writer, "leave_one_out").values()
    assert not any("hardly" in note for note in plain.notes)
    monkeypatch.setattr(written, "UNLIKELY", 0.9)
    (noted,) = explained(writer, "leave_one_out").values()
    assert "the model would hardly write 'the film' here" in noted.notes[-1]


def test_progress_counts_the_tokens_of_all_cases(
    writer: headlight.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, int | None, list[int]]] = []

    @contextmanager
    def recorded(
        doing: str, total: int | None, *, is_shown: bool
    ) -> Iterator[Callable[[int], None]]:
        done: list[int] = []
        if is_shown:
            shown.append((doing, total, done))
        yield done.append

    monkeypatch.setattr(removal, "progress_of", recorded)
    for method, cases in {
        "leave_one_out": 5,
        "context_cite:samples=5": 7,
        "source_shapley": 8,
    }.items():
        shown.clear()
        explained(writer, method, progress=True, batch_size=2)
        ((doing, total, done),) = shown
        assert re.fullmatch(r"reading (\d+) cases of removed units, tokens", doing)
        assert int(doing.split()[1]) <= cases
        assert len(done) > 1
        assert sum(done) == total
    shown.clear()
    explained(writer, "leave_one_out")
    assert not shown
