"""`Decoder`: the language-model head of a network, as a function of hidden states of any layer."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from headlight.errors import InvalidOption
from headlight.models.model import Model, Task
from headlight.shapes import Hidden
from headlight.trace.capture import NETWORK_LOCK, evaluating, max_precision

HEADED = (Task.MASKED, Task.CAUSAL)


@dataclass(frozen=True, eq=False)
class Decoder:
    """Token probabilities from hidden states, by the head of a masked or causal language model.

    The head is run as the network runs it: its body is asked for nothing and answers with the hidden
    states, through the last normalisation where the family has one there.
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
        network = self.model.network
        states = hidden.to(network.device, network.dtype)
        for norm in self.model.final_norms:
            states = norm(states)
        with NETWORK_LOCK, evaluating(network), answering(network.base_model, states):
            logits: Tensor = network(inputs_embeds=states, return_dict=True).logits
        return logits.to(hidden.device, max_precision(logits.dtype)).softmax(-1)


@contextmanager
def answering(body: nn.Module, states: Tensor) -> Iterator[None]:
    """A body that answers with these hidden states, whatever it is asked; restored on leaving."""
    answer = BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=states)  # type: ignore[arg-type]
    former = vars(body).get("forward")
    body.forward = lambda *_args, **_kwargs: answer
    try:
        yield
    finally:
        del body.forward
        if former is not None:
            body.forward = former
