"""Questions with sources in `evaluate`: explained by their answers, measured by removing sources."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Example, InvalidInput, InvalidOption, Model, open_run
from headlight.evaluation.sourced import source_numbers, written_again, written_from
from headlight.explaining.ablated import ablatable
from headlight.explaining.removal import Removal
from headlight.models.model import Task
from tests.known import known
from tests.networks import network

SOURCES = ("the film is good", "the keys are bad", "a film")
EXAMPLES = [
    Example("are the keys bad", answers=("the keys",), sources=SOURCES),
    Example("is it good", answers=("is good",), sources=SOURCES[::-1]),
]
METHODS = [
    "input_x_gradient",
    "random",
    "leave_one_out",
    "context_cite:samples=6",
    "source_shapley",
]
METRICS = ["top_drop", "lds", "source_recall", "answer_completeness"]


@pytest.fixture(scope="module")
def long_writer(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A language model that reads more tokens than the other tiny ones."""
    net = network("llama", Task.CAUSAL, vocab_size=360, max_position_embeddings=512)
    return headlight.wrap(net, byte_tokenizer, name="long writer")


def test_sources_are_peeled_whole(long_writer: Model) -> None:
    found = headlight.evaluate(
        long_writer, EXAMPLES[:1], ["peel"], ["top_drop", "answer_completeness"], explain="gold",
        threads=1,
    )  # fmt: skip
    (record,) = found.attributions.to_pylist()
    numbers = source_numbers(written_again(long_writer, EXAMPLES[0], record["ids"]))
    for source in range(len(SOURCES)):
        own = [s for s, n in zip(record["scores"], numbers, strict=True) if n == source]
        np.testing.assert_allclose(own, own[0])
    assert np.isnan(found.summary("answer_completeness", "peel").mean)


def test_measures_are_those_of_plain_removals(long_writer: Model, tmp_path: Path) -> None:
    found = headlight.evaluate(
        long_writer, EXAMPLES, METHODS, METRICS, explain="gold", threads=1, out=tmp_path / "run"
    )
    assert found.failures == {}
    assert found.methods == METHODS
    records = {(r["example"], r["method"]): r for r in found.attributions.to_pylist()}
    for number, example in enumerate(EXAMPLES):
        written = written_from(long_writer, example, is_gold=True)
        text = ablatable(written, [written.whole], None)
        removal = Removal(long_writer, text.divided)
        for method in METHODS:
            scores = np.zeros(3)
            for score, own in zip(
                records[number, method]["scores"], source_numbers(written), strict=True
            ):
                scores += score * (np.arange(3) == own)
            best = int(scores.argmax())
            logs = removal.log_probabilities([removal.whole, tuple(n != best for n in range(3))])[
                :, 0
            ]
            drop = found.values("top_drop.1", method)[number]
            assert drop == pytest.approx(logs[0] - logs[1], abs=1e-4)
            recall = found.values("source_recall", method)[number]
            assert recall == (best == example.right_source)
    assert np.allclose(found.values("answer_completeness", "source_shapley"), 0, atol=1e-5)
    assert found.compare("lds", "source_shapley", "random").count == 2


def test_a_run_is_resumed_with_its_sources(long_writer: Model, tmp_path: Path) -> None:
    given: dict[str, Any] = {"out": tmp_path / "run", "threads": 1, "explain": "gold"}
    headlight.evaluate(long_writer, EXAMPLES, ["random"], ["lds"], **given)
    headlight.evaluate(long_writer, EXAMPLES, ["random", "leave_one_out"], ["lds"], **given)
    found = open_run(tmp_path / "run")
    assert found.methods == ["random", "leave_one_out"]
    assert found.summary("lds", "leave_one_out").count == 2


def test_by_default_the_model_writes_the_answer_itself(long_writer: Model) -> None:
    own = written_from(long_writer, EXAMPLES[0], is_gold=False)
    again = written_again(long_writer, EXAMPLES[0], own.row.ids)
    assert again == own
    assert len(own.row) <= own.first + 32
    found = headlight.evaluate(long_writer, EXAMPLES[:1], ["random"], ["top_drop", "runtime"])
    assert found.summary("top_drop.1", "random").count == 1


def test_sources_are_for_models_that_write(classifier: Model) -> None:
    with pytest.raises(InvalidInput, match="only a causal language model"):
        headlight.evaluate(classifier, EXAMPLES, ["random"], ["lds"])


def test_methods_and_metrics_of_sources_need_them(long_writer: Model) -> None:
    plain = [Example("the film is good")]
    with pytest.raises(InvalidOption, match="metric 'top_drop' needs questions with sources"):
        headlight.evaluate(long_writer, plain, ["random"], ["top_drop"])
    with pytest.raises(InvalidOption, match="'leave_one_out' removes sources, and not all"):
        headlight.evaluate(long_writer, plain, ["leave_one_out"], ["aopc"])
    with pytest.raises(InvalidOption, match="needs scores that 'leave_one_out' does not have"):
        headlight.evaluate(long_writer, EXAMPLES, ["leave_one_out"], ["kendall_confidence"])
    with pytest.raises(InvalidOption, match="the question has no answer"):
        written_from(long_writer, Example("who", sources=SOURCES), is_gold=True)


def test_time_is_measured_of_ablations_too(long_writer: Model) -> None:
    found = headlight.evaluate(
        long_writer, EXAMPLES, ["random", "leave_one_out"], ["runtime"], explain="gold"
    )
    assert found.summary("runtime.passes", "leave_one_out").count == 2


@pytest.mark.slow
def test_a_cluster_ends_with_the_bytes_of_one_process(long_writer: Model, tmp_path: Path) -> None:
    place = tmp_path / "model"
    long_writer.network.save_pretrained(place)
    known(long_writer.tokenizer).save_pretrained(place)
    runs = {}
    for engine in ("local", "ray"):
        runs[engine] = headlight.evaluate(
            str(place), EXAMPLES * 3, METHODS, METRICS, explain="gold", threads=1, shard=2,
            engine=engine, out=tmp_path / engine,
        )  # fmt: skip
    assert runs["ray"].failures == {}
    parts = [
        {path.relative_to(tmp_path / engine): path.read_bytes() for path in found}
        for engine in runs
        if (found := sorted((tmp_path / engine).rglob("*.parquet")))
    ]
    assert len(parts[0]) > len(EXAMPLES)
    assert parts[0] == parts[1]
    assert runs["local"].compare("lds", "source_shapley", "random").count == 6
