"""One answer rather than another in `evaluate`: explained where they part, measured by what decides."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Example, InvalidInput, InvalidOption, Model
from headlight.evaluation.contrasted import (
    contrasted_from,
    deciding_word,
    parting,
    word_numbers,
)
from headlight.models.model import Task
from tests.networks import network

EXAMPLES = [
    Example("the keys, of mary", answers=("are",), marks=((0, 4, 8),), rather_than="is"),
    Example("the film", answers=("is good",), marks=((0, 4, 8),), rather_than="is dull"),
]


@pytest.fixture(scope="module")
def exact(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A language model in 64 bits."""
    net = network("llama", Task.CAUSAL, vocab_size=360)
    return headlight.wrap(net.double(), byte_tokenizer, name="tiny")


def test_scores_are_those_of_a_contrast_and_the_word_that_decides_is_counted(
    exact: Model, tmp_path: Path
) -> None:
    methods = ["input_x_gradient", "attn_lrp", "random"]
    metrics = ["source_recall", "answer_completeness", "rationale"]
    found = headlight.evaluate(
        exact, EXAMPLES, methods, metrics, explain="gold", threads=1, out=tmp_path / "run"
    )
    assert found.failures == {}
    records = {(r["example"], r["method"]): r for r in found.attributions.to_pylist()}
    for method in methods:
        record = records[0, method]
        known = headlight.explain(exact, str(EXAMPLES[0].text), method, (" are", " is"))
        np.testing.assert_allclose(record["scores"], known.scores, atol=1e-5)
        assert record["logit"] == pytest.approx(known.target.logit, abs=1e-5)
        words = known.words()
        assert words.tokens[1] == "keys"
        best = int(np.argmax(words.scores))
        assert found.values("source_recall", method)[0] == (best == 1)
    error = abs(sum(records[0, "attn_lrp"]["scores"]) / records[0, "attn_lrp"]["logit"] - 1)
    assert found.values("answer_completeness", "attn_lrp")[0] == pytest.approx(error, abs=1e-5)
    again = headlight.open_run(tmp_path / "run")
    assert again.summary("source_recall", "attn_lrp").count == 2


def test_answers_that_begin_alike_are_explained_where_they_part(exact: Model) -> None:
    assert exact.tokenizer is not None
    made = contrasted_from(exact, EXAMPLES[1])
    ids = [exact.tokenizer(f" is {word}")["input_ids"] for word in ("good", "dull")]
    place = parting(*ids)
    assert place
    assert list(made.row.ids) == exact.tokenizer("the film")["input_ids"] + ids[0][:place]
    assert (made.target.label, made.target.contrast) == (ids[0][place], ids[1][place])
    numbers = word_numbers(made.row, "the film")
    assert {number for number in numbers if number is not None} == {0, 1}
    assert numbers[-1] is None


def test_the_word_that_decides_is_the_marked_one() -> None:
    assert deciding_word(EXAMPLES[0]) == 1
    base: dict[str, Any] = {"text": "a b", "answers": ("c",), "rather_than": "d"}
    assert deciding_word(Example(**base)) is None
    assert deciding_word(Example(**base, marks=((0, 0, 1), (0, 2, 3)))) is None


def test_what_is_no_choice_is_refused(exact: Model, classifier: Model) -> None:
    with pytest.raises(InvalidOption, match="which answer rather than which is explained"):
        headlight.evaluate(exact, EXAMPLES, ["random"], ["source_recall"])
    with pytest.raises(
        InvalidOption, match="'top_drop' needs examples from which something can be removed"
    ):
        headlight.evaluate(exact, EXAMPLES, ["random"], ["top_drop"], explain="gold")
    with pytest.raises(InvalidOption, match="'leave_one_out' removes sources, and not all"):
        headlight.evaluate(exact, EXAMPLES, ["leave_one_out"], ["source_recall"], explain="gold")
    with pytest.raises(InvalidInput, match="only a causal language model"):
        headlight.evaluate(classifier, EXAMPLES, ["random"], ["source_recall"], explain="gold")
    same = Example("the", answers=("is",), rather_than="is")
    with pytest.raises(InvalidInput, match="no token at which the model chooses"):
        contrasted_from(exact, same)
    with pytest.raises(InvalidInput, match="needs an answer and has no sources"):
        Example("the", rather_than="is")
