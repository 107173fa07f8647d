"""What a model decides on rows, with the probabilities of its choices."""

from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Batch, InvalidOption, Model, Target, UnstableModel
from headlight.batch import Row
from headlight.explaining.inputs import rows_of
from headlight.explaining.prediction import LIKELIEST, Prediction, predict
from headlight.models.model import Task
from tests.known import known
from tests.networks import TARGETS, in_pairs, model, network, rows


def given(count: int = 5) -> list[Row]:
    """Rows of different lengths."""
    return list(Batch.from_ids(rows(count)).rows)


def predicted(family: str, task: Task, batch_size: int = 32) -> list[Prediction]:
    """The predictions of a tiny network."""
    own = given()
    targets = [TARGETS.get(task, Target())] * len(own)
    return predict(model(family, task), own, targets, batch_size)


@in_pairs()
def test_rows_keep_their_order_and_their_neighbours_change_nothing(family: str, task: Task) -> None:
    target = TARGETS.get(task, Target())
    for row, found in zip(given(), predicted(family, task, batch_size=2), strict=True):
        assert found.row == row
        (alone,) = predict(model(family, task), [row], [target])
        assert found.resolved == alone.resolved
        assert found.target == alone.target
        assert [name for name, _ in found.choices] == [name for name, _ in alone.choices]
        shares = [share for _, share in alone.choices]
        assert [share for _, share in found.choices] == pytest.approx(shares, abs=1e-4)


@in_pairs()
def test_what_is_predicted_is_what_is_explained(family: str, task: Task) -> None:
    for row, found in zip(given(), predicted(family, task), strict=True):
        batch = Batch.from_ids([row.ids])
        explained = headlight.explain(model(family, task), batch, "random", TARGETS.get(task))
        assert found.resolved.label == explained.target.label
        assert found.resolved.predicted == explained.target.predicted
        again = headlight.explain(model(family, task), batch, "random", found.target)
        assert again.target.label == explained.target.label
        if task is Task.REGRESSION:
            continue
        named = dict(found.choices)[found.resolved.label]
        assert named == pytest.approx(explained.target.probability, abs=1e-4)


@pytest.mark.parametrize("task", [Task.SEQUENCE, Task.TOKEN])
def test_probabilities_of_classes_sum_to_one(task: Task) -> None:
    for found in predicted("bert", task):
        assert [name for name, _ in found.choices] == ["LABEL_0", "LABEL_1", "LABEL_2"]
        assert sum(share for _, share in found.choices) == pytest.approx(1)
        assert max(found.choices, key=lambda choice: choice[1])[0] == found.resolved.predicted


@pytest.mark.parametrize(("family", "task"), [("bert", Task.MASKED), ("llama", Task.CAUSAL)])
def test_the_likeliest_tokens_come_first(family: str, task: Task) -> None:
    for found in predicted(family, task):
        shares = [share for _, share in found.choices]
        assert len(shares) == LIKELIEST
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) < 1
        assert found.choices[0][0] == found.resolved.predicted


def test_a_span_has_the_probability_of_its_two_ends(reader: Model) -> None:
    (row,) = rows_of(reader, ("who wrote it", "it was written by mary shelley"))
    (found,) = predict(reader, [row], [Target()])
    ids, types = torch.tensor([row.ids]), torch.tensor([row.types])
    with torch.inference_mode():
        said = reader.network(input_ids=ids, token_type_ids=types)
    start, end = known(found.target.span)
    expected = said.start_logits[0].softmax(0)[start] * said.end_logits[0].softmax(0)[end]
    ((answer, share),) = found.choices
    assert answer == found.resolved.label
    assert answer in row.texts[1]
    assert share == pytest.approx(float(expected), rel=1e-4)


def test_a_regression_has_no_choices() -> None:
    for found in predicted("bert", Task.REGRESSION):
        assert found.choices == ()
        assert found.target == Target()


def test_labels_that_do_not_exclude_each_other_have_probabilities_of_their_own(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    net = network("bert", Task.SEQUENCE, problem_type="multi_label_classification")
    tags = headlight.wrap(net, tokenizer)
    (row,) = rows_of(tags, "a charming film")
    (found,) = predict(tags, [row], [Target()])
    with torch.inference_mode():
        logits = net(input_ids=torch.tensor([row.ids])).logits[0]
    assert [share for _, share in found.choices] == pytest.approx(logits.sigmoid().tolist())


def test_each_row_has_its_own_target(classifier: Model) -> None:
    own = rows_of(classifier, ["a charming film", "a dull film", "bad"])
    targets = [Target("negative"), Target(), Target("positive", contrast="neutral")]
    found = predict(classifier, own, targets)
    assert found[0].resolved.label == "negative"
    assert found[1].resolved.label == found[1].resolved.predicted
    assert found[2].resolved.label == "positive − neutral"


def test_no_rows_have_no_predictions(classifier: Model) -> None:
    assert predict(classifier, [], []) == []


def test_mistakes_are_those_of_explain() -> None:
    tiny = model("bert", Task.SEQUENCE)
    with pytest.raises(InvalidOption, match="label 7 does not exist"):
        predict(tiny, given(1), [Target(7)])
    broken: Any = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(broken)
    with torch.no_grad():
        broken.classifier.weight.fill_(torch.nan)
    with pytest.raises(UnstableModel, match="NaN or infinite logits"):
        predict(wrapped, given(1), [Target()])
