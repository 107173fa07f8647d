"""Modified gradients against networks written out by hand, and against relevance sent by operation."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm

import headlight
from headlight import Batch, Target
from headlight.models.model import Model, Task
from headlight.target import Target as AnyTarget
from headlight.trace.baselines import chosen_baseline
from headlight.trace.trace import trace
from tests.methods.test_relevance import exact_norm
from tests.networks import TARGETS, in_pairs, model, network, rows
from tests.reference.modified import PAPERS, modified_scores
from tests.reference.passes import independent_pass
from tests.reference.relevance import ATTN_LRP, WALKS, logit

CASES = {"bert": Task.SEQUENCE, "llama": Task.CAUSAL, "gpt2": Task.CAUSAL}
IDS = rows()[1]
LABEL = 1


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("family", CASES)
def test_methods_equal_their_oracles(
    family: str, implementation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LlamaRMSNorm, "forward", exact_norm)
    net = network(family, CASES[family]).double()
    net.config._attn_implementation = implementation
    # transformers computes the softmax of Llama's written-out attention in 32 bits, whatever its weights have
    is_narrow = (family, implementation) == ("llama", "eager")
    wrapped = headlight.wrap(net)
    batch = Batch.from_ids([IDS, rows()[2]])
    seen = trace(wrapped, batch.rows[:1], [AnyTarget(label=LABEL)], {"embedding_gradient"})
    baseline = chosen_baseline(wrapped, None).embeddings(seen)[0].numpy()
    found = headlight.explain(wrapped, batch, list(PAPERS), LABEL)
    for name in PAPERS:
        oracle = modified_scores(net, seen.embeddings[0].numpy(), baseline, LABEL, name)
        error = np.abs(found[name][0].scores - oracle).max() / np.abs(oracle).max()
        assert error < (1e-6 if is_narrow else 1e-9), (name, error)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_what_goes_into_the_sink_reaches_no_other_token(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the first key and value were constants, only the first score would change, to 0."""
    monkeypatch.setattr(LlamaRMSNorm, "forward", exact_norm)
    net = network(family, Task.CAUSAL).double()
    wrapped, batch = headlight.wrap(net), Batch.from_ids(IDS)
    seen = trace(wrapped, batch.rows, [AnyTarget(label=LABEL)], {"embedding_gradient"})
    embeddings = seen.embeddings[0].numpy()
    rules = replace(PAPERS["attn_lrp"], sink=False)
    without = modified_scores(net, embeddings, embeddings, LABEL, "attn_lrp", rules)
    whole = headlight.explain(wrapped, batch, "attn_lrp", LABEL).scores
    assert without[0] == 0
    assert abs(whole[0]) > 1e-3
    np.testing.assert_allclose(without[1:], whole[1:], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_attn_lrp_is_the_relevance_of_the_epsilon_rule(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stabiliser ε = 1e-6 is all that is between them."""
    monkeypatch.setattr(LlamaRMSNorm, "forward", exact_norm)
    net = network(family, CASES[family]).double()
    speaker = network(family, Task.MASKED if family == "bert" else Task.CAUSAL).double()
    passed = independent_pass(net, IDS, CASES[family], LABEL, speaker)
    walk = WALKS[family](net, passed, LABEL, ATTN_LRP, seed=logit(net, IDS, LABEL))
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(IDS), "attn_lrp", LABEL).scores
    expected = walk.hidden[0].sum(-1)
    assert np.abs(found - expected).max() < 1e-2 * np.abs(expected).max()
    assert np.argsort(found).tolist() == np.argsort(expected).tolist()


@in_pairs()
def test_every_family_agrees_with_relevance_sent_by_operation(family: str, task: Task) -> None:
    """The preset attn_lrp of z⁺ relevance starts at 1, so its scores are those of attn_lrp over the logit.

    MPNet adds position scores that are constants; they keep their share here, and pass it on there. Without
    them both agree.
    """
    wrapped, batch = model(family, task, torch.float64), Batch.from_ids(IDS)
    if family == "mpnet":
        net = network(family, task).double()
        for name, parameter in net.named_parameters():
            if "relative_attention_bias" in name:
                torch.nn.init.zeros_(parameter)
        wrapped = headlight.wrap(net)
    target = TARGETS.get(task)
    one = headlight.explain(wrapped, batch, "attn_lrp", target)
    assert np.isfinite(one.scores).all()
    assert one.scores.any()
    if task is not Task.QUESTION:
        sent = headlight.explain(wrapped, batch, "lrp:preset=attn_lrp", target).scores
        expected = sent * one.target.logit
        assert np.abs(one.scores - expected).max() < 2e-2 * np.abs(expected).max()


def test_the_explained_value_enters_linearly(classifier: Model) -> None:
    text = "a charming and often affecting journey"
    one, two = (headlight.explain(classifier, text, "attn_lrp", k).scores for k in (0, 1))
    both = headlight.explain(classifier, text, "attn_lrp", Target(label=0, contrast=1)).scores
    np.testing.assert_allclose(both, one - two, rtol=1e-4, atol=1e-4 * np.abs(both).max())


def test_libragrad_is_complete_in_a_network_without_biases() -> None:
    wrapped = model("llama", Task.CAUSAL, torch.float64)
    found = headlight.explain(wrapped, Batch.from_ids(IDS), "libragrad", LABEL)
    assert found.scores.sum() == pytest.approx(found.target.logit, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({}, "attn_lrp"),
        ({"scores": 0.0, "value": 1.0, "gate": 0.0}, "cp_lrp"),
        ({"scores": 0.0, "value": 1.0}, "libragrad"),
    ],
)
def test_the_options_make_the_published_methods(options: dict[str, Any], same: str) -> None:
    wrapped, batch = model("llama", Task.CAUSAL, torch.float64), Batch.from_ids(IDS)
    custom = headlight.explain(wrapped, batch, "modified_gradient", LABEL, **options).scores
    np.testing.assert_allclose(
        custom, headlight.explain(wrapped, batch, same, LABEL).scores, rtol=1e-12
    )


def test_one_pass_serves_plain_and_modified_gradients() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    names = ["attn_lrp", "gim", "input_x_gradient", "attcat", "gae"]
    together = headlight.explain(wrapped, batch, names, LABEL)
    for name in names:
        alone = headlight.explain(wrapped, batch, name, LABEL).scores
        np.testing.assert_allclose(together[name].scores, alone, rtol=1e-8, atol=1e-12)
