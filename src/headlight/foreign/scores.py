"""`from_scores`: the scores of tokens, words or characters that were computed elsewhere, as an attribution."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.attribution import Attribution
from headlight.batch import Row, plain
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.batches import run
from headlight.explaining.inputs import rows_of
from headlight.explaining.plan import Plan, check_model
from headlight.foreign.alignment import Place, located, spread
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.registry.entries import Entry
from headlight.target import Target, TargetLike
from headlight.text import Text

Spans = Sequence[tuple[int, ...]]
"""Characters of a text as (start, end), or of a pair as (text, start, end)."""


def from_scores(
    model: Model,
    text: Text,
    scores: Any,
    *,
    method: str,
    target: TargetLike = None,
    tokens: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    spans: Spans | None = None,
    signed: bool = True,
) -> Attribution:
    """An attribution of the model's own tokens from scores that were computed elsewhere.

    text: what was explained, one text or a pair. scores: one number per token, word or span, as a list, array
        or tensor; without tokens, words or spans, one per token of the model, special tokens included or not.
    method: a name for where the scores are from, under which `evaluate` shows them.
    target: what was explained, as in `explain`; by default what the model predicts.
    tokens: the tokens of another tokenizer (or of the same). words: any pieces of the text, all and in order.
    spans: characters, (start, end) or for a pair (0 or 1, start, end); they may leave some out.
    signed: whether negative scores argue against the target.

    Scores of other pieces than the model's tokens are spread over characters: a word's score is divided among
    its tokens by how many of its letters they hold, and what lies on a token is added up.
    """
    check_model(model)
    check_name(method)
    row = cut_to_limit(model, rows_of(model, [text])[0])
    numbers = checked_scores(scores)
    pieces = pieces_of(tokens, words, spans)
    aligned = by_position(row, numbers, tokens) if pieces is None or tokens is not None else None
    note = ""
    if aligned is None:
        assert pieces is not None
        aligned = by_characters(model, row, numbers, pieces)
        note = (
            f"scores of {len(numbers)} {pieces.kind}s were put on {len(row)} tokens by characters"
        )
    entry = Entry(method, lambda _trace: torch.from_numpy(aligned)[None], signed=signed)
    noted = row.noted(note) if note else row
    (answers,) = run(model, [noted], [Target.of(target)], Plan((entry,)))
    return replace(answers[method], options={})


@dataclass(frozen=True)
class Pieces:
    """Stretches of a text as a caller names them. kind: what they are called, one of them."""

    kind: str
    names: Sequence[str] = ()
    spans: Spans = ()

    def __len__(self) -> int:
        return len(self.names or self.spans)


def pieces_of(
    tokens: Sequence[str] | None, words: Sequence[str] | None, spans: Spans | None
) -> Pieces | None:
    """The one kind of pieces that was given; None for the model's own tokens."""
    given = {"tokens": tokens, "words": words, "spans": spans}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidOption(f"{' and '.join(named)} say the same twice. Give one of them.")
    if not named:
        return None
    values = plain(given[named[0]])
    if spans is not None:
        return Pieces("span", spans=[tuple(span) for span in values])
    if not isinstance(values, list) or not all(isinstance(name, str) for name in values):
        raise InvalidInput(f"{named[0]}= must be a list of texts.")
    return Pieces(named[0].removesuffix("s"), names=values)


def check_name(method: str) -> None:
    """Refuse a name that nobody could read in a table."""
    if not isinstance(method, str) or not method.strip():
        raise InvalidOption(
            f"method={method!r} is no name. Say where the scores are from, such as 'shap'."
        )


def checked_scores(scores: Any) -> NDArray[np.float64]:
    """Scores as numbers in one dimension; refused if they are not."""
    scores = scores.detach() if isinstance(scores, torch.Tensor) else scores
    try:
        found = np.asarray(plain(scores), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("the scores must be numbers, one per token, word or span.") from error
    if found.ndim != 1 or not found.size:
        raise InvalidInput(
            "the scores must be in one dimension, one per token, word or span; these have the shape "
            f"{found.shape}."
        )
    if not np.isfinite(found).all():
        number = int(np.flatnonzero(~np.isfinite(found))[0])
        raise InvalidInput(f"score {number} is {found[number]}, which is not a finite number.")
    return found


# ----------------------------------------------------------------------------------- by position


def by_position(
    row: Row, scores: NDArray[np.float64], tokens: Sequence[str] | None
) -> NDArray[np.float64] | None:
    """Scores of the model's own tokens, all or those that are not special; None if the tokens are others."""
    ordinary = [place for place in range(len(row)) if not row.is_special[place]]
    for places in (list(range(len(row))), ordinary):
        own = [row.tokens[place] for place in places]
        if len(scores) == len(places) and (tokens is None or list(tokens) == own):
            found = np.zeros(len(row))
            found[places] = scores
            return found
    if tokens is None:
        raise InvalidInput(
            f"{len(scores)} scores were given, and the model reads {len(row)} tokens, {len(ordinary)} without "
            "special ones. If the scores are of other pieces, say which: tokens=, words= or spans=."
        )
    return None


# --------------------------------------------------------------------------------- by characters


def by_characters(
    model: Model, row: Row, scores: NDArray[np.float64], pieces: Pieces
) -> NDArray[np.float64]:
    """Scores of foreign pieces on the tokens of a row."""
    if row.offsets is None or row.segments is None or model.tokenizer is None:
        raise InvalidInput(
            "the tokenizer of this model gives no offsets, so foreign pieces cannot be placed. "
            "Give one score per token of the model."
        )
    if len(pieces) != len(scores):
        raise InvalidInput(f"{len(pieces)} {pieces.kind}s need as many scores, not {len(scores)}.")
    own = [
        None if special or segment is None else Place(segment, *span)
        for special, segment, span in zip(row.is_special, row.segments, row.offsets, strict=True)
    ]
    if pieces.kind == "span":
        places: list[Place | None] = list(placed(pieces.spans, row.texts))
    else:
        specials = frozenset(model.tokenizer.all_special_tokens) - {model.tokenizer.unk_token}
        places = located(pieces.names, row.texts, specials, pieces.kind)
        check_covered(places, own, row.texts, pieces.kind)
    kept = [n for n, place in enumerate(places) if place is not None]
    ours = [place for place in own if place is not None]
    if [places[n] for n in kept] == ours:
        found = np.zeros(len(row))
        found[[n for n, place in enumerate(own) if place is not None]] = scores[kept]
    else:
        found = spread([p for p in places if p is not None], scores[kept].tolist(), own, row.texts)
    return found + special_scores(
        row, [float(scores[n]) for n in range(len(scores)) if places[n] is None]
    )


def placed(spans: Spans, texts: Sequence[str]) -> list[Place]:
    """Spans as places; refused if they are outside the texts or overlap."""
    found: list[Place] = []
    for number, span in enumerate(spans):
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in span)
        if not whole or len(span) != (2 if len(texts) == 1 else 3):
            form = "(start, end)" if len(texts) == 1 else "(0 or 1, start, end)"
            raise InvalidInput(f"span {number} is {span!r}. Give {form}, in characters.")
        segment, start, end = (0, *span) if len(span) == 2 else span
        if not 0 <= segment < len(texts) or not 0 <= start < end <= len(texts[segment]):
            raise InvalidInput(
                f"span {number}, {span!r}, is not in the text"
                f"{'' if len(texts) == 1 else 's'}, of {' and '.join(str(len(t)) for t in texts)} characters."
            )
        found.append(Place(segment, start, end))
    ordered = sorted(found, key=lambda place: (place.segment, place.start))
    for one, other in pairwise(ordered):
        if one.segment == other.segment and one.end > other.start:
            raise InvalidInput(
                f"the spans ({one.start}, {one.end}) and ({other.start}, {other.end}) overlap. Give each "
                "character one score."
            )
    return found


def check_covered(
    places: Sequence[Place | None], tokens: Sequence[Place | None], texts: Sequence[str], kind: str
) -> None:
    """Refuse names that end before the model does: something of the text would have no score."""
    last = max((p for p in places if p), key=lambda p: (p.segment, p.end), default=None)
    for token in tokens:
        if token is None or not texts[token.segment][token.start : token.end].strip():
            continue
        if last is None or (token.segment, token.start) >= (last.segment, last.end):
            raise InvalidInput(
                f"the {kind}s end before {texts[token.segment][token.start : token.end]!r} at character "
                f"{token.start}, which the model reads. Give a score for all of the text, or spans=."
            )


def special_scores(row: Row, scores: Sequence[float]) -> NDArray[np.float64]:
    """The scores of pieces without characters, in order on the special tokens of the row."""
    found = np.zeros(len(row))
    places = [place for place, special in enumerate(row.is_special) if special]
    if len(places) == len(scores):
        found[places] = scores
    elif any(scores):
        raise InvalidInput(
            f"{len(scores)} pieces have no characters in the text, as special tokens do, and the model reads "
            f"{len(places)} special tokens, so it is not clear which is which. Leave them and their scores out."
        )
    return found
