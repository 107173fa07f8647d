"""`HeadStatistics`: what every attention head does on a corpus, counted once; masks are selected from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.files.fields import Check, check_fields, is_count, is_named, is_text, list_of
from headlight.files.storage import read_tensors, write_tensors
from headlight.headmask import HeadMask
from headlight.shapes import Heads

KIND = "head statistics"
COUNTED = ("pairs", "to_head", "from_head", "distances", "offsets")
FARTHEST = 64
"""Relative positions farther than this are counted together."""
RELATIONS = ("nsubj", "obj", "amod", "advmod")
"""The core relations of the Mask-LRP paper."""


@dataclass(frozen=True, eq=False)
class HeadStatistics:
    """Counts over a corpus, by layer and head.

    relations: their names. pairs[k]: how many dependents have relation k.
    to_head[k, layer, head]: how many of them attend most to their syntactic head.
    from_head: how many of those syntactic heads attend most to that dependent.
    distances[k, d]: pairs whose dependent is d − FARTHEST words after its syntactic head.
    offsets[layer, head, d]: tokens whose strongest attention goes d − FARTHEST tokens ahead, out of `tokens`.
    """

    relations: tuple[str, ...]
    pairs: Tensor
    to_head: Tensor
    from_head: Tensor
    distances: Tensor
    offsets: Tensor
    tokens: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------------------ reading

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and heads."""
        return self.offsets.shape[0], self.offsets.shape[1]

    def number(self, relation: str) -> int:
        """The number of a relation."""
        if relation not in self.relations:
            raise unknown_name("relation in the corpus", relation, self.relations)
        return self.relations.index(relation)

    def frequency(self, relation: str, *, reverse: bool = False) -> Tensor:
        """α_k [layer, head]: the share of dependents that attend most to their head, or the reverse."""
        k = self.number(relation)
        return (self.from_head if reverse else self.to_head)[k] / self.pairs[k].clamp(min=1)

    def distance_shares(self, relation: str) -> Tensor:
        """λ_k: the distribution of the distance between dependent and head, in words."""
        k = self.number(relation)
        return self.distances[k] / self.pairs[k].clamp(min=1)

    @property
    def offset_shares(self) -> Tensor:
        """[layer, head, offset]: the distribution of the relative position of the strongest attention."""
        return self.offsets / max(1, self.tokens)

    # ---------------------------------------------------------------------------- selecting

    def mask(
        self,
        *,
        syntactic: float = 0.1,
        positional: float = 0.8,
        relations: Sequence[str] = RELATIONS,
        counts_self: bool = False,
        reverse: bool = False,
    ) -> HeadMask:
        """Syntactic heads, with α_k > max λ_k + `syntactic` for a relation, and positional heads.

        A head is positional if more than the share `positional` of its strongest attention goes to one
        relative position; position 0, the token itself, counts only with `counts_self`. With `reverse`, heads
        that attend from a syntactic head to its dependent are syntactic too.
        """
        for name, value in (("syntactic", syntactic), ("positional", positional)):
            if not 0 <= value <= 1:
                raise InvalidOption(f"{name}={value} is not a share. Use 0 to 1.")
        follows = self.following(relations, syntactic, reverse)
        looks_at = self.looking_at(positional, counts_self)
        parts = {
            "syntactic": torch.stack(list(follows.values())).any(0),
            "positional": any_of(looks_at.values(), like=self.offsets[..., 0]),
        }
        settings = {
            "syntactic": syntactic,
            "positional": positional,
            "relations": list(follows),
            "counts_self": counts_self,
            "reverse": reverse,
        }
        # Layers and heads count from 1 wherever people may read them.
        roles = {
            role: (heads.nonzero() + 1).tolist() for role, heads in {**follows, **looks_at}.items()
        }
        return HeadMask(parts, {**self.facts, "thresholds": settings, "roles": roles})

    def following(self, relations: Sequence[str], margin: float, reverse: bool) -> dict[str, Heads]:
        """The attention heads that follow each of these relations, as far as the corpus has them."""
        chosen = [relation for relation in relations if relation in self.relations]
        if not chosen:
            raise InvalidInput(
                f"the corpus has none of the relations {', '.join(relations)}; it has "
                f"{', '.join(self.relations[:12]) or 'none at all'}. Is the parser for its language?"
            )
        heads: dict[str, Heads] = {}
        for relation in chosen:
            # A head that always looks at the most frequent distance would be right this often.
            limit = float(self.distance_shares(relation).max()) + margin
            heads[relation] = self.frequency(relation) > limit
            if reverse:
                heads[relation] |= self.frequency(relation, reverse=True) > limit
        return heads

    def looking_at(self, share: float, counts_self: bool) -> dict[str, Heads]:
        """The heads that look at one relative position more often than this share, by position."""
        is_at = self.offset_shares > share
        # The first and last offset count everything farther away, not one position.
        is_at[:, :, [0, -1]] = False
        if not counts_self:
            is_at[:, :, FARTHEST] = False
        offsets = is_at.any(0).any(0).nonzero()[:, 0].tolist()
        return {f"{offset - FARTHEST:+d}": is_at[:, :, offset] for offset in offsets}

    # ------------------------------------------------------------------------------- adding

    def __add__(self, other: "HeadStatistics") -> "HeadStatistics":
        """The counts of both corpora together; both must be of the same model."""
        for fact in ("model", "fingerprint"):
            if self.facts.get(fact) != other.facts.get(fact):
                raise InvalidInput(
                    f"counts of different models cannot be added: {fact} {self.facts.get(fact)} and "
                    f"{other.facts.get(fact)}."
                )
        names = list(dict.fromkeys([*self.relations, *other.relations]))

        def together(field_name: str) -> Tensor:
            mine: Tensor = getattr(self, field_name)
            theirs: Tensor = getattr(other, field_name)
            total = mine.new_zeros(len(names), *mine.shape[1:])
            for counts, relations in ((mine, self.relations), (theirs, other.relations)):
                total[[names.index(relation) for relation in relations]] += counts
            return total

        facts = {**self.facts, "tokens": self.tokens + other.tokens}
        facts["texts"] = self.facts.get("texts", 0) + other.facts.get("texts", 0)
        if self.facts.get("corpus") != other.facts.get("corpus"):
            facts["corpus"] = f"{self.facts.get('corpus')} + {other.facts.get('corpus')}"
        return HeadStatistics(
            relations=tuple(names),
            **{name: together(name) for name in COUNTED[:-1]},
            offsets=self.offsets + other.offsets,
            tokens=self.tokens + other.tokens,
            facts=facts,
        )

    # ------------------------------------------------------------------------------ storing

    def save(self, path: str | Path) -> None:
        """Write the counts as safetensors, whole or not at all."""
        about = {"relations": self.relations, "tokens": self.tokens, "facts": dict(self.facts)}
        write_tensors(path, {name: getattr(self, name) for name in COUNTED}, KIND, about)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read counts that were saved."""
        counts, about, _ = read_tensors(path, KIND)
        try:
            check_fields(about, ABOUT, KIND)
            check_counts(counts, len(about["relations"]))
        except InvalidInput as error:
            raise InvalidInput(f"no {KIND} can be read from '{path}': {error}") from error
        relations = tuple(about["relations"])
        return cls(relations=relations, tokens=about["tokens"], facts=about["facts"], **counts)


def are_facts(value: Any) -> bool:
    """Whether a value is an object of facts in which the number of texts is a count."""
    return is_named(value) and is_count(value.get("texts", 0))


def are_names(value: Any) -> bool:
    """Whether a value is a list of names, each once."""
    return bool(list_of(is_text)(value)) and len(set(value)) == len(value)


ABOUT: dict[str, tuple[Check, str]] = {
    "relations": (are_names, "names of relations, each once"),
    "tokens": (is_count, "the number of tokens"),
    "facts": (are_facts, "facts about the corpus and the model, by name"),
}


def check_counts(counts: Mapping[str, Tensor], relation_count: int) -> None:
    """Refuse counts that are incomplete, do not fit together, or are not counts."""
    if sorted(counts) != sorted(COUNTED):
        raise InvalidInput(f"it holds {sorted(counts)}, not {sorted(COUNTED)}. Learn it again.")
    heads, width = tuple(counts["offsets"].shape[:2]), 2 * FARTHEST + 1
    shapes = {
        "pairs": (relation_count,),
        "to_head": (relation_count, *heads),
        "from_head": (relation_count, *heads),
        "distances": (relation_count, width),
        "offsets": (*heads, width),
    }
    for name, shape in shapes.items():
        values = counts[name]
        if tuple(values.shape) != shape or len(heads) != 2 or 0 in heads:
            raise InvalidInput(
                f"'{name}' has the shape {tuple(values.shape)}, not {shape}. Learn it again."
            )
        if values.is_complex() or not (values.isfinite().all() and (values >= 0).all()):
            raise InvalidInput(f"'{name}' holds values that are not counts. Learn it again.")


def any_of(sets: Iterable[Heads], like: Tensor) -> Heads:
    """The heads that are in any of these sets; none if there are no sets."""
    union = torch.zeros_like(like, dtype=torch.bool)
    for heads in sets:
        union = union | heads
    return union
