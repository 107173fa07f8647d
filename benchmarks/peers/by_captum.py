"""The cases as captum does them: a forward function written by hand, all texts in one padded batch."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import captum
import torch
from benchmarks.peers.settings import LABEL, ROWS_AT_ONCE, STEPS, permutations
from captum.attr import (
    DeepLift,
    InputXGradient,
    IntegratedGradients,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

VERSION = captum.__version__
Scores = list[list[float]]
Method = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From ids, the ids with every word masked, and which tokens are there, to the scores of every token."""


class FromEmbeddings(nn.Module):
    """The part of a classifier behind its embeddings."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, embeddings: Tensor, present: Tensor) -> Tensor:
        network = self.network
        unseen = (1.0 - present[:, None, None, :].float()) * torch.finfo(torch.float32).min
        hidden = network.bert.encoder(embeddings, attention_mask=unseen).last_hidden_state
        return network.classifier(network.bert.pooler(hidden))


def methods(network: Any) -> dict[str, Method]:
    """Captum's methods, by the name of the case."""
    behind, embed = FromEmbeddings(network), network.bert.embeddings

    def logit(ids: Tensor, present: Tensor) -> Tensor:
        return network(ids, attention_mask=present).logits[:, LABEL]

    def at_once(ids: Tensor) -> int:
        return max(1, ROWS_AT_ONCE // len(ids))

    def gradient(
        ids: Tensor, masked: Tensor, present: Tensor, *, method: Any, **how: Any
    ) -> Tensor:
        del masked
        values = embed(ids).detach()
        return method(behind).attribute(values, LABEL, additional_forward_args=(present,), **how)

    def from_masked(
        ids: Tensor, masked: Tensor, present: Tensor, *, method: Any, **how: Any
    ) -> Tensor:
        values, start = embed(ids).detach(), embed(masked).detach()
        return method(behind).attribute(
            values, start, LABEL, additional_forward_args=(present,), **how
        )

    @torch.no_grad()
    def occlusion(ids: Tensor, masked: Tensor, present: Tensor) -> Tensor:
        how = {"additional_forward_args": (present,), "perturbations_per_eval": at_once(ids)}
        return Occlusion(logit).attribute(ids, (1,), baselines=masked, **how)

    @torch.no_grad()
    def shapley(ids: Tensor, masked: Tensor, present: Tensor) -> Tensor:
        return ShapleyValueSampling(logit).attribute(
            ids,
            baselines=masked,
            additional_forward_args=(present,),
            n_samples=permutations(len(ids)),
            perturbations_per_eval=at_once(ids),
        )

    paths = partial(
        from_masked, method=IntegratedGradients, n_steps=STEPS, internal_batch_size=ROWS_AT_ONCE
    )
    return {
        "bert saliency": partial(gradient, method=Saliency, abs=False),
        "bert input_x_gradient": partial(gradient, method=InputXGradient),
        "bert integrated_gradients": paths,
        "bert deeplift": partial(from_masked, method=DeepLift),
        "bert occlusion": occlusion,
        "bert shapley": shapley,
    }


def one_number_a_token(case: str, values: Tensor) -> Tensor:
    """The values of a token's features as one score: their length for saliency, else their sum."""
    if values.dim() == 2:
        return values
    return values.norm(dim=-1) if case == "bert saliency" else values.sum(-1)


def calls(folder: Path) -> dict[str, Any]:
    """What captum does with texts, by the name of the case."""
    network = AutoModelForSequenceClassification.from_pretrained(folder / "bert").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "bert")

    def explained(texts: list[str], case: str, method: Method) -> Scores:
        batch = tokenizer(texts, padding=True, return_tensors="pt", return_special_tokens_mask=True)
        ids, special = batch["input_ids"], batch["special_tokens_mask"].bool()
        masked = torch.where(special, ids, tokenizer.mask_token_id)
        scores = one_number_a_token(case, method(ids, masked, batch["attention_mask"])).detach()
        return [row[~own].tolist() for row, own in zip(scores, special, strict=True)]

    return {
        case: partial(explained, case=case, method=method)
        for case, method in methods(network).items()
    }
