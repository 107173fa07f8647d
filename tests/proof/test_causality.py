"""Whether tokens look back only is derived from the network, whatever its name and task."""

import torch
from transformers import BertConfig, BertLMHeadModel

import headlight
from headlight import Batch, Model
from headlight.models.model import Task
from headlight.proof.causality import EARLY
from tests.networks import DECODERS, ENCODER, QUICK_PAIRS, in_pairs, model


def depends_on_later_tokens(found: Model) -> bool:
    """Whether the state of an early token changes with the tokens after it."""
    network = found.network.eval()
    one, other = torch.tensor([[5, 9, 13, 20, 31, 40], [5, 9, 13, 41, 52, 63]])
    states = [
        network.base_model(ids[None], attention_mask=torch.ones(1, 6))[0][0, EARLY]
        for ids in (one, other)
    ]
    return not torch.allclose(states[0], states[1], atol=1e-6)


@in_pairs(sorted(QUICK_PAIRS))
def test_decoders_look_back_only(family: str, task: Task) -> None:
    found = model(family, task)
    assert found.is_causal == (family in DECODERS)
    assert found.is_causal == (not depends_on_later_tokens(found))


def test_an_encoder_that_is_told_to_look_back_only_does() -> None:
    config = BertConfig(**ENCODER, is_decoder=True)
    assert headlight.wrap(BertLMHeadModel(config), task=str(Task.CAUSAL)).is_causal


def test_the_first_token_that_is_attended_is_the_sink() -> None:
    batch = Batch.from_ids([5, 9, 13, 20], [0, 1, 1, 1])
    decoded = headlight.explain(model("llama", Task.SEQUENCE), batch, "input_x_gradient")
    assert decoded.is_sink == (False, True, False, False)
    encoded = headlight.explain(model("bert", Task.SEQUENCE), batch, "input_x_gradient")
    assert not any(encoded.is_sink)
