"""`HeadMask`: which attention heads relevance may enter, in named parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch

from headlight.display import html_of, terminal_form
from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.files.fields import is_count, is_named, list_of
from headlight.files.storage import read_tensors, write_tensors
from headlight.frozen import FrozenMapping
from headlight.shapes import Heads

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Drawn = Literal["overall", "by_layer"]
"""Where random heads are drawn: anywhere, or in each layer as many as the mask has there."""
KIND = "head mask"
VERSION = 2
"""The format of new files. In version 1, roles counted layers and heads from 0."""


@dataclass(frozen=True, eq=False)
class HeadMask:
    """Heads by part, each a boolean [layer, head]: 'syntactic' and 'positional', or one part of another name.

    Arguments and facts that name a layer or head by number count from 1, as pictures and messages do.

    facts: what the mask was made from (model, fingerprint, corpus, parser, thresholds, counts).
    """

    parts: Mapping[str, Heads]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidInput("a head mask needs at least one part.")
        for name, part in self.parts.items():
            check_heads(part, f"the part '{name}' of a head mask")
        shapes = {tuple(part.shape) for part in self.parts.values()}
        if len(shapes) > 1:
            raise InvalidInput(
                f"the parts of a head mask must all be [layer, head]; these are {sorted(shapes)}."
            )
        frozen = {name: part.detach().cpu().bool().clone() for name, part in self.parts.items()}
        object.__setattr__(self, "parts", FrozenMapping(frozen))
        object.__setattr__(self, "facts", FrozenMapping(self.facts))

    @classmethod
    def of(cls, heads: Any, *, name: str = "given") -> Self:
        """A mask of one part from a 0/1 tensor, array or nested list [layer, head]."""
        try:
            values = heads if isinstance(heads, torch.Tensor) else torch.as_tensor(np.array(heads))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"a head mask is made of zeros and ones, [layer, head], not of {str(heads)[:60]}."
            ) from error
        check_heads(values, "a head mask")
        return cls({name: values.bool()})

    @classmethod
    def at(cls, places: Iterable[tuple[int, int]], layers: int, heads: int) -> Self:
        """The mask of these heads, each (layer, head), in a network of this many layers and heads."""
        mask = torch.zeros(layers, heads, dtype=torch.bool)
        for layer, head in places:
            check_place(layer, head, layers, heads)
            mask[layer - 1, head - 1] = True
        return cls({"given": mask})

    @classmethod
    def full(cls, layers: int, heads: int) -> Self:
        """The mask that keeps every head."""
        return cls({"all": torch.ones(layers, heads, dtype=torch.bool)})

    # ------------------------------------------------------------------------------ reading

    @property
    def heads(self) -> Heads:
        """The heads that are in any part."""
        return torch.stack(list(self.parts.values())).any(0)

    @property
    def count(self) -> int:
        """How many heads the mask keeps."""
        return int(self.heads.sum())

    def __str__(self) -> str:
        return f"{'+'.join(self.parts)}: {self.count} of {self.heads.numel()} heads"

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)

    def part(self, name: str) -> Self:
        """The mask with only one part."""
        if name not in self.parts:
            raise unknown_name("part of the head mask", name, self.parts)
        return replace(self, parts={name: self.parts[name]})

    def kind(self, layer: int, head: int) -> str | None:
        """Why a head is kept: 'syntactic', 'positional', 'both', or 'kept' for a part of another name."""
        check_place(layer, head, *self.heads.shape)
        parts = [name for name, part in self.parts.items() if part[layer - 1, head - 1]]
        named = [name for name in parts if name in ("syntactic", "positional")]
        if len(named) == 2:
            return "both"
        return named[0] if named else "kept" if parts else None

    @property
    def roles(self) -> dict[tuple[int, int], tuple[str, ...]]:
        """What each head was found to do: relations it follows, relative positions it looks at."""
        roles: dict[tuple[int, int], tuple[str, ...]] = {}
        for role, places in self.facts.get("roles", {}).items():
            for layer, head in places:
                roles[layer, head] = (*roles.get((layer, head), ()), role)
        return roles

    def overlap(self, other: "HeadMask") -> float:
        """Jaccard overlap of two masks; 1 for two empty ones."""
        either = int((self.heads | self.like(other).heads).sum())
        return int((self.heads & other.heads).sum()) / either if either else 1.0

    # ----------------------------------------------------------------------------- changing

    def like(self, other: "HeadMask") -> "HeadMask":
        """The other mask; refused unless it has the same shape."""
        if other.heads.shape != self.heads.shape:
            raise InvalidInput(
                f"masks of {list(self.heads.shape)} and {list(other.heads.shape)} heads cannot be combined."
            )
        return other

    def __or__(self, other: "HeadMask") -> "HeadMask":
        return HeadMask({"union": self.heads | self.like(other).heads})

    def __and__(self, other: "HeadMask") -> "HeadMask":
        return HeadMask({"intersection": self.heads & self.like(other).heads})

    def __invert__(self) -> "HeadMask":
        return HeadMask({"others": ~self.heads})

    def corrupted(self, rate: float, seed: int = 0) -> "HeadMask":
        """The mask with this share of the other heads added at random; 1 adds them all (paper, Fig. 4)."""
        if not 0 <= rate <= 1:
            raise InvalidOption(f"corruption {rate} is not a share. Use 0 to 1.")
        if rate == 0:
            return self
        others = (~self.heads).flatten().nonzero()[:, 0]
        chosen = others[self.draw(len(others), seed)[: round(rate * len(others))]]
        added = torch.zeros(self.heads.numel(), dtype=torch.bool)
        added[chosen] = True
        return HeadMask({**self.parts, "corrupted": added.view(self.heads.shape)}, self.facts)

    def random_like(self, seed: int = 0, drawn: Drawn = "overall") -> "HeadMask":
        """A random mask with the same number of heads: of all, or in every layer."""
        layers = [self.heads.flatten()] if drawn == "overall" else list(self.heads)
        random = torch.Generator().manual_seed(seed)
        chosen = torch.cat(
            [layer[torch.randperm(len(layer), generator=random)] for layer in layers]
        )
        return HeadMask({"random": chosen.view(self.heads.shape)})

    @staticmethod
    def draw(count: int, seed: int) -> torch.Tensor:
        """The numbers below `count` in a random order."""
        return torch.randperm(count, generator=torch.Generator().manual_seed(seed))

    # ------------------------------------------------------------------------------ storing

    def save(self, path: str | Path) -> None:
        """Write the mask and its facts as safetensors, whole or not at all."""
        parts = {name: part.to(torch.uint8) for name, part in self.parts.items()}
        write_tensors(path, parts, KIND, self.facts, VERSION)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a mask that was saved."""
        parts, facts, version = read_tensors(path, KIND, VERSION)
        check_roles(facts.get("roles", {}))
        if version == 1:
            facts["roles"] = {
                role: [[layer + 1, head + 1] for layer, head in places]
                for role, places in facts.get("roles", {}).items()
            }
        mask = cls(parts, facts)
        mask.check_places()
        return mask

    def check_places(self) -> None:
        """Refuse roles of heads that this mask does not have."""
        layers, heads = self.heads.shape
        for layer, head in self.roles:
            if not (1 <= layer <= layers and 1 <= head <= heads):
                raise InvalidInput(
                    f"a head mask of {layers} layers with {heads} heads has a role for head {head} of "
                    f"layer {layer}."
                )


def check_place(layer: int, head: int, layers: int, heads: int) -> None:
    """Refuse a head that a network of this many layers and heads does not have."""
    if not (1 <= layer <= layers and 1 <= head <= heads):
        raise InvalidOption(
            f"head {head} of layer {layer} does not exist: there are layers 1 to {layers} with heads 1 to "
            f"{heads}."
        )


def check_roles(roles: Any) -> None:
    """Refuse anything but lists of [layer, head] by name."""
    places: list[Any] = list(roles.values()) if is_named(roles) else [None]
    if not all(list_of(list_of(is_count, size=2))(each) for each in places):
        raise InvalidInput("the roles of a head mask must be lists of [layer, head] by name.")


def check_heads(values: Any, name: str) -> None:
    """Refuse anything but a tensor [layer, head] of zeros and ones."""
    if not isinstance(values, torch.Tensor):
        raise InvalidInput(f"{name} must be a tensor [layer, head], not a {type(values).__name__}.")
    if values.dim() != 2 or not values.numel():
        raise InvalidInput(
            f"{name} must be [layer, head]; this has the shape {list(values.shape)}."
        )
    other = values[(values != 0) & (values != 1)]
    if other.numel():
        raise InvalidInput(
            f"{name} is made of zeros and ones, [layer, head]; this has {other[0].item()!r} in it."
        )
