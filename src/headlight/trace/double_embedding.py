"""The network that the released ALTI code differentiates, which is not the classifier it explains.

That code takes the output of the whole embedding module and feeds it back as `inputs_embeds`, so positions,
types and normalisation are applied twice. This file exists only to reproduce its numbers.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from headlight.batch import Inputs
from headlight.models.model import POOLED, Model
from headlight.running.double import double
from headlight.running.logits import logits_of
from headlight.running.precision import max_precision
from headlight.shapes import Hidden
from headlight.trace.goal import Goal


def embedded_twice(model: Model, inputs: Inputs, goal: Goal) -> tuple[Hidden, Hidden]:
    """The embedding output, and the gradient of the probability of the doubly embedded network.

    Rows run one by one without padding, because decoders cannot recognise padding in `inputs_embeds`.
    """
    leaves, answers = [], []
    model = double(model)
    with torch.enable_grad():
        for number in range(len(inputs.ids)):
            alone = inputs.row(number)
            leaves.append(first_embeddings(model, alone).detach().requires_grad_())
            answers.append(logits_of(model, alone, leaves[-1]))
        width = inputs.ids.shape[1]
        logits = torch.cat([padded(a, 1 if model.task in POOLED else width) for a in answers])
        whole = replace(goal, columns=goal.positions)
        value = whole.value(logits, inputs.present, "probability").sum()
        gradients = torch.autograd.grad(value, leaves)
    return (
        torch.cat([padded(leaf.detach(), width) for leaf in leaves]),
        torch.cat([padded(gradient, width) for gradient in gradients]),
    )


def first_embeddings(model: Model, inputs: Inputs) -> Tensor:
    """The output of the embedding module, before any projection to the width of the blocks."""
    seen: list[Tensor] = []
    handle = model.embedding_stages[0].register_forward_hook(lambda *call: seen.append(call[-1]))
    try:
        with torch.no_grad():
            logits_of(model, inputs)
    finally:
        handle.remove()
    return seen[0]


def padded(values: Tensor, width: int) -> Tensor:
    """Values [1, token, feature] in at least 32 bits, padded with zeros to `width` tokens."""
    wide = values.to(max_precision(values.dtype))
    return nn.functional.pad(wide, (0, 0, 0, width - values.shape[1]))
