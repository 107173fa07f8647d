"""Words of a class: token types ranked by their summed scores, and how many of them classes share."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput, InvalidOption
from headlight.files import lines_of
from headlight.metrics.case import METRICS, Measure, Measures, passed_over

SIZES = (5, 10, 20, 30, 50, 75, 100)


@dataclass(frozen=True, eq=False)
class TypeScores:
    """The scores of one example by token type, ordinary tokens only, and its predicted class."""

    tokens: tuple[str, ...]
    scores: NDArray[np.float64]
    predicted: str


Documents = str | tuple[Mapping[str, int], int]
"""How many documents contain each word, and how many documents there are; or a file with both."""


def inverse_frequencies(documents: Mapping[str, int], count: int) -> dict[str, float]:
    """ln((1 + documents) / (1 + documents with the word)) + 1, by word."""
    return {word: math.log((1 + count) / (1 + seen)) + 1 for word, seen in documents.items()}


@cache
def read_frequencies(path: str) -> tuple[dict[str, int], int]:
    """How many documents contain each word, and how many there are, from a file of words and counts."""
    try:
        lines = (line.rstrip("\r\n") for line in lines_of(Path(path)))
        (_, total), *rows = (line.split("\t") for line in lines if line)
        return {word: int(count) for word, count in rows}, int(total)
    except ValueError as error:
        raise InvalidInput(
            f"'{path}' does not hold counts of documents: {error}. The first line must be '# documents', a "
            "tab and their number; every other line a word, a tab and the number of documents with it."
        ) from error


def own_frequencies(examples: Sequence[TypeScores]) -> tuple[dict[str, int], int]:
    """In how many of the examples each token type occurs, and how many there are."""
    seen: dict[str, int] = {}
    for example in examples:
        for token in set(example.tokens):
            seen[token] = seen.get(token, 0) + 1
    return seen, len(examples)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Examples as arrays, so that they can be summed many times with other weights.

    cells: pairs of a class and a token type, sorted. places, scores, owners: the cell, the score and the
    example of every token.
    """

    examples: tuple[TypeScores, ...]

    @classmethod
    def of(cls, examples: "Corpus | Sequence[TypeScores]") -> "Corpus":
        """Examples as a corpus; a corpus is returned unchanged."""
        return examples if isinstance(examples, Corpus) else cls(tuple(examples))

    @cached_property
    def cells(self) -> list[tuple[str, str]]:
        return sorted({(each.predicted, token) for each in self.examples for token in each.tokens})

    @cached_property
    def places(self) -> NDArray[np.intp]:
        numbers = {cell: number for number, cell in enumerate(self.cells)}
        found = [numbers[each.predicted, token] for each in self.examples for token in each.tokens]
        return np.array(found, np.intp)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *(each.scores for each in self.examples)])

    @cached_property
    def owners(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.examples)), [len(e.tokens) for e in self.examples])

    @cached_property
    def known(self) -> dict[str | None, NDArray[np.float64]]:
        """The rarities computed so far, by file of documents."""
        return {}

    @cached_property
    def ranges(self) -> dict[str, slice]:
        """The slice of `cells` that belongs to each class."""
        labels = [label for label, _ in self.cells]
        every = sorted({each.predicted for each in self.examples})
        return {
            each: slice(bisect_left(labels, each), bisect_right(labels, each)) for each in every
        }

    def rarity(self, documents: Documents | None) -> NDArray[np.float64]:
        """The IDF of every cell, from counts of documents, a file of them, or the examples themselves."""
        if isinstance(documents, tuple):
            return self.weighed(*documents)
        if documents not in self.known:
            counted = read_frequencies(documents) if documents else own_frequencies(self.examples)
            self.known[documents] = self.weighed(*counted)
        return self.known[documents]

    def weighed(self, seen: Mapping[str, int], total: int) -> NDArray[np.float64]:
        """The IDF of every cell; a word in no document gets the highest."""
        by_word = inverse_frequencies(seen, total)
        rarest = math.log(1 + total) + 1
        return np.array(
            [by_word.get(t, by_word.get(t.lstrip("#Ġ▁"), rarest)) for _, t in self.cells]
        )


def class_words(
    examples: Corpus | Sequence[TypeScores],
    count: int,
    documents: Documents | None = None,
    weights: Sequence[float] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    """The token types with the highest summed scores times IDF for each predicted class.

    documents: how many contain each word and how many there are, or a file with both; by default the examples
    are counted. weights: one per example; 1 by default.
    """
    corpus = Corpus.of(examples)
    if weights is not None and len(weights) != len(corpus.examples):
        raise InvalidOption(f"{len(weights)} weights do not fit {len(corpus.examples)} examples.")
    scores = corpus.scores if weights is None else corpus.scores * np.array(weights)[corpus.owners]
    sums = np.bincount(corpus.places, scores, len(corpus.cells)) * corpus.rarity(documents)
    found = {}
    for label, own in corpus.ranges.items():
        best = own.start + np.argsort(-sums[own], kind="stable")[:count]
        found[label] = [(corpus.cells[n][1], float(sums[n])) for n in best]
    return found


def overlap(words: Mapping[str, Sequence[tuple[str, float]]], size: int) -> float:
    """|A ∩ B| / size of the first `size` words, averaged over pairs of classes."""
    tops = [{token for token, _ in ranked[:size]} for ranked in words.values()]
    shared = [len(a & b) / size for a, b in combinations(tops, 2)]
    return float(np.mean(shared)) if shared else math.nan


@METRICS.register(
    "token_overlap",
    group="words",
    needs={"corpus"},
    axes=("highest words of each class", "share that two classes have in common"),
    better="lower",
    paper="Decoding Layer Saliency (2023), Section 4.2",
)
def token_overlap(
    examples: Corpus | Sequence[TypeScores],
    weights: Sequence[float] | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    documents: Documents | None = None,
) -> Measures:
    """How many of their highest words classes share; the fewer, the better a method tells classes apart.

    Token types are ranked by their scores, summed over all examples of a predicted class, times IDF. The value
    is the share of the first k words that two classes have in common, averaged over pairs of classes and over
    k = 5 … 100. documents: how many contain each word and how many there are, or a file with both; by default
    the examples are counted.
    """
    if not sizes or min(sizes) < 1:
        raise InvalidOption(
            f"sizes={tuple(sizes)} are not numbers of words. Use numbers from 1 up."
        )
    words = class_words(examples, max(sizes), documents, weights)
    if len(words) < 2:
        return passed_over("fewer than two classes were predicted")
    curve = tuple(overlap(words, size) for size in sizes)
    return {"": Measure(float(np.mean(curve)), levels=tuple(map(float, sizes)), curve=curve)}
