"""Each method against its oracle, in 64 bits."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch
from headlight.models.model import Task
from tests.networks import DECODERS, network, options, rows
from tests.reference.oracles import ORACLES
from tests.reference.passes import independent_pass

CASES = [
    ("bert", Task.SEQUENCE),
    ("distilbert", Task.SEQUENCE),
    ("deberta-v2", Task.SEQUENCE),
    ("modernbert", Task.SEQUENCE),
    ("mpnet", Task.SEQUENCE),
    ("roberta", Task.SEQUENCE),
    ("gpt2", Task.CAUSAL),
    ("llama", Task.CAUSAL),
    ("mistral", Task.CAUSAL),
    ("qwen3", Task.SEQUENCE),
]


def test_every_method_and_variant_has_an_oracle() -> None:
    """Those of relevance are walks through whole networks, in test_relevance.py; samples have no oracle
    but a limit, in test_perturbation.py; DeepLIFT is held by what it adds up to, in test_multipliers.py.
    """
    elsewhere = {n for n in METHODS if "seed" in METHODS[n].options} | {"deeplift", "deeplift_shap"}
    others = [n for n in METHODS if n not in elsewhere and "relevance" not in METHODS[n].needs]
    papers = {(name, "paper") for name in others}
    released = {(name, "released") for name in others if METHODS[name].released}
    assert set(ORACLES) == papers | released


@pytest.mark.parametrize(("family", "task"), CASES)
def test_methods_equal_their_oracles(family: str, task: Task) -> None:
    ids, label = rows()[1], 1
    net = network(family, task).double()
    speaker = network(family, Task.CAUSAL if family in DECODERS else Task.MASKED).double()
    expected = independent_pass(net, ids, task, label, speaker)
    wrapped = headlight.wrap(network(family, task).double())
    batch = Batch.from_ids([ids, rows()[2]])
    for variant in ("paper", "released"):
        names = [name for name, other in ORACLES if other == variant]
        given = options(*names, family=family, dtype=torch.float64)
        found = headlight.explain(wrapped, batch, names, label, variant=variant, **given)
        for name in names:
            oracle = ORACLES[name, variant](expected)
            scores = found[name][0].scores
            tolerance = 1e-8 if name == "attention_flow" else 1e-10
            assert np.abs(scores - oracle).max() <= tolerance * np.abs(oracle).max(), (
                name,
                variant,
            )


def test_uniform_attention_has_a_known_rollout() -> None:
    """With A = 1/T everywhere each layer is ½I + ½/T, so L layers leave 2⁻ᴸ I and spread the rest."""
    net: Any = network("bert", Task.SEQUENCE)
    with torch.no_grad():
        for layer in net.bert.encoder.layer:
            layer.attention.self.query.weight.zero_()
            layer.attention.self.query.bias.zero_()
    ids = rows()[0]
    batch = Batch.from_ids(ids)
    wrapped = headlight.wrap(net)
    raw = headlight.explain(wrapped, batch, "raw_attention").scores
    np.testing.assert_allclose(raw, 1 / len(ids), rtol=1e-6)
    spread = np.full(len(ids), (1 - 2.0**-3) / len(ids))
    spread[0] += 2.0**-3
    rolled = headlight.explain(wrapped, batch, "rollout").scores
    np.testing.assert_allclose(rolled, spread, rtol=1e-5)


def test_input_x_gradient_of_a_linear_network_adds_up_to_the_logit() -> None:
    """A classifier that averages its tokens and has no layers is linear, so the scores sum to the logit."""
    net: Any = network("modernbert", Task.SEQUENCE, classifier_pooling="mean")
    with torch.no_grad():
        for layer in net.model.layers:
            layer.attn.Wo.weight.zero_()
            layer.mlp.Wo.weight.zero_()
    net.model.final_norm = torch.nn.Identity()
    net.head = torch.nn.Identity()
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(rows()), "input_x_gradient")
    for answer in found:
        bias = float(net.classifier.bias.detach()[net.config.label2id[answer.target.label]])
        assert answer.scores.sum() == pytest.approx(answer.target.logit - bias, rel=1e-4)


def test_random_depends_on_seed_and_row_only() -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    batch = Batch.from_ids(rows())
    first = headlight.explain(wrapped, batch, "random", seed=1)
    again = headlight.explain(wrapped, batch, "random", seed=1)
    other = headlight.explain(wrapped, batch, "random", seed=2)
    assert first == again
    assert all((a.scores != b.scores).all() for a, b in zip(first, other, strict=True))
