"""The two readings of AttCAT and CAT: hidden states of a block's inputs, or of its outputs."""

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch
from headlight.models.model import Task
from tests.networks import network, rows
from tests.reference.oracles import activation, attended
from tests.reference.passes import independent_pass

IDS = rows()[0]


@pytest.mark.parametrize(("hidden", "shift"), [("inputs", 0), ("outputs", 1)])
def test_hidden_chooses_what_each_layers_attention_is_paired_with(hidden: str, shift: int) -> None:
    speaker = network("bert", Task.MASKED).double()
    net = network("bert", Task.SEQUENCE).double()
    expected = independent_pass(net, IDS, Task.SEQUENCE, 1, speaker)
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE).double())
    found = headlight.explain(wrapped, Batch.from_ids(IDS), ["cat", "attcat"], 1, hidden=hidden)
    layers, tokens = range(len(expected.attention)), range(len(IDS))
    terms = np.array(
        [[activation(expected, layer + shift, token) for token in tokens] for layer in layers]
    )
    weights = np.array([[attended(expected, layer, token) for token in tokens] for layer in layers])
    np.testing.assert_allclose(found["cat"].scores, terms.sum(0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        found["attcat"].scores, (weights * terms).sum(0), rtol=1e-9, atol=1e-12
    )


def test_attcat_reads_block_inputs_and_cat_block_outputs_unless_told() -> None:
    wrapped, batch = headlight.wrap(network("bert", Task.SEQUENCE).double()), Batch.from_ids(IDS)
    for method, usual in (("attcat", "inputs"), ("cat", "outputs")):
        plain = headlight.explain(wrapped, batch, method).scores
        told = headlight.explain(wrapped, batch, f"{method}:hidden={usual}").scores
        np.testing.assert_array_equal(plain, told)


def test_input_x_gradient_of_a_linear_network_adds_up_to_the_logit() -> None:
    """A classifier that averages its tokens and has no layers is linear, so the scores sum to the logit."""
    net = network("modernbert", Task.SEQUENCE, classifier_pooling="mean")
    with torch.no_grad():
        for layer in net.model.layers:
            layer.attn.Wo.weight.zero_()
            layer.mlp.Wo.weight.zero_()
    net.model.final_norm = torch.nn.Identity()
    net.head = torch.nn.Identity()
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(rows()), "input_x_gradient")
    for answer in found:
        bias = float(net.classifier.bias.detach()[net.config.label2id[answer.target.label]])  # type: ignore[index, operator, union-attr]
        assert answer.scores.sum() == pytest.approx(answer.target.logit - bias, rel=1e-4)
