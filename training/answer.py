"""Questions with the answer in a text: the first and the last token are learned."""

import re
import string
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertForQuestionAnswering, PreTrainedModel, PreTrainedTokenizerBase

from data import Question, read_questions
from headlight.loading.quiet import quiet
from recipes import Recipe
from rows import Row, tensors

STRIDE = 64
LONGEST_ANSWER = 30


@dataclass(frozen=True)
class Windows:
    """A question, the windows of its text, and the positions of their tokens in the text (None: elsewhere)."""

    question: Question
    rows: list[Row]
    places: list[list[tuple[int, int] | None]]


def fresh(_recipe: Recipe, folder: Path) -> PreTrainedModel:
    """The base with an untrained head."""
    with quiet():
        return BertForQuestionAnswering.from_pretrained(folder, dtype=torch.float32)


def read(
    recipe: Recipe, data: Path | None, tokenizer: PreTrainedTokenizerBase, _targets: object
) -> tuple[list[Row], list[Windows]]:
    """Windows with their answer, for training; held-out questions with all their windows."""
    found = [q for name, split in recipe.train for q in read_questions(name, split, data)]
    train = [
        Row(row.ids, row.types, place)
        for question in found
        for windows in [encoded(question, recipe, tokenizer)]
        for row, places in zip(windows.rows, windows.places, strict=True)
        if (place := span(places, question))
    ]
    held_out = [encoded(q, recipe, tokenizer) for q in read_questions(*recipe.shown, data)]
    return train, held_out


def encoded(question: Question, recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> Windows:
    """The windows of one question."""
    tokens = tokenizer(
        question.question,
        question.context,
        truncation="only_second",
        max_length=recipe.longest,
        stride=STRIDE,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    rows = [Row(*row) for row in zip(tokens["input_ids"], tokens["token_type_ids"], strict=True)]
    places = [
        [place if of == 1 else None for place, of in zip(offsets, e.sequence_ids, strict=True)]
        for offsets, e in zip(tokens["offset_mapping"], tokens.encodings, strict=True)
    ]
    return Windows(question, rows, places)


def span(places: list[tuple[int, int] | None], question: Question) -> tuple[int, int] | None:
    """The first and last token of the answer, if it is in the window."""
    answer, start = question.answers[0]
    end = start + len(answer)
    inside = [(k, *p) for k, p in enumerate(places) if p and p[0] < end and p[1] > start]
    if not inside or inside[0][1] > start or inside[-1][2] < end:
        return None
    return inside[0][0], inside[-1][0]


def loss(network: PreTrainedModel, rows: list[Row]) -> Tensor:
    """Cross entropy of both ends."""
    inputs, goals = tensors(rows)
    found = network(**inputs)
    starts, ends = goals.long().unbind(-1)
    return (cross_entropy(found.start_logits, starts) + cross_entropy(found.end_logits, ends)) / 2


@torch.inference_mode()
def score(network: PreTrainedModel, held_out: list[Windows]) -> dict[str, object]:
    """Exact match and F1 as SQuAD counts them, by the best span of all windows."""
    exact, overlap = 0, 0.0
    for windows in held_out:
        said = [normalised(best_answer(network, windows))]
        golds = [normalised(text) for text, _ in windows.question.answers]
        exact += said[0] in golds
        overlap += max(f1(said[0].split(), gold.split()) for gold in golds)
    count = len(held_out)
    return {"rows": count, "right": exact, "exact": exact / count, "f1": overlap / count}


def best_answer(network: PreTrainedModel, windows: Windows) -> str:
    """The text of the most likely span."""
    inputs, _ = tensors(windows.rows)
    found = network(**inputs)
    best, answer = -float("inf"), ""
    for window, places in enumerate(windows.places):
        outside = torch.tensor([place is None for place in places])
        width = len(places)
        starts = found.start_logits[window, :width].masked_fill(outside, -1e9)
        ends = found.end_logits[window, :width].masked_fill(outside, -1e9)
        spans = starts[:, None] + ends[None, :]
        allowed = torch.ones_like(spans).triu().tril(LONGEST_ANSWER - 1).bool()
        value, place = spans.masked_fill(~allowed, -2e9).flatten().max(0)
        if float(value) > best:
            first, last = divmod(int(place), width)
            start, end = places[first], places[last]
            assert start is not None  # a token of the context: the others were masked out
            assert end is not None
            best, answer = float(value), windows.question.context[start[0] : end[1]]
    return answer


def normalised(text: str) -> str:
    """Without case, punctuation and articles."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def f1(said: list[str], gold: list[str]) -> float:
    """Harmonic mean of precision and recall of words."""
    common = sum((Counter(said) & Counter(gold)).values())
    return 2 * common / (len(said) + len(gold)) if said and gold else float(said == gold)
