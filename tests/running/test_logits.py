"""Running a network, and what is refused before and after."""

import pytest
import torch
from transformers import (
    PreTrainedTokenizerFast,
)

import headlight
from headlight import (
    Batch,
    InvalidInput,
    Model,
    UnstableModel,
    UnsupportedModel,
)
from headlight.batch import collate
from headlight.models.model import Task
from headlight.running.logits import check_finite, check_ids, foreign_code, logits_of
from tests.networks import model, network

TEXT = "a charming and often affecting journey"


def test_nan_weights_are_named(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net, tokenizer)
    with torch.no_grad():
        net.classifier.weight[0, 0] = torch.nan  # type: ignore[operator, union-attr]
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.explain(wrapped, TEXT)
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.wrap(net, tokenizer)


def test_what_a_network_raises_becomes_a_sentence_with_its_reason(classifier: Model) -> None:
    def run(error: BaseException) -> None:
        with foreign_code(classifier):
            raise error

    with pytest.raises(UnsupportedModel, match="It raises IndexError: a b"):
        run(IndexError("a\n  b"))
    with pytest.raises(UnsupportedModel, match="It raises ValueError: no reason"):
        run(ValueError())
    for kept in (
        InvalidInput("ours"),
        MemoryError(),
        torch.OutOfMemoryError(),
        KeyboardInterrupt(),
    ):
        with pytest.raises(type(kept)):
            run(kept)
    with pytest.raises(RuntimeError, match="not enough memory"):
        run(RuntimeError("not enough memory"))


def test_ids_beyond_the_vocabulary_are_refused_by_row(classifier: Model) -> None:
    size = classifier.vocabulary_size
    check_ids(classifier, Batch.from_ids([[size - 1]]).rows)
    with pytest.raises(InvalidInput, match=rf"row 1 has the token id {size}.* ends at {size - 1}"):
        check_ids(classifier, Batch.from_ids([[5], [size]]).rows)


def test_infinite_logits_of_finite_weights_are_an_overflow(classifier: Model) -> None:
    check_finite(torch.zeros(1, 1, 3), classifier)
    with pytest.raises(
        UnstableModel, match=r"computation overflows\. Load it with dtype=torch\.float32"
    ):
        check_finite(torch.tensor([torch.inf]), classifier)


@pytest.mark.parametrize("task", [Task.SEQUENCE, Task.TOKEN, Task.QUESTION])
def test_logits_have_positions_and_classes_for_every_task(task: Task) -> None:
    own = model("bert", task)
    inputs = collate(Batch.from_ids([[5, 6, 7], [8, 9]]).rows, 0)
    with torch.no_grad():
        found = logits_of(own, inputs)
        words = own.network.get_input_embeddings()(inputs.ids)
        torch.testing.assert_close(logits_of(own, inputs, words), found)
    classes = 2 if task is Task.QUESTION else 3
    assert found.shape == (2, 1 if task is Task.SEQUENCE else 3, classes)
