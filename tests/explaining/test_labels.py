"""Every label from one pass."""

import numpy as np
import pytest

import headlight
from headlight import Batch, InvalidOption, Model, Target
from headlight.explaining import batches
from headlight.models.model import Task
from headlight.trace.trace import traces
from tests.networks import model, rows

TEXT = "a charming film"


def test_every_label_is_explained_as_on_its_own(classifier: Model) -> None:
    found = headlight.explain_labels(classifier, TEXT, "input_x_gradient")
    assert list(found) == list(classifier.labels.values())
    for label, each in found.items():
        alone = headlight.explain(classifier, TEXT, "input_x_gradient", label)
        np.testing.assert_allclose(each.scores, alone.scores, rtol=1e-4, atol=1e-6)
        assert each.target.label == label


def test_labels_share_a_pass(classifier: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    monkeypatch.setattr(
        batches,
        "traces",
        lambda *a, **k: passes.append(1) or traces(*a, **k),  # type: ignore[func-returns-value]
    )
    several = headlight.explain_labels(classifier, [TEXT, "dull"], "rollout")
    assert [len(each) for each in several] == [len(classifier.labels)] * 2
    assert len(passes) == 1


def test_tokens_of_a_language_model_are_named() -> None:
    llama = model("llama", Task.CAUSAL)
    ids = Batch.from_ids(rows(1))
    found = headlight.explain_labels(llama, ids, "input_x_gradient", labels=[7, 9])
    assert list(found) == ["7", "9"]
    with pytest.raises(InvalidOption, match="Give labels= the tokens of a language model"):
        headlight.explain_labels(llama, ids)


def test_a_token_classifier_is_told_where() -> None:
    tagger = model("bert", Task.TOKEN)
    found = headlight.explain_labels(
        tagger, Batch.from_ids(rows(1)), "input_x_gradient", target=Target(position=2)
    )
    assert [each.target.positions for each in found.values()] == [(2,)] * 3


def test_answers_have_no_labels() -> None:
    with pytest.raises(InvalidOption, match="explains every label of a classifier"):
        headlight.explain_labels(model("bert", Task.QUESTION), Batch.from_ids(rows(1)))
