"""Attributions and predictions as the page shows them, ready for JSON; nothing is computed here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, log10

import numpy as np

from headlight.attribution import Attribution, grouped
from headlight.explaining.prediction import Prediction
from headlight.explaining.robust import Outcome
from headlight.renderers.characters import harmless
from headlight.renderers.matrix import Cells
from headlight.renderers.pieces import Piece, counted, scaled, unscaled
from headlight.web.replies import Attributed, Decided, Explanation, Grid, Shown, Views

DIGITS = 6
"""Digits of the largest score that a matrix keeps."""


def made_of(outcomes: Mapping[str, Outcome]) -> list[Attribution]:
    """The attributions of the methods that gave one."""
    return [each for each in outcomes.values() if isinstance(each, Attribution)]


def failures_of(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    """Why the other methods gave no attribution, by name."""
    return {name: str(each) for name, each in outcomes.items() if not isinstance(each, Attribution)}


def explanation_reply(prediction: Prediction, outcomes: Mapping[str, Outcome]) -> Explanation:
    """The reply to one question; at least one method gave an attribution."""
    made = made_of(outcomes)
    return {
        "prediction": decided(prediction, made[0]),
        "tokens": list(prediction.row.tokens),
        "attributions": [attributed(each) for each in made],
        "failures": failures_of(outcomes),
    }


def decided(prediction: Prediction, attribution: Attribution) -> Decided:
    """What the model decided, and which label was explained."""
    target = attribution.target
    return {
        "labels": [name for name, _ in prediction.choices],
        "probabilities": [share for _, share in prediction.choices] or None,
        "predicted": target.predicted,
        "explained": target.label,
        "logit": target.logit,
        "probability": target.probability,
    }


def attributed(attribution: Attribution) -> Attributed:
    """The answer of one method, with its stored form."""
    (views,) = views_of([attribution])
    return {
        "method": attribution.method,
        "signed": attribution.signed,
        "notes": list(attribution.notes),
        **views,
        "data": attribution.to_dict(),
    }


def views_of(attributions: Sequence[Attribution]) -> list[Views]:
    """Every attribution by token and by word, all of them on one scale."""
    by_token = on_one_scale(attributions)
    has_words = all(a.word_ids is not None and a.offsets is not None for a in attributions)
    tokens = [shown(each) for each in by_token]
    if not has_words:
        return [{"pieces": each, "words": each} for each in tokens]
    by_word = on_one_scale([each.words() for each in attributions])
    return [
        {"pieces": pieces, "words": words_shown(words, attribution)}
        for pieces, words, attribution in zip(tokens, by_word, attributions, strict=True)
    ]


def on_one_scale(attributions: Sequence[Attribution]) -> list[list[Piece]]:
    """The pieces of every attribution, in shares of the largest score of any of them."""
    drafts = [unscaled(each) for each in attributions]
    pieces = iter(scaled([piece for each in drafts for piece in each]))
    return [[next(pieces) for _ in each] for each in drafts]


def words_shown(words: Sequence[Piece], attribution: Attribution) -> list[Shown]:
    """Whole words with the positions of their tokens."""
    groups = grouped(attribution.word_ids or ())
    covering = [
        replace(word, positions=tuple(p for place in word.positions for p in groups[place]))
        for word in words
    ]
    return shown(covering)


def shown(pieces: Sequence[Piece]) -> list[Shown]:
    """The pieces of one heat map."""
    return [
        {
            "text": harmless(piece.text),
            "before": harmless(piece.before),
            "score": piece.score,
            "share": round(piece.share, 4),
            "special": piece.is_special,
            "in_scale": counts,
            "positions": list(piece.positions),
            "segment": piece.segment,
        }
        for piece, counts in zip(pieces, counted(pieces), strict=True)
    ]


def rounded(cells: Cells) -> tuple[Grid, float]:
    """The values of a matrix, 0 where there is none, and the largest in the scale, with a few digits."""
    places = DIGITS - floor(log10(cells.largest)) if cells.largest > 0 else DIGITS
    values = np.round(np.nan_to_num(cells.values).astype(np.float64), places)
    return values.tolist(), float(np.round(cells.largest, places))
