"""`Target`: the one number per row that is explained, as the caller names it."""

from dataclasses import dataclass
from typing import Literal, Self

from headlight.errors import InvalidOption

Choice = str | int


@dataclass(frozen=True)
class Target:
    """What to explain; everything left out is what the model predicted.

    label: a class by name or index; in language models a vocabulary token by its text or id; in
        question answering the answer's text.
    contrast: a second class or token whose number is subtracted: why `label` rather than this one.
    position: the token at which a token classifier or masked language model decides.
    word: the same as the number of a word in the text.
    span: first and last token of an answer.
    part: explain the whole answer span, or only its start or its end.
    output: the logit, or the probability.
    """

    label: Choice | None = None
    contrast: Choice | None = None
    position: int | None = None
    word: int | None = None
    span: tuple[int, int] | None = None
    part: Literal["span", "start", "end"] = "span"
    output: Literal["logit", "probability"] = "logit"

    def __post_init__(self) -> None:
        choices = {"part": ("span", "start", "end"), "output": ("logit", "probability")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InvalidOption(
                    f"Target({name}={getattr(self, name)!r}) is not possible. "
                    f"Use one of {', '.join(map(repr, allowed))}."
                )

    @classmethod
    def of(cls, value: "TargetLike") -> Self:
        """A target from its short forms: nothing, a label, or a pair (label, contrast)."""
        if value is None:
            return cls()
        if isinstance(value, cls):
            return value
        if isinstance(value, tuple) and len(value) == 2:
            return cls(label=value[0], contrast=value[1])
        if isinstance(value, str | int) and not isinstance(value, bool):
            return cls(label=value)
        raise InvalidOption(
            f"target={value!r} is not understood. Give a label by name or index, a pair "
            "(label, rather than this label), a headlight.Target, or a list with one of these per text."
        )


TargetLike = Target | Choice | tuple[Choice, Choice] | None
