"""An attribution as stretches of the original text, which every renderer draws."""

from dataclasses import dataclass

from headlight.attribution import Attribution


@dataclass(frozen=True)
class Piece:
    """A stretch of text with its score and its share of the largest; `before` is what separates it."""

    text: str
    score: float
    share: float
    is_special: bool
    before: str


def pieces(attribution: Attribution) -> list[Piece]:
    """The text in order, with special tokens where they stand.

    Tokens that share a character (the bytes of an emoji) are one piece with the sum of their scores.
    Shares are of the largest magnitude among ordinary tokens, so a dominating [CLS] hides nothing.
    """
    drafts: list[tuple[str, float, bool, str]] = []
    cursors = [0] * max(len(attribution.texts), 1)
    for position, token in enumerate(attribution.tokens):
        score = float(attribution.scores[position])
        segment = attribution.segments[position] if attribution.segments else None
        if segment is None or attribution.offsets is None:
            drafts.append((token, score, attribution.is_special[position], " " if drafts else ""))
            continue
        text, (start, end) = attribution.texts[segment], attribution.offsets[position]
        cursor = cursors[segment]
        if end <= cursor and drafts:
            shown, before_score, is_special, before = drafts[-1]
            drafts[-1] = (shown, before_score + score, is_special, before)
            continue
        start = max(start, cursor)
        gap = text[cursor:start] if cursor else " " * bool(drafts)
        body = text[start:end]
        stripped = body.lstrip()
        drafts.append((stripped, score, False, gap + body[: len(body) - len(stripped)]))
        cursors[segment] = end
    ordinary = [abs(score) for _, score, is_special, _ in drafts if not is_special]
    largest = max(ordinary or [abs(score) for _, score, *_ in drafts])
    return [
        Piece(text, score, score / largest if largest else 0.0, is_special, before)
        for text, score, is_special, before in drafts
    ]


def headline(attribution: Attribution) -> str:
    """What was explained, in one line."""
    target = attribution.target
    facts = [f"{target.output} {target.logit:.3g}"] if target.output == "logit" else []
    if target.probability is not None:
        facts.append(f"probability {target.probability:.3g}")
    if target.predicted != target.label:
        facts.append(f"predicted: {target.predicted}")
    return f"{attribution.method} · {target.label} ({', '.join(facts)}) · {attribution.model}"


def meaning(
    attribution: Attribution, words: tuple[str, str] = ("for", "against")
) -> tuple[tuple[str, float], ...]:
    """What the colours mean: (word, share) pairs for a legend."""
    return ((words[0], 1.0), (words[1], -1.0)) if attribution.signed else (("matters", 1.0),)
