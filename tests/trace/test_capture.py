"""What is captured is what the network computes, and nothing stays behind."""

import threading
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
)

import headlight
from headlight import Batch, UnsupportedModel
from headlight.batch import collate
from headlight.models import architectures
from headlight.models.architectures import Architecture
from headlight.models.model import Task
from headlight.running.double import double
from headlight.target import Target
from headlight.trace.capture import watching
from headlight.trace.recorder import Recorder, Wants
from headlight.trace.trace import NEEDS, trace
from tests.networks import CONFIGS, TARGETS, in_pairs, model, network, rows


@in_pairs()
def test_logits_are_those_of_the_plain_network(family: str, task: Task) -> None:
    wrapped = model(family, task)
    inputs = collate(Batch.from_ids(rows()).rows, wrapped.pad_id or 0)
    with torch.no_grad():
        plain = wrapped.network(inputs.ids, attention_mask=inputs.attended.long())
    targets = [TARGETS.get(task, Target())] * len(rows())
    whole = replace(wrapped, gives_few_logits=False)
    seen = trace(whole, Batch.from_ids(rows()).rows, targets, NEEDS).logits
    expected = plain.start_logits if task is Task.QUESTION else plain.logits
    found = seen[..., 0] if task is Task.QUESTION else seen
    found = found[:, 0] if task in (Task.SEQUENCE, Task.REGRESSION) else found
    real = inputs.present if found.dim() == inputs.ids.dim() + (task is not Task.QUESTION) else None
    difference = (found - expected).abs()
    worst = difference[inputs.present] if real is not None else difference
    assert float(worst.max()) <= 2e-5 * float(expected.abs().max())


def test_a_causal_network_gives_only_the_logits_that_are_read() -> None:
    wrapped, targets = model("llama", Task.CAUSAL), [Target(), Target(position=2), Target()]
    read = trace(wrapped, Batch.from_ids(rows()).rows, targets, {"embedding_gradient"})
    whole = trace(
        replace(wrapped, gives_few_logits=False),
        Batch.from_ids(rows()).rows, targets, {"embedding_gradient"},
    )  # fmt: skip
    assert read.inputs.read == tuple(sorted({len(rows()[0]) - 1, 2, len(rows()[2]) - 1}))
    assert read.logits.shape[1] == len(read.inputs.read)
    assert read.goal.positions.tolist() == whole.goal.positions.tolist()
    torch.testing.assert_close(
        read.goal.term_logits(read.logits), whole.goal.term_logits(whole.logits)
    )
    torch.testing.assert_close(
        read.gradients("probability").embeddings, whole.gradients("probability").embeddings
    )


@pytest.mark.parametrize("family", CONFIGS)
def test_attention_and_hidden_states_are_those_of_transformers(family: str) -> None:
    net = network(family, Task.SEQUENCE)
    wrapped = headlight.wrap(net)
    seen = trace(wrapped, Batch.from_ids(rows()[1]).rows, [Target()], NEEDS)
    if net._can_set_attn_implementation():
        net.set_attn_implementation("eager")
    with torch.no_grad():
        own = net(torch.tensor([rows()[1]]), output_attentions=True, output_hidden_states=True)
    assert len(seen.attention) == len(own.attentions) == 3
    for a, b in zip(seen.attention, own.attentions, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    for a, b in zip(seen.hidden[:-1], own.hidden_states[:-1], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(seen.embeddings, own.hidden_states[0], rtol=1e-4, atol=1e-5)


def test_all_gradients_come_from_one_sweep() -> None:
    seen = trace(model("bert", Task.SEQUENCE), Batch.from_ids(rows()).rows, [Target()] * 3, NEEDS)
    assert seen.gradients() is seen.gradients()
    assert seen.gradients("log_probability") is not seen.gradients()


def test_another_thread_s_pass_is_not_recorded() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    recorder = Recorder(Wants(attention=True, blocks=True))
    plain = torch.tensor([rows()[0]])
    own = double(wrapped)
    with watching(own, recorder):
        for net in (wrapped.network, own.network):
            other = threading.Thread(target=net, args=(plain,))
            other.start()
            other.join()
        wrapped.network(plain)
        assert not recorder.attended
        assert not recorder.block_inputs
        assert recorder.embeddings is None
        own.network(plain)
    assert len(recorder.attended) == len(recorder.block_inputs) == 3


# --------------------------------------------------------------------------------- unknown families


def test_unknown_families_do_what_needs_no_row() -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "vocab_size": 60,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    neox = GPTNeoXForCausalLM(GPTNeoXConfig(**sizes, intermediate_size=16))
    bloom = BloomForCausalLM(BloomConfig(vocab_size=60, hidden_size=16, n_layer=2, n_head=2))
    for net in (neox, bloom):
        wrapped = headlight.wrap(net.eval())
        batch = Batch.from_ids([[5, 6, 7, 8], [9, 10]])
        working = ["raw_attention", "rollout", "grads", "gae", "grad_sam", "input_x_gradient"]
        found = headlight.explain(wrapped, batch, working)
        for name in working:
            alone = headlight.explain(wrapped, Batch.from_ids([9, 10]), name)
            assert found[name][1].scores == pytest.approx(alone.scores, rel=1e-4, abs=1e-6)
        without = replace(wrapped, architecture=None)
        with pytest.raises(UnsupportedModel, match=r"no row in the architecture table.*blocks"):
            headlight.explain(without, batch, "attcat")


def test_attention_with_sinks_is_refused_and_the_rest_works() -> None:
    torch.manual_seed(0)
    config = GptOssConfig(
        vocab_size=60,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        num_local_experts=2,
        num_experts_per_tok=1,
    )
    wrapped = headlight.wrap(GptOssForCausalLM(config).eval())
    batch = Batch.from_ids([5, 6, 7])
    with pytest.raises(UnsupportedModel, match=r"GptOss.*attention sinks.*input_x_gradient"):
        headlight.explain(wrapped, batch, "gae")
    assert headlight.explain(wrapped, batch, "input_x_gradient").scores.all()


# ------------------------------------------------------------------------------- rows that are wrong


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Architecture(("embedings",), "encoder.layer"), "names 'embedings' as embeddings"),
        (
            Architecture(("embeddings", "encoder.layer.1"), "encoder.layer"),
            "do not depend on what was captured as the input of block 1",
        ),
        (
            Architecture(("embeddings",), "encoder.layers"),
            "names 'encoder.layers' as blocks",
        ),
        (Architecture(("embeddings",), "encoder"), "0 blocks ran, but 3 attention maps"),
        (Architecture(("pooler.dense",), "encoder.layer"), "one vector per input token"),
    ],
)
def test_a_wrong_row_is_found_when_the_network_is_wrapped(
    row: Architecture, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(architectures.ARCHITECTURES, "bert", row)
    with pytest.raises(UnsupportedModel, match=message):
        headlight.wrap(network("bert", Task.SEQUENCE))
