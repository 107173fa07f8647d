"""How much heads matter, straight from the definitions: one text, one head and one number at a time."""

import torch
from transformers import PreTrainedModel

from headlight.trace.relevance.sweep import Relevance

STEP = 1e-5


def gated_logit(
    net: PreTrainedModel, ids: list[int], place: tuple[int, int], gate: float, label: int
) -> float:
    """A logit of a BERT whose head at this place has its output multiplied by a gate."""
    layer, head = place
    width = net.config.hidden_size // net.config.num_attention_heads
    output = net.get_submodule(f"bert.encoder.layer.{layer}.attention.output.dense")

    def close(_module: torch.nn.Module, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        mixed = given[0].clone()
        mixed[..., head * width : (head + 1) * width] *= gate
        return (mixed,)

    hook = output.register_forward_pre_hook(close)
    try:
        with torch.no_grad():
            return float(net(torch.tensor([ids])).logits[0, label])
    finally:
        hook.remove()


def gate_slope(net: PreTrainedModel, ids: list[int], place: tuple[int, int]) -> float:
    """|∂y/∂gate| of the predicted class by a central difference."""
    with torch.no_grad():
        label = int(net(torch.tensor([ids])).logits[0].argmax())
    high, low = (gated_logit(net, ids, place, 1 + step, label) for step in (STEP, -STEP))
    return abs(high - low) / (2 * STEP)


def relevance_shares(sent: Relevance, row: int, length: int) -> list[list[float]]:
    """Each head's share of the positive relevance of all attention weights of a row, by loops."""
    sums = [
        [
            sum(
                max(0.0, float(layer[row, head, query, key]))
                for query in range(length)
                for key in range(length)
            )
            for head in range(layer.shape[1])
        ]
        for layer in sent.attention
    ]
    total = sum(map(sum, sums))
    return [[value / total for value in layer] for layer in sums]
