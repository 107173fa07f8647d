"""`Target`: the one number per row that is explained, as the caller names it."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Self

from headlight.errors import InvalidOption

Label = str | int
FIELDS = {
    "label": "a class or token by its name or number",
    "contrast": "a class or token by its name or number",
    "position": "the number of a token; −1 is the last",
    "word": "the number of a word, from 0 on",
    "span": "the numbers of the first and the last token of the answer",
    "weights": "one number per token of the span",
}
"""What each field of a target may be."""


def is_number(value: object) -> bool:
    """Whether a value is a whole number; booleans are not."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Target:
    """What to explain; by default, what the model predicted.

    label: a class by name or index; in language models a vocabulary token by its text or id; in
        question answering the answer's text.
    contrast: a second class or token whose value is subtracted: why `label` rather than this one.
    position: the token at which a token classifier or masked language model decides; for a causal one, the
        token after which it decides (by default the last).
    word: the same position, given as the number of a word in the text.
    span: the first and last token of an answer; for a causal language model, tokens of the input, each of
        which is explained as what the model writes after those before it.
    weights: how much each token of the span of a causal language model counts; by default 1.
    part: explain the whole answer span, or only its start or its end.
    output: the logit, or the probability.
    """

    label: Label | None = None
    contrast: Label | None = None
    position: int | None = None
    word: int | None = None
    span: tuple[int, int] | None = None
    part: Literal["span", "start", "end"] = "span"
    output: Literal["logit", "probability"] = "logit"
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name in FIELDS:
            object.__setattr__(self, name, self.checked(name))
        choices = {"part": ("span", "start", "end"), "output": ("logit", "probability")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InvalidOption(
                    f"Target({name}={getattr(self, name)!r}) is not possible. "
                    f"Use one of {', '.join(map(repr, allowed))}."
                )

    def checked(self, name: str) -> Any:
        """The value of a field in Python's own types; refused if the field does not take it."""
        value = getattr(self, name)
        value = value.tolist() if hasattr(value, "tolist") else value
        if name == "span" and isinstance(value, list | tuple) and len(value) == 2:
            if all(is_number(end) for end in value):
                return tuple(int(end) for end in value)
        elif name == "weights" and isinstance(value, list | tuple) and self.span is not None:
            is_right = len(value) == self.span[1] - self.span[0] + 1
            if is_right and all(isinstance(w, int | float) and isfinite(w) for w in value):
                return tuple(float(weight) for weight in value)
        elif name in ("label", "contrast") and isinstance(value, str):
            return value
        if value is None or (name not in ("span", "weights") and is_number(value)):
            return value
        raise InvalidOption(f"Target({name}={value!r}) is not possible. Give {FIELDS[name]}.")

    @classmethod
    def of(cls, value: "TargetLike") -> Self:
        """A target from its short forms: nothing, a label, or a pair (label, contrast)."""
        plain: Any = value
        plain = plain.tolist() if hasattr(plain, "tolist") else plain  # numbers of numpy and torch
        if plain is None:
            return cls()
        if isinstance(plain, cls):
            return plain
        if isinstance(plain, tuple) and len(plain) == 2:
            return cls(label=plain[0], contrast=plain[1])
        if isinstance(plain, str) or is_number(plain):
            return cls(label=plain)
        raise InvalidOption(
            f"target={plain!r} is not understood. Give a label by name or index, a pair "
            "(label, rather than this label), a headlight.Target, or a list with one of these per text."
        )


TargetLike = Target | Label | tuple[Label, Label] | None
