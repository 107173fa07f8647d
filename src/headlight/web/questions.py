"""The bodies of requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from headlight.batch import Text
from headlight.errors import InvalidInput
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
    def texts(self) -> list[str]:
        """Everything that was written."""
        return [self.text, self.pair or ""]

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


class SwitchOff(Question):
    """The same question with some attention heads switched off; `off` has layer and head of each, from 1 on."""

    off: list[tuple[int, int]] = Field(max_length=50_000)


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

    @property
    def texts(self) -> list[str]:
        """Everything that was written."""
        return [self.text, self.continuation or ""]


class Export(Explain):
    """An explanation as a file."""

    format: Format = "html"
    words: bool = False
    difference: bool = False


class Message(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class Passage(BaseModel):
    """A source: a passage with a name."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)]
    text: str


class Ask(BaseModel):
    """A question to a language model, as a text or a chat, and the sources to answer it from."""

    model_config = ConfigDict(extra="forbid")

    model: Name
    prompt: str | Annotated[list[Message], Field(min_length=1, max_length=100)]
    sources: list[Passage] = []

    @property
    def texts(self) -> list[str]:
        """Everything that was written."""
        said = [self.prompt] if isinstance(self.prompt, str) else [m.content for m in self.prompt]
        return [*said, *(source.text for source in self.sources), getattr(self, "answer", "")]

    @property
    def asked(self) -> str | list[dict[str, str]]:
        """The prompt as the library takes it."""
        if isinstance(self.prompt, str):
            return self.prompt
        return [message.model_dump() for message in self.prompt]

    def passages(self, without: tuple[str, ...] = ()) -> dict[str, str] | None:
        """The sources by name, as the library takes them, but for those taken away; None if there are none."""
        named = {source.name: source.text for source in self.sources}
        if len(named) < len(self.sources):
            names = [source.name for source in self.sources]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(f"two sources are named '{twice}'. Give each a name of its own.")
        for name in without:
            if name not in named:
                raise InvalidInput(f"no source is named '{name}', so it cannot be taken away.")
        return {name: text for name, text in named.items() if name not in without} or None


class Write(Ask):
    """Let the model write the answer."""

    tokens: int = Field(64, ge=1)


class ExplainAnswer(Ask):
    """Explain an answer: each of its sentences, or some of its words."""

    answer: str
    method: Name | None = Field(None, description="default: the library's default method")
    of: Literal["sentences", "words"] = "sentences"
    first: int = Field(0, ge=0, description="of='words': the first word to explain, from 0 on")
    count: int | None = Field(
        None, ge=1, description="of='words': how many; default: all that follow"
    )


class Without(Ask):
    """The same answer after the prompt without some of its sources, which are named."""

    answer: str
    without: list[Name] = Field(min_length=1)
