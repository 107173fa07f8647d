"""The bodies of requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headlight.batch import Text
from headlight.target import Target

Format = Literal["html", "svg", "json", "latex"]
Mask = Annotated[list[list[bool]], Field(max_length=512)]
Name = Annotated[str, Field(max_length=200)]


class Question(BaseModel):
    """A text or a pair of texts, and which decision of the model to explain."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str
    pair: str | None = None
    target: Name | None = Field(None, description="label or token; default: the prediction")
    contrast: Name | None = Field(None, description="explain why the target rather than this")

    @property
    def input(self) -> Text:
        """The text or the pair."""
        return (self.text, self.pair) if self.pair is not None else self.text

    @property
    def asked(self) -> Target:
        """The target as the library takes it."""
        return Target(label=self.target or None, contrast=self.contrast or None)


class Explain(Question):
    """Methods to explain with; `mask` is the head mask for mask_lrp, [layer][head]."""

    methods: list[Name] = Field(min_length=1)
    mask: Mask | None = None


class Curves(Explain):
    """How the probability falls as tokens are removed in the order of each method."""

    change: Name = "delete"


class Hide(Question):
    """The same question with some tokens removed; `hidden` has their positions."""

    hidden: list[int] = Field(max_length=10_000)
    change: Name = "delete"


class Layers(Question):
    """One method layer by layer."""

    method: Name = "attcat"


class Mix(Question):
    """How much of every input token is in every output token."""

    method: Name = "alti"
    layer: int = Field(-1, description="1 is the first layer, -1 the last")
    accumulated: bool = True


class Generate(BaseModel):
    """Explain each token of a continuation of a text; the model writes it if none is given."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    text: str
    method: Name | None = Field(None, description="default: the library's default method")
    tokens: int = Field(12, ge=1)
    continuation: Annotated[str, Field(max_length=2_000)] | None = None


class Export(Explain):
    """An explanation as a file."""

    format: Format = "html"
    words: bool = False
    difference: bool = False
