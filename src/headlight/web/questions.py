"""What may be asked: the bodies of requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headlight.batch import Text
from headlight.target import Target

Format = Literal["html", "svg", "json", "latex"]
Mask = Annotated[list[list[bool]], Field(max_length=512)]
Name = Annotated[str, Field(max_length=200)]


class Question(BaseModel):
    """A text, or a pair of texts, and what of the model's decision is to be explained."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str
    pair: str | None = None
    target: Name | None = Field(None, description="what the model predicts, if not given")
    contrast: Name | None = Field(None, description="why the target rather than this")

    @property
    def input(self) -> Text:
        """The text or the pair."""
        return (self.text, self.pair) if self.pair is not None else self.text

    @property
    def asked(self) -> Target:
        """The target as the library takes it."""
        return Target(label=self.target or None, contrast=self.contrast or None)


class Explain(Question):
    """Methods side by side; `mask` is the head mask of mask_lrp, [layer][head]."""

    methods: list[Name] = Field(min_length=1)
    mask: Mask | None = None


class Curves(Explain):
    """How the probability falls as tokens are taken away in the order of each method."""

    change: Name = "delete"


class Hide(Question):
    """The same question without some tokens, by their positions."""

    hidden: list[int] = Field(max_length=10_000)
    change: Name = "delete"


class Layers(Question):
    """One method layer by layer."""

    method: Name = "attcat"


class Mix(Question):
    """How much of every token is in every other."""

    method: Name = "alti"
    layer: int = Field(-1, description="1 is the first layer, −1 the last")
    accumulated: bool = True


class Generate(BaseModel):
    """A continuation of a text, the model's own if none is given, and what made each token of it."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str
    method: Name | None = Field(None, description="the default of the library, if not given")
    tokens: int = Field(12, ge=1)
    continuation: Annotated[str, Field(max_length=2_000)] | None = None


class Export(Explain):
    """An explanation as a file."""

    format: Format = "html"
    words: bool = False
    difference: bool = False
