"""Words that speak for a class: token types by their summed scores, and how much classes share them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput, InvalidOption
from headlight.files import read_text
from headlight.metrics.case import METRICS, Measure, Measures, passed_over

SIZES = (5, 10, 20, 30, 50, 75, 100)


@dataclass(frozen=True, eq=False)
class TypeScores:
    """The scores of one example by token type, ordinary tokens only, and the class it was given."""

    tokens: tuple[str, ...]
    scores: NDArray[np.float64]
    predicted: str


Documents = str | tuple[Mapping[str, int], int]
"""How many of so many documents hold each word, or the file that says so."""


def inverse_frequencies(documents: Mapping[str, int], count: int) -> dict[str, float]:
    """ln((1 + documents) / (1 + those with the word)) + 1, by word."""
    return {word: math.log((1 + count) / (1 + seen)) + 1 for word, seen in documents.items()}


@cache
def read_frequencies(path: str) -> tuple[dict[str, int], int]:
    """How many documents hold each word, and how many there are, from a file of words and counts."""
    try:
        (_, total), *rows = (
            line.split("\t") for line in read_text(Path(path)).splitlines() if line
        )
        return {word: int(count) for word, count in rows}, int(total)
    except ValueError as error:
        raise InvalidInput(
            f"'{path}' does not hold counts of documents: {error}. Its first line is '# documents', a tab "
            "and how many there are; every other one a word, a tab and how many hold it."
        ) from error


def own_frequencies(examples: Sequence[TypeScores]) -> tuple[dict[str, int], int]:
    """In how many of the examples each token type occurs, and how many there are."""
    seen: dict[str, int] = {}
    for example in examples:
        for token in set(example.tokens):
            seen[token] = seen.get(token, 0) + 1
    return seen, len(examples)


def class_words(
    examples: Sequence[TypeScores],
    count: int,
    documents: Documents | None = None,
    weights: Sequence[float] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    """The token types with the highest summed scores times IDF for each predicted class.

    documents: how many of so many documents hold each word, or a file of that; by default the examples
    themselves are counted. A word that no document holds has the IDF of one in none. weights: of the
    examples, 1 if not given.
    """
    if isinstance(documents, str):
        documents = read_frequencies(documents)
    seen, total = documents or own_frequencies(examples)
    rarity = inverse_frequencies(seen, total)
    rarest = math.log(1 + total) + 1
    sums: dict[str, dict[str, float]] = {}
    for example, weight in zip(examples, weights or [1.0] * len(examples), strict=True):
        own = sums.setdefault(example.predicted, {})
        for token, score in zip(example.tokens, weight * example.scores, strict=True):
            own[token] = own.get(token, 0.0) + float(score)
    found = {}
    for label in sorted(sums):
        weighed = (
            (token, score * rarity.get(token, rarity.get(token.lstrip("#Ġ▁"), rarest)))
            for token, score in sums[label].items()
        )
        found[label] = sorted(weighed, key=lambda pair: (-pair[1], pair[0]))[:count]
    return found


def overlap(words: Mapping[str, Sequence[tuple[str, float]]], size: int) -> float:
    """|A ∩ B| / size of the first `size` words, averaged over pairs of classes."""
    tops = [{token for token, _ in ranked[:size]} for ranked in words.values()]
    shared = [len(a & b) / size for a, b in combinations(tops, 2)]
    return float(np.mean(shared)) if shared else math.nan


@METRICS.register(
    "token_overlap",
    needs={"corpus"},
    better="lower",
    paper="Decoding Layer Saliency (2023), Section 4.2",
)
def token_overlap(
    examples: Sequence[TypeScores],
    weights: Sequence[float] | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    documents: Documents | None = None,
) -> Measures:
    """How many of the highest words classes have in common: the fewer, the more a method tells them apart.

    Token types by their scores summed over all examples of a predicted class, times IDF; the share of the
    first k that two classes share, averaged over pairs of classes and over k = 5 … 100. documents: how many of
    so many documents hold each word, or a file of that; by default the examples are counted.
    """
    if not sizes or min(sizes) < 1:
        raise InvalidOption(f"sizes={tuple(sizes)} are not numbers of words. Use 1 or more.")
    words = class_words(examples, max(sizes), documents, weights)
    if len(words) < 2:
        return passed_over("fewer than two classes were predicted")
    curve = tuple(overlap(words, size) for size in sizes)
    return {"": Measure(float(np.mean(curve)), levels=tuple(map(float, sizes)), curve=curve)}
