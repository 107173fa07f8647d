"""Rows share passes, and no score depends on which."""

import sys
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch, Model
from headlight.batch import Row
from headlight.models.model import Task
from headlight.running.footprint import footprint
from tests.networks import network, rows

TEXT = "a charming and often affecting journey"


def test_many_texts_come_back_in_order(classifier: Model) -> None:
    texts = [TEXT, "dull", "the film is not very good , but never boring", "a good story", "bad"]
    answers = headlight.explain(classifier, texts, batch_size=2)
    assert [a.texts[0] for a in answers] == texts
    for text, answer in zip(texts, answers, strict=True):
        alone = headlight.explain(classifier, text)
        np.testing.assert_allclose(answer.scores, alone.scores, rtol=1e-3, atol=1e-6)


def test_progress_goes_to_standard_error(
    classifier: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    headlight.explain(classifier, [TEXT] * 3, progress=True)
    written = capsys.readouterr()
    assert written.out == ""
    assert "3/3" in written.err


def test_long_rows_take_smaller_passes(classifier: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from headlight.explaining import batches

    sizes: list[int] = []
    plain = batches.run_pass

    def seen(model: Model, rows: list[Row], *given: Any, **named: Any) -> Any:
        sizes.append(len(rows))
        return plain(model, rows, *given, **named)

    monkeypatch.setattr(batches, "run_pass", seen)
    each = footprint(classifier, METHODS["rollout"].needs).of(8)
    headlight.explain(classifier, [TEXT] * 5, "rollout", memory=2 * each)
    assert sizes == [2, 2, 1]
    monkeypatch.setattr("headlight.running.buckets.BATCH_BYTES", each)
    sizes.clear()
    headlight.explain(classifier, [TEXT] * 2, "rollout")
    assert sizes == [1, 1]


def test_a_pass_that_does_not_fit_is_halved(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headlight.explaining import batches

    plain = batches.run_pass

    def small(m: Model, r: list[Row], *given: Any, **named: Any) -> Any:
        if len(r) > 2:
            raise torch.OutOfMemoryError
        return plain(m, r, *given, **named)

    expected = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    monkeypatch.setattr(batches, "run_pass", small)
    found = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-5)


def test_a_pass_of_long_rows_is_halved_too(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headlight.explaining import batches

    plain = batches.run_pass

    def small(m: Model, r: list[Row], *given: Any, **named: Any) -> Any:
        if len(r) > 1:
            raise torch.OutOfMemoryError
        return plain(m, r, *given, **named)

    monkeypatch.setattr(batches, "RETURNED_FROM", 1)
    monkeypatch.setattr(batches, "run_pass", small)
    assert len(headlight.explain(classifier, [TEXT, "dull", "good"], "rollout")) == 3


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_decoder_classifiers_without_a_pad_token_run_row_by_row(family: str) -> None:
    wrapped = headlight.wrap(network(family, Task.SEQUENCE, pad_token_id=None))
    found = headlight.explain(wrapped, Batch.from_ids(rows()), ["rollout", "attcat"])
    for number, row in enumerate(rows()):
        alone = headlight.explain(wrapped, Batch.from_ids(row), ["rollout", "attcat"])
        for name in found:
            np.testing.assert_array_equal(found[name][number].scores, alone[name].scores)
            assert found[name][number].target.position == len(row) - 1
