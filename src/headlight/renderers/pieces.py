"""An attribution as stretches of the original text, which every renderer draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headlight.attribution import Attribution
from headlight.renderers.colours import Palette, is_beyond
from headlight.tokens import in_scale, spelled

BEYOND = "beyond the scale"
"""The word for the colour of scores that are larger than every score in the scale."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text with its score, and its share of the largest score in the scale.

    is_sink: whether attention rests there (see `Attribution`). before: the text between the previous piece and
    this one. positions: the tokens that it covers. segment: the text it belongs to; None for special tokens.
    """

    text: str
    score: float
    share: float
    is_special: bool
    is_sink: bool
    before: str
    positions: tuple[int, ...]
    segment: int | None


@dataclass(frozen=True)
class ColouredText:
    """Pieces of a text on one scale, the colours of their scores, and what the strongest colour stands for."""

    pieces: tuple[Piece, ...]
    is_signed: bool
    colours: Palette
    scale: str

    @property
    def meaning(self) -> tuple[tuple[str, float], ...]:
        """The legend of the colours, as (word, share) pairs."""
        positive, negative, unsigned = self.colours.words
        known = ((positive, 1.0), (negative, -1.0)) if self.is_signed else ((unsigned, 1.0),)
        beyond = [p.share for p in self.pieces if is_beyond(p.share) and not p.is_special]
        return (*known, *((BEYOND, abs(share)) for share in beyond[:1]))


def coloured_text(attribution: Attribution, colours: Palette) -> ColouredText:
    """The text of an attribution in the colours of its scores."""
    shown = tuple(pieces(attribution))
    return ColouredText(shown, attribution.signed, colours, scale_words(attribution))


def pieces(attribution: Attribution) -> list[Piece]:
    """The text in order, with special tokens in their places."""
    return scaled(unscaled(attribution))


def scaled(drafts: Sequence[Piece]) -> list[Piece]:
    """Pieces, perhaps of several heat maps, on one scale.

    A share is relative to the largest magnitude in the scale, so that a large [CLS], or the first token of a
    decoder, does not make all others pale.
    """
    sizes = [
        abs(piece.score) for piece, counts in zip(drafts, counted(drafts), strict=True) if counts
    ]
    largest = max(sizes, default=0.0)
    return [replace(p, share=p.score / largest if largest else 0.0) for p in drafts]


def counted(drafts: Sequence[Piece]) -> list[bool]:
    """Which pieces set the scale."""
    return in_scale([piece.is_special for piece in drafts], [piece.is_sink for piece in drafts])


def token_pieces(
    tokens: Sequence[str],
    scores: Sequence[float],
    is_special: Sequence[bool],
    is_sink: Sequence[bool],
) -> list[Piece]:
    """Pieces of tokens whose text is not available, such as those of a stored run."""
    drafts = []
    for position, token in enumerate(spelled(tokens)):
        text, special, sink = token.lstrip(), is_special[position], is_sink[position]
        before = token[: len(token) - len(text)]
        segment = None if special else 0
        places = (position,)
        drafts.append(Piece(text, scores[position], 0.0, special, sink, before, places, segment))
    return scaled(drafts)


def unscaled(attribution: Attribution) -> list[Piece]:
    """The text in order, without shares.

    Tokens that share a character (the bytes of an emoji) become one piece with the sum of their scores.
    The second text of a pair starts on a new line.
    """
    drafts: list[Piece] = []
    cursors = [0] * max(len(attribution.texts), 1)
    for position, token in enumerate(attribution.tokens):
        score, is_sink = float(attribution.scores[position]), attribution.is_sink[position]
        segment = attribution.segments[position] if attribution.segments else None
        if segment is None or attribution.offsets is None or not attribution.texts:
            is_special, gap = attribution.is_special[position], " " if drafts else ""
            drafts.append(Piece(token, score, 0.0, is_special, is_sink, gap, (position,), None))
            continue
        text, (start, end) = attribution.texts[segment], attribution.offsets[position]
        cursor = cursors[segment]
        if end <= cursor and drafts:
            last = drafts[-1]
            covered = (*last.positions, position)
            drafts[-1] = replace(
                last,
                score=last.score + score,
                is_sink=last.is_sink or is_sink,
                positions=covered,
            )
            continue
        start = max(start, cursor)
        opening = "\n" if segment else " " if drafts else ""
        gap = text[cursor:start] if cursor else opening
        body = text[start:end]
        stripped = body.lstrip()
        before = gap + body[: len(body) - len(stripped)]
        drafts.append(Piece(stripped, score, 0.0, False, is_sink, before, (position,), segment))
        cursors[segment] = end
    return drafts


def headline(attribution: Attribution) -> str:
    """What was explained, in one line."""
    target = attribution.target
    facts = [f"{target.output} {target.logit:.3g}"] if target.output == "logit" else []
    if target.probability is not None:
        facts.append(f"probability {target.probability:.3g}")
    if target.predicted != target.label:
        facts.append(f"predicted: {target.predicted}")
    return f"{attribution.method} · {target.label} ({', '.join(facts)}) · {attribution.model}"


def scale_words(attribution: Attribution) -> str:
    """What the strongest colour stands for."""
    flags = zip(attribution.is_sink, attribution.is_special, attribution.in_scale, strict=True)
    sinks = sum(sink and not special and not scaled for sink, special, scaled in flags)
    others = ("", " but the first", " but the first of each window")[min(sinks, 2)]
    return f"scale: largest ordinary {attribution.unit}{others}"
