"""How much relevance is left at every block boundary."""

import pytest

import headlight
from headlight import InvalidInput, Model, Target, UnknownName
from headlight.batch import encode
from headlight.explaining.conservation import conservation, relevance_sums

TEXT = "a charming film"


def test_chefer_keeps_all_of_it_and_attn_lrp_does_not(classifier: Model) -> None:
    kept = conservation(classifier, TEXT)
    assert kept == pytest.approx([1.0] * 4, rel=1e-3)
    lost = conservation(classifier, TEXT, preset="attn_lrp")
    assert len(lost) == 4
    assert abs(lost[-1] - 1) > 0.01


def test_a_contrast_starts_with_two_logits_that_cancel(classifier: Model) -> None:
    assert conservation(classifier, TEXT, ("positive", "negative")) == pytest.approx(
        [0.0] * 4, abs=1e-3
    )


def test_rows_of_a_batch_are_measured_as_alone(classifier: Model) -> None:
    texts = [TEXT, "dull"]
    rows = encode(texts, classifier.tokenizer)  # type: ignore[arg-type]
    together = relevance_sums(classifier, rows, [Target(label=0)] * 2, "attn_lrp")
    for text, own in zip(texts, together, strict=True):
        assert own == pytest.approx(conservation(classifier, text, 0, preset="attn_lrp"), rel=1e-6)


def test_several_texts_are_refused(classifier: Model) -> None:
    with pytest.raises(InvalidInput, match="measured for one text"):
        headlight.conservation(classifier, [TEXT, TEXT])


def test_a_balanced_gradient_without_biases_keeps_all_of_it(writer: Model) -> None:
    assert conservation(writer, TEXT, preset="libragrad")[0] == pytest.approx(1, rel=1e-4)
    with pytest.raises(UnknownName, match="libragrat"):
        conservation(writer, TEXT, preset="libragrat")
