"""Passes that are watched, and passes again with other embeddings."""

import pytest
import torch

import headlight
from headlight import Batch
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.trace import NEEDS, trace
from tests.networks import CONFIGS, model, rows


@pytest.mark.parametrize("family", CONFIGS)
def test_replay_of_the_same_embeddings_gives_the_same_target(family: str) -> None:
    wrapped = model(family, Task.SEQUENCE)
    seen = trace(wrapped, Batch.from_ids(rows()).rows, [Target()] * 3, NEEDS)
    leaf = seen.embeddings.clone().requires_grad_()
    value = seen.replay(leaf)
    expected = seen.goal.value(seen.logits, seen.inputs.present)
    torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)
    (gradient,) = torch.autograd.grad(value.sum(), leaf)
    gradient[~seen.inputs.present] = 0
    torch.testing.assert_close(gradient, seen.gradients().embeddings, rtol=1e-3, atol=1e-5)
    with torch.no_grad():
        assert float((seen.replay(leaf * 1.1) - expected).abs().max()) > 0


def test_only_what_is_needed_is_captured() -> None:
    rows_ = Batch.from_ids(rows()).rows
    seen = trace(model("bert", Task.SEQUENCE), rows_, [Target()] * 3, {"attention"})
    assert seen.hidden == ()
    assert not seen.attention[0].requires_grad
    seen = trace(model("bert", Task.SEQUENCE), rows_, [Target()] * 3, {"embedding_gradient"})
    assert len(seen.attention) == 0


def test_the_mean_of_all_words_stands_in_the_place_of_a_word() -> None:
    ids = rows()[0]
    wrapped, batch = model("llama", Task.CAUSAL, torch.float64), Batch.from_ids(ids)
    words = wrapped.network.get_input_embeddings().weight.detach()  # type: ignore[operator]
    found = headlight.explain(wrapped, batch, "occlusion", baseline="mean")
    with torch.no_grad():
        embedded = wrapped.network.get_input_embeddings()(torch.tensor([ids]))
        whole = wrapped.network(inputs_embeds=embedded).logits[0, -1]
        embedded[0, 2] = words.mean(0)
        without = wrapped.network(inputs_embeds=embedded).logits[0, -1]
    best = whole.argmax()
    assert found.scores[2] == pytest.approx(float(whole[best] - without[best]), rel=1e-6)


def test_other_tokens_are_embedded_without_running_the_blocks() -> None:
    wrapped = model("llama", Task.CAUSAL, torch.float64)
    seen = trace(wrapped, Batch.from_ids(rows()[0]).rows, [Target()], {"embedding_gradient"})
    ran: list[object] = []
    blocks = seen.forward.model.blocks
    handles = [block.register_forward_hook(lambda *args: ran.append(args)) for block in blocks]
    others = seen.inputs.ids.flip(1)
    words = wrapped.network.get_input_embeddings()(others)
    torch.testing.assert_close(seen.embed(others), words.detach())
    assert ran == []
    for handle in handles:
        handle.remove()


def test_a_pass_that_ends_earlier_keeps_its_further_passes_but_not_what_depends_on_its_end() -> (
    None
):
    wrapped = model("llama", Task.CAUSAL, torch.float64)
    run = trace(wrapped, Batch.from_ids(rows()[2]).rows, [Target()], {"relevance"}).forward
    reached = (torch.arange(len(rows()[2])) <= 2)[None]
    shorter = run.until(reached)
    run.once("key", lambda: "of the whole")
    assert shorter.kept == {}
    assert shorter.embeddings[0, 3:].abs().max() == 0
    assert torch.equal(shorter.embeddings[0, :3], run.embeddings[0, :3])
    assert shorter.modifiable().captured is run.modifiable().captured
    assert shorter.modifiable().inputs is shorter.inputs
    assert run.until(torch.ones_like(reached)) is run


def test_a_network_that_looks_words_up_elsewhere_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapped = model("llama", Task.CAUSAL)
    elsewhere = torch.nn.Embedding(5, 3)
    monkeypatch.setattr("headlight.trace.forward.word_lookups", lambda _model: [elsewhere])
    with pytest.raises(headlight.UnsupportedModel, match=r"another place.*baseline='zero'"):
        headlight.explain(wrapped, Batch.from_ids(rows()[0]), "occlusion", baseline="mean")
