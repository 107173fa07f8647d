"""The numbers that are explained: logits, probabilities, and where relevance starts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import (
    PreTrainedTokenizerFast,
)

import headlight
from headlight import (
    Batch,
    InvalidOption,
    Model,
    Target,
)
from headlight.batch import collate
from headlight.models.model import Task
from headlight.target import TargetLike
from headlight.trace.goal import Goal, check_target, reading_weights
from headlight.trace.resolve import ResolvedTarget
from tests.networks import model, network, rows

TEXT = "a charming and often affecting journey"


def test_probability_gradient_is_the_logit_gradient_by_the_chain_rule(classifier: Model) -> None:
    logits = [headlight.explain(classifier, TEXT, "input_x_gradient", k) for k in range(3)]
    chances = [a.target.probability for a in logits]
    assert sum(chances) == pytest.approx(1, rel=1e-5)  # type: ignore[arg-type]
    found = headlight.explain(
        classifier, TEXT, "input_x_gradient", Target(label=0, output="probability")
    )
    mean = sum(p * a.scores for p, a in zip(chances, logits, strict=True))  # type: ignore[misc, operator]
    expected = chances[0] * (logits[0].scores - mean)  # type: ignore[operator]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-3, atol=1e-6)


def test_regression_explains_its_value() -> None:
    answer = headlight.explain(model("bert", Task.REGRESSION), Batch.from_ids(rows()[0]), "simple")
    assert answer.target.probability is None
    with pytest.raises(InvalidOption, match="no probability"):
        headlight.explain(
            model("bert", Task.REGRESSION),
            Batch.from_ids(rows()[0]),
            target=Target(output="probability"),
        )


def test_multi_label_probabilities_are_independent(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE, problem_type="multi_label_classification")
    answer = headlight.explain(headlight.wrap(net, tokenizer), TEXT, target=1)
    expected = torch.sigmoid(torch.tensor(answer.target.logit))
    assert answer.target.probability == pytest.approx(float(expected))


# ------------------------------------------------------------------------- numbers by hand

PRESENT = torch.tensor([[True, True, True], [True, True, False]])


def goal(kind: str, outputs: tuple[str, ...] = ("logit", "logit")) -> Goal:
    """Two terms for the first row, 2 at 0 and minus 0 at 2; one for the second, 1 at 1."""
    return Goal(
        resolved=(),
        positions=torch.tensor([[0, 2], [1, 0]]),
        columns=torch.tensor([[0, 2], [1, 0]]),
        classes=torch.tensor([[2, 0], [1, 0]]),
        signs=torch.tensor([[1.0, -1.0], [1.0, 0.0]]).double(),
        weights=torch.ones(2, 3).double(),
        kind=kind,  # type: ignore[arg-type]
        outputs=outputs,
    )


LOGITS = torch.arange(18).reshape(2, 3, 3).double().sin()


def test_the_explained_number_is_the_signed_sum_of_its_logits() -> None:
    expected = [LOGITS[0, 0, 2] - LOGITS[0, 2, 0], LOGITS[1, 1, 1]]
    torch.testing.assert_close(goal("class").value(LOGITS, PRESENT), torch.stack(expected))


def test_probabilities_are_over_classes_over_positions_or_each_its_own() -> None:
    logs = goal("class").term_log_probabilities(LOGITS, PRESENT)
    torch.testing.assert_close(logs[0, 0], LOGITS[0, 0].log_softmax(-1)[2])
    logs = goal("span").term_log_probabilities(LOGITS, PRESENT)
    torch.testing.assert_close(logs[1, 0], LOGITS[1, :2, 1].log_softmax(-1)[1])
    logs = goal("sigmoid").term_log_probabilities(LOGITS, PRESENT)
    torch.testing.assert_close(logs[0, 1].exp(), torch.sigmoid(LOGITS[0, 2, 0]))


def test_every_row_has_its_own_output_and_a_span_is_a_product() -> None:
    own = goal("class", ("probability", "log_probability")).value(LOGITS, PRESENT)
    chances = [LOGITS[0, 0].softmax(-1)[2], LOGITS[0, 2].softmax(-1)[0]]
    torch.testing.assert_close(own[0], chances[0] - chances[1])
    torch.testing.assert_close(own[1], LOGITS[1, 1].log_softmax(-1)[1])
    span = goal("span").value(LOGITS, PRESENT, "probability")
    ends = LOGITS[0, :, 2].softmax(0)[0] / LOGITS[0, :, 0].softmax(0)[2]
    torch.testing.assert_close(span[0], ends)
    regression = goal("value")
    torch.testing.assert_close(
        regression.value(LOGITS, PRESENT, "probability"), regression.value(LOGITS, PRESENT)
    )
    assert not regression.has_probability


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_relevance_starts_at_the_terms_of_a_sign(sign: float) -> None:
    found = goal("class").seed(LOGITS, sign)
    places = {1.0: [(0, 0, 2), (1, 1, 1)], -1.0: [(0, 2, 0)]}[sign]
    expected = torch.zeros_like(LOGITS)
    for place in places:
        expected[place] = 1.0
    torch.testing.assert_close(found, expected)


def test_one_term_alone_is_read_where_it_stands() -> None:
    second = goal("span").alone(1)
    assert (second.positions.tolist(), second.classes.tolist()) == ([[2], [0]], [[0], [0]])
    assert second.signs.tolist() == [[1.0], [1.0]]
    assert second.weights is not None
    assert second.weights.tolist() == [[0, 0, 1], [1, 0, 0]]
    pooled = goal("class").alone(0)
    assert pooled.weights is not None
    assert torch.equal(pooled.weights, torch.ones(2, 3).double())


def test_a_goal_is_repeated_batch_after_batch() -> None:
    found = goal("class").repeated(3)
    assert found.positions.tolist() == [[0, 2], [1, 0]] * 3
    assert found.outputs == ("logit",) * 6
    torch.testing.assert_close(
        found.value(LOGITS.repeat(3, 1, 1), PRESENT.repeat(3, 1)),
        goal("class").value(LOGITS, PRESENT).repeat(3),
    )


@pytest.mark.parametrize(
    ("target", "task", "name"),
    [
        (Target(position=1), Task.SEQUENCE, "position"),
        (Target(contrast=1), Task.REGRESSION, "contrast"),
        (Target(span=(1, 2)), Task.MASKED, "span"),
        (Target(span=(1, 2), weights=(1.0, 2.0)), Task.SEQUENCE, "span"),
        (Target(part="start"), Task.TOKEN, "part"),
        (Target(word=1), Task.QUESTION, "word"),
    ],
)
def test_fields_that_mean_nothing_for_a_task_are_refused(
    target: Target, task: Task, name: str
) -> None:
    with pytest.raises(
        InvalidOption, match=rf"Target\({name}=.*means nothing for {task}\. It takes"
    ):
        check_target(target, task)


def test_weights_are_none_where_a_place_is_not_known() -> None:
    inputs = collate(Batch.from_ids([[5, 6, 7], [8, 9]]).rows, 0)
    known = ResolvedTarget((), ((0, 0.5), (2, 0.25), (2, 0.25)), "a", "a")
    unknown = replace(known, read_at=None)
    found = reading_weights([known, known], inputs, torch.float64)
    assert found is not None
    assert found[0].tolist() == [0.5, 0, 0.5]
    assert reading_weights([known, unknown], inputs, torch.float64) is None


@pytest.mark.parametrize(
    ("other", "name"),
    [({"label": 3}, "label"), ({"contrast": 3}, "contrast"), ({"position": 1}, "position")],
)
def test_a_span_of_a_text_says_itself_what_is_explained(other: dict[str, int], name: str) -> None:
    target = Target(span=(1, 2), **other)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=rf"a span says itself .* Leave out span or {name}"):
        check_target(target, Task.CAUSAL)


def test_spans_and_contrasts_share_a_batch() -> None:
    """A span has the product of the probabilities of its tokens, a contrast their difference."""
    writer = model("llama", Task.CAUSAL, torch.float64)
    ids = headlight.Batch.from_ids([[5, 6, 7, 8], [9, 10, 11, 12]])
    targets: list[TargetLike] = [Target(span=(2, 3)), Target(label=5, contrast=6)]
    span, contrast = headlight.explain(writer, ids, "input_x_gradient", targets)
    with torch.no_grad():
        chances = writer.network(torch.tensor([[5, 6, 7, 8], [9, 10, 11, 12]])).logits.softmax(-1)
    product = float(chances[0, 1, 7] * chances[0, 2, 8])
    difference = float(chances[1, 3, 5] - chances[1, 3, 6])
    assert span.target.probability == pytest.approx(product)
    assert span.target.log_probability == pytest.approx(np.log(product))
    assert contrast.target.probability == pytest.approx(difference)
    assert contrast.target.log_probability is None
