"""Peeling by hand: one row of ids, in 64 bits, with a network and relevance written out without headlight."""

import math

import torch
from transformers import PreTrainedModel

from tests.reference.modified import modified_scores
from tests.reference.passes import Matrix, embedding_module, keep


def embedded(net: PreTrainedModel, ids: list[int]) -> Matrix:
    """The embedding output of a row."""
    kept: list[torch.Tensor] = []
    handle = embedding_module(net).register_forward_hook(lambda _m, _a, out: keep(kept, out))
    with torch.no_grad():
        net(torch.tensor([ids]))
    handle.remove()
    return kept[0][0].numpy()


def log_probability(net: PreTrainedModel, ids: list[int], label: int) -> float:
    """That of a class, or of the token after the row."""
    with torch.no_grad():
        logits = net(torch.tensor([ids])).logits[0]
    last = logits if logits.dim() == 1 else logits[-1]
    return float(last.log_softmax(-1)[label])


def relevance_of(net: PreTrainedModel, ids: list[int], label: int, base: str) -> list[float]:
    """The relevance of every token of a row."""
    start = embedded(net, ids)
    return [float(score) for score in modified_scores(net, start, start, label, base)]


def peeled(
    net: PreTrainedModel,
    ids: list[int],
    label: int,
    groups: list[list[int]],
    cuts: list[float],
    mix: float,
    base: str = "attn_lrp",
) -> tuple[list[float], list[float]]:
    """The scores of all tokens, and the log-probability of the whole row and after each removal.

    groups: the tokens that are removed together; tokens in none are never removed.
    """
    whole = relevance_of(net, ids, label, base)
    first = [sum(whole[place] for place in group) for group in groups]
    size = sum(abs(value) for value in first)
    current = [value / size for value in first]
    order: list[int] = []
    logs = [log_probability(net, ids, label)]
    for cut in cuts:
        count = max(1, math.floor(cut * len(groups) + 0.5))
        if count <= len(order) or len(groups) - count < 2:
            continue
        left = [number for number in range(len(groups)) if number not in order]
        tried = list(order)
        while len(tried) < count:
            best = left[0]
            for number in left:
                if current[number] > current[best]:
                    best = number
            tried.append(best)
            left.remove(best)
        gone = [place for number in tried for place in groups[number]]
        places = [place for place in range(len(ids)) if place not in gone]
        shorter = [ids[place] for place in places]
        logs.append(log_probability(net, shorter, label))
        if logs[-1] >= logs[-2]:
            break
        fresh = dict(zip(places, relevance_of(net, shorter, label, base), strict=True))
        sums = {number: sum(fresh[place] for place in groups[number]) for number in left}
        size = sum(abs(value) for value in sums.values())
        for number in left:
            current[number] = mix * sums[number] / size + (1 - mix) * current[number]
        order = tried
    rest = [number for number in range(len(groups)) if number not in order]
    order = order + sorted(rest, key=lambda number: -current[number])
    scores = list(whole)
    for number, value in zip(order, sorted(first, reverse=True), strict=True):
        for place in groups[number]:
            scores[place] = value / len(groups[number])
    return scores, logs
