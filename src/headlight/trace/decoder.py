"""`Decoder`: the language-model head of a network, as a function of hidden states of any layer."""

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from headlight.errors import InvalidOption
from headlight.models.model import Model, Task
from headlight.running.double import double
from headlight.running.precision import max_precision
from headlight.shapes import Hidden

HEADED = (Task.MASKED, Task.CAUSAL)


@dataclass(frozen=True, eq=False)
class Decoder:
    """Token probabilities from hidden states, by the head of a masked or causal language model.

    For the call, the base model's forward is replaced by one that returns these states (after the final
    normalisation, if the family has one), so the head runs exactly as in the network.
    """

    model: Model

    def __post_init__(self) -> None:
        if self.model.task not in HEADED:
            raise InvalidOption(
                f"{self.model.name} does {self.model.task}, so it has no language-model head to decode "
                "hidden layers with. Give decoder= a masked language model of the same base."
            )

    def __str__(self) -> str:
        return self.model.name

    @torch.no_grad()
    def probabilities(self, hidden: Hidden) -> Tensor:
        """[batch, token, vocabulary] from [batch, token, feature]."""
        model = double(self.model)
        network = model.network
        states = hidden.to(network.device, network.dtype)
        for norm in model.final_norms:
            states = norm(states)
        answer = BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=states)
        network.base_model.forward = lambda *_args, **_kwargs: answer
        logits: Tensor = network(inputs_embeds=states, return_dict=True).logits
        return logits.to(hidden.device, max_precision(logits.dtype)).softmax(-1)
