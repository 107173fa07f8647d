"""Explanations made elsewhere are measured like our own: the same numbers get the same values."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Attribution, Example, HeadlightError, Model, Results
from headlight.batch import encode
from headlight.evaluation.evaluate import preview
from headlight.evaluation.given import digests, given_of, matching
from headlight.evaluation.request import Request
from headlight.foreign import from_captum, from_shap
from tests.known import known

METRICS = ["aopc", "log_odds", "comprehensiveness", "sufficiency", "completeness", "hiding"]
TEXTS = ["the film is charming", "a dull plot , not good", "unhelpful story"]
DATA = [Example(text, label) for text, label in zip(TEXTS, (2, 0, 1), strict=True)]


@pytest.fixture(scope="module")
def run(classifier: Model) -> Results:
    """Our own method, measured."""
    return headlight.evaluate(classifier, DATA, ["attcat"], METRICS, threads=1)


@pytest.fixture(scope="module")
def numbers(run: Results) -> dict[str, list[Any]]:
    """The scores, tokens and labels that were measured."""
    found: dict[str, list[Any]] = run.attributions.to_pydict()
    return found


def foreign(
    model: Model, numbers: dict[str, list[Any]], method: str = "theirs"
) -> list[Attribution]:
    """The same numbers as from elsewhere."""
    return [
        Attribution.from_scores(model, text, scores, tokens=tokens, target=label, method=method)
        for text, scores, tokens, label in zip(
            TEXTS, numbers["scores"], numbers["tokens"], numbers["label"], strict=True
        )
    ]


def same_values(
    found: Results, method: str, run: Results, metrics: Sequence[str] = METRICS
) -> None:
    for metric in metrics:
        np.testing.assert_array_equal(found.values(metric, method), run.values(metric, "attcat"))
        assert np.isfinite(run.values(metric, "attcat")).all()


def test_the_same_numbers_get_the_same_values(
    classifier: Model, run: Results, numbers: dict[str, list[Any]]
) -> None:
    given = foreign(classifier, numbers)
    found = headlight.evaluate(classifier, DATA, ["attcat"], METRICS, threads=1, attributions=given)
    assert found.methods == ["attcat", "theirs"]
    same_values(found, "theirs", run)
    assert found.accuracy == run.accuracy
    assert found.compare("aopc", "attcat", "theirs").difference == 0


def test_every_reader_gets_the_same_values(
    classifier: Model, run: Results, numbers: dict[str, list[Any]], tmp_path: Path
) -> None:
    given: list[Attribution | Path] = []
    records = []
    for text, scores, tokens, label in zip(
        TEXTS, numbers["scores"], numbers["tokens"], numbers["label"], strict=True
    ):
        offsets = headlight.explain(classifier, text, "random").offsets or ()
        starts = [start for start, _ in offsets[1:-1]]
        ends = [*starts[1:], len(text)]
        pieces = ["", *(text[a:b] for a, b in zip(starts, ends, strict=True)), ""]
        shap = SimpleNamespace(
            data=np.array(pieces), values=np.array(scores), base_values=0.0, output_names=label
        )
        made = from_shap(classifier, shap)
        assert isinstance(made, Attribution)
        given.append(made)
        given.append(from_captum(classifier, text, np.array(scores)[None, :, None], target=label))
        records.append({"text": text, "tokens": tokens, "scores": scores, "target": label})
    path = tmp_path / "plain.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    found = headlight.evaluate(
        classifier, DATA, (), METRICS, threads=1, attributions=[*given, path]
    )
    assert sorted(found.methods) == ["captum", "plain", "shap"]
    for method in found.methods:
        same_values(found, method, run)


def test_without_data_the_texts_of_the_attributions_are_measured(
    classifier: Model, run: Results, numbers: dict[str, list[Any]]
) -> None:
    given = foreign(classifier, numbers)
    found = headlight.evaluate(
        classifier, methods=(), attributions=given, metrics=METRICS[:-1], threads=1
    )
    same_values(found, "theirs", run, METRICS[:-1])
    assert found.settings.data == "3 given texts"


def test_a_run_is_resumed_and_never_mixes_two_sets_of_scores(
    classifier: Model, run: Results, numbers: dict[str, list[Any]], tmp_path: Path
) -> None:
    given, usual = foreign(classifier, numbers), {"threads": 1, "out": tmp_path / "run"}
    headlight.evaluate(classifier, DATA, ["attcat"], ["aopc"], **usual)  # type: ignore[arg-type]
    headlight.evaluate(classifier, DATA, ["attcat"], ["aopc"], attributions=given, **usual)  # type: ignore[arg-type]
    again = headlight.evaluate(classifier, DATA, ["attcat"], METRICS, attributions=given, **usual)  # type: ignore[arg-type]
    same_values(again, "theirs", run)
    assert headlight.open_run(tmp_path / "run").methods == ["attcat", "theirs"]
    other = [replace(each, scores=-each.scores) for each in given]
    with pytest.raises(HeadlightError, match="holds other scores that were given as 'theirs'"):
        headlight.evaluate(classifier, DATA, ["attcat"], METRICS, attributions=other, **usual)  # type: ignore[arg-type]
    for part in (tmp_path / "run" / "parts").glob("explain-*"):
        part.unlink()
    with pytest.raises(HeadlightError, match="the scores of 'theirs' were given to the run in"):
        headlight.evaluate(classifier, DATA, ["attcat"], METRICS, **usual)  # type: ignore[arg-type]


def test_another_target_is_a_failure_that_is_told(
    classifier: Model, numbers: dict[str, list[Any]]
) -> None:
    others = [
        Attribution.from_scores(
            classifier,
            text,
            scores,
            target=next(name for name in classifier.labels.values() if name != label),
            method="theirs",
        )
        for text, scores, label in zip(TEXTS, numbers["scores"], numbers["label"], strict=True)
    ]
    found = headlight.evaluate(
        classifier,
        DATA,
        (),
        ["aopc"],
        threads=1,
        attributions=[*foreign(classifier, numbers)[:2], others[2]],
    )
    assert list(found.failures) == [2]
    assert found.failures[2] == (
        f"theirs explains '{others[2].target.label}', and this run explains '{numbers['label'][2]}'."
    )
    both = [*foreign(classifier, numbers), *others]
    full = headlight.evaluate(classifier, DATA, (), ["aopc"], threads=1, attributions=both)
    assert full.failures == {}


def test_metrics_that_need_more_than_scores_leave_given_ones_out(
    classifier: Model, numbers: dict[str, list[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    given = foreign(classifier, numbers)
    found = headlight.evaluate(
        classifier,
        DATA,
        ["attcat"],
        ["aopc", "runtime", "kendall_confidence"],
        threads=1,
        attributions=given,
    )
    timed = next(name for name in found.metrics if name.startswith("runtime"))
    assert len(found.values(timed, "theirs")) == 0
    assert len(found.values(timed, "attcat")) == 3
    assert any("'theirs' cannot be measured by runtime" in each for each in caplog.messages)
    with pytest.raises(HeadlightError, match="scores are not enough for runtime"):
        headlight.evaluate(classifier, DATA, (), ["runtime"], attributions=given)


def test_a_dry_run_counts_what_is_given(classifier: Model, numbers: dict[str, list[Any]]) -> None:
    given = foreign(classifier, numbers)
    jobs, cost, _ = preview(Request(classifier, DATA, (), ["aopc"], attributions=given, threads=1))
    assert [job.kind for job in jobs] == ["explain", "measure"]
    assert cost.attributions == 3
    assert cost.probes > 0


def test_unsigned_scores_are_passed_over_where_signs_matter(
    classifier: Model, numbers: dict[str, list[Any]]
) -> None:
    given = [replace(each, signed=False) for each in foreign(classifier, numbers)]
    found = headlight.evaluate(
        classifier, DATA, (), ["completeness"], threads=1, attributions=given
    )
    assert np.isnan(found.values("completeness", "theirs")).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "AttCAT"}, "the given attributions are called 'AttCAT', as a method of headlight is."),
        ({"model": "other"}, "explains the model 'other', and this run is about 'tiny classifier'."),
        ({"unit": "word"}, "an attribution by 'theirs' is of words, and tokens of a text are measured."),
        ({"texts": ()}, "an attribution by 'theirs' is of token ids without a text"),
        ({"texts": (TEXTS[0],)}, "two attributions by 'theirs' explain"),
        ({"texts": ("another",)}, "no attribution by 'theirs' explains 'a dull plot , not good'; 1 of 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(
    classifier: Model, numbers: dict[str, list[Any]], change: dict[str, Any], sentence: str
) -> None:
    first, second, third = foreign(classifier, numbers)
    second = replace(second, target=first.target, **change)
    with pytest.raises(HeadlightError) as raised:
        headlight.evaluate(classifier, DATA, (), ["aopc"], attributions=[first, second, third])
    assert sentence in str(raised.value)


def test_nothing_to_measure_is_refused(classifier: Model) -> None:
    with pytest.raises(HeadlightError, match="there is no data to evaluate on"):
        headlight.evaluate(classifier)
    with pytest.raises(HeadlightError, match="there is nothing to evaluate"):
        headlight.evaluate(classifier, DATA, ())


def test_sources_are_refused(writer: Model) -> None:
    given = Attribution.from_scores(
        writer, "who", np.ones(len(headlight.explain(writer, "who", "random"))), method="x"
    )
    asked = [Example("who", answers=("he",), sources=("he wrote it",))]
    with pytest.raises(HeadlightError, match="cannot be measured on questions with sources"):
        headlight.evaluate(writer, asked, (), ["aopc"], attributions=[given])


def test_a_hash_knows_scores_texts_and_signs(
    classifier: Model, numbers: dict[str, list[Any]]
) -> None:
    given = foreign(classifier, numbers)
    usual = digests(given_of(classifier, given))
    assert usual == digests(given_of(classifier, given[::-1]))
    changed = [replace(given[0], signed=False), *given[1:]]
    assert usual != digests(given_of(classifier, changed))
    assert usual != digests(given_of(classifier, given[1:]))


def test_other_tokens_are_no_match(classifier: Model, numbers: dict[str, list[Any]]) -> None:
    found = foreign(classifier, numbers)[0]
    resolved = SimpleNamespace(label=found.target.label, positions=found.target.positions)
    each: Any = SimpleNamespace(
        resolved=resolved, row=encode(["film"], known(classifier.tokenizer))[0].take([0, 2])
    )
    assert matching(each, [found]) == (
        f"theirs explains {len(found)} tokens, and the model reads 2 others."
    )
