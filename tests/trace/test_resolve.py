"""What is explained where the target leaves it open, and that the answer says so."""

import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Batch, InvalidOption, Model, Target
from headlight.models.model import Task
from headlight.trace.resolve import read_positions
from tests.known import known
from tests.networks import network

TEXT = "mary wrote it in london"


def test_a_tagger_says_which_token_it_chose_and_why(tagger: Model) -> None:
    answer = headlight.explain(tagger, TEXT, "gradient_l2")
    (place,) = known(answer.target.positions)
    (note,) = answer.notes
    assert note.startswith(f"token {place}, '{answer.tokens[place]}', is explained (")
    assert note.endswith("; the target may name another")
    for target in (Target(position=place), Target(word=1)):
        assert headlight.explain(tagger, TEXT, "gradient_l2", target).notes == ()


def test_the_first_of_several_masks_is_said_to_be_explained(filler: Model, tagger: Model) -> None:
    for model in (filler, tagger):
        one = headlight.explain(model, "the [MASK] is good", "gradient_l2")
        assert (one.notes, one.target.positions) == ((), (2,))
        two = headlight.explain(model, "the [MASK] is [MASK]", "gradient_l2")
        assert two.target.positions == (2,)
        assert two.notes == (
            "the first of 2 masks is explained, token 2; the target may name another",
        )


def test_a_regression_explains_its_value(tokenizer: PreTrainedTokenizerFast) -> None:
    model = headlight.wrap(network("bert", Task.REGRESSION), tokenizer)
    answer = headlight.explain(model, TEXT, "gradient_l2")
    assert (answer.target.label, answer.target.predicted, answer.notes) == ("value", "value", ())
    named = network("bert", Task.REGRESSION, id2label={0: "stars"}, label2id={"stars": 0})
    named_model = headlight.wrap(named, tokenizer)
    assert headlight.explain(named_model, TEXT, "gradient_l2").target.label == "stars"


def test_the_first_of_several_values_is_said_to_be_explained(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    net = network("bert", Task.SEQUENCE, num_labels=3, problem_type="regression")
    model = headlight.wrap(net, tokenizer)
    answer = headlight.explain(model, TEXT, "gradient_l2")
    assert answer.target.label == "value 0"
    assert answer.notes == ("the first of 3 values is explained; the target may name another",)
    assert headlight.explain(model, TEXT, "gradient_l2", 2).target.label == "value 2"


def test_labels_that_differ_in_case_only_are_told_apart(tokenizer: PreTrainedTokenizerFast) -> None:
    labels = {0: "a", 1: "A", 2: "b"}
    net = network(
        "bert", Task.SEQUENCE, id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    model = headlight.wrap(net, tokenizer)
    logits = [headlight.explain(model, TEXT, "random", n).target.logit for n in (0, 1)]
    found = [headlight.explain(model, TEXT, "random", n).target.logit for n in ("a", "A")]
    assert found == logits
    assert logits[0] != logits[1]
    assert headlight.explain(model, TEXT, "random", "B").target.label == "b"


def test_labels_of_one_name_need_a_number(tokenizer: PreTrainedTokenizerFast) -> None:
    labels = {0: "Yes", 1: "yes", 2: "no"}
    net = network(
        "bert", Task.SEQUENCE, id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    with pytest.raises(
        InvalidOption, match=r"2 labels of .* are called 'YES': 0, 1. Give the number"
    ):
        headlight.explain(headlight.wrap(net, tokenizer), TEXT, "random", "YES")


def test_a_causal_model_is_read_before_each_token_of_a_span() -> None:
    (row,) = Batch.from_ids([[5, 6, 7, 8, 9]]).rows
    assert read_positions(Target(span=(2, 4)), row) == (1, 2, 3)
    assert read_positions(Target(span=(1, 1)), row) == (0,)
    assert read_positions(Target(), row) == (4,)
    assert read_positions(Target(position=-2), row) == (3,)


@pytest.mark.parametrize("span", [(0, 1), (3, 2), (2, 5), (-2, -1)])
def test_a_span_that_nothing_comes_before_is_refused(span: tuple[int, int]) -> None:
    (row,) = Batch.from_ids([[5, 6, 7, 8, 9]]).rows
    with pytest.raises(InvalidOption, match="does not exist: the input has 5 tokens, and nothing"):
        read_positions(Target(span=span), row)
