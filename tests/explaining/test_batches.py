"""Rows share passes, and no score depends on which."""

import sys

import numpy as np
import pytest
import torch

import headlight
from headlight import (
    Batch,
    Model,
)
from headlight.models.model import Task
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
    from headlight.explaining import batches, plan

    sizes: list[int] = []
    plain = batches.run_pass
    monkeypatch.setattr(plan, "ATTENTION_VALUES", 3 * 4 * 8 * 8 * 2)
    monkeypatch.setattr(
        batches,
        "run_pass",
        lambda m, r, t, p: sizes.append(len(r)) or plain(m, r, t, p),  # type: ignore[func-returns-value]
    )
    headlight.explain(classifier, [TEXT] * 5, "rollout")
    assert sizes == [2, 2, 1]
    monkeypatch.setattr(plan, "RELEVANCE_VALUES", 3 * 4 * 8 * 8)
    sizes.clear()
    headlight.explain(classifier, [TEXT] * 2, ["rollout", "lrp"])
    assert sizes == [2, 1, 1]


def test_a_pass_that_does_not_fit_is_halved(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headlight.explaining import batches

    plain = batches.run_pass

    def small(m: Model, r: list[object], t: list[object], p: object) -> object:
        if len(r) > 2:
            raise torch.OutOfMemoryError
        return plain(m, r, t, p)  # type: ignore[arg-type]

    expected = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    monkeypatch.setattr(batches, "run_pass", small)
    found = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_decoder_classifiers_without_a_pad_token_run_row_by_row(family: str) -> None:
    wrapped = headlight.wrap(network(family, Task.SEQUENCE, pad_token_id=None))
    found = headlight.explain(wrapped, Batch.from_ids(rows()), ["rollout", "attcat"])
    for number, row in enumerate(rows()):
        alone = headlight.explain(wrapped, Batch.from_ids(row), ["rollout", "attcat"])
        for name in found:
            np.testing.assert_array_equal(found[name][number].scores, alone[name].scores)
            assert found[name][number].target.position == len(row) - 1
