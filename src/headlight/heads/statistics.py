"""`HeadStatistics`: what every attention head does on a corpus, counted once and selected from at will."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.headmask import HeadMask

FORMAT = "headlight head statistics 1"
FARTHEST = 64
"""Relative positions farther than this are counted together."""
RELATIONS = ("nsubj", "obj", "amod", "advmod")
"""The core relations of the Mask-LRP paper."""


@dataclass(frozen=True, eq=False)
class HeadStatistics:
    """Counts over a corpus, by layer and head.

    relations: names; pairs[k]: dependents with relation k. to_head[k, layer, head]: how many of them
    attend most to their head; from_head: how many heads attend most to that dependent. distances[k, d]:
    pairs whose dependent stands d − FARTHEST words after its head. offsets[layer, head, d]: tokens whose
    strongest attention goes d − FARTHEST tokens on, of `tokens` in all.
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

        A head is positional if one relative position has more than the share `positional` of its
        strongest attention; position 0, the token itself, counts with `counts_self`. `reverse` also
        takes heads that attend from the head to its dependent.
        """
        for name, value in (("syntactic", syntactic), ("positional", positional)):
            if not 0 <= value <= 1:
                raise InvalidOption(f"{name}={value} is not a share. Use 0 to 1.")
        chosen = [relation for relation in relations if relation in self.relations]
        if not chosen:
            raise InvalidInput(
                f"the corpus has none of the relations {', '.join(relations)}; it has "
                f"{', '.join(self.relations[:12]) or 'none at all'}. Is the parser for its language?"
            )
        found = torch.zeros(self.shape, dtype=torch.bool)
        for relation in chosen:
            limit = float(self.distance_shares(relation).max()) + syntactic
            found |= self.frequency(relation) > limit
            if reverse:
                found |= self.frequency(relation, reverse=True) > limit
        shares = self.offset_shares[:, :, 1:-1].clone()
        if not counts_self:
            shares[:, :, FARTHEST - 1] = 0
        settings = {
            "syntactic": syntactic,
            "positional": positional,
            "relations": chosen,
            "counts_self": counts_self,
            "reverse": reverse,
        }
        parts = {"syntactic": found, "positional": (shares > positional).any(-1)}
        return HeadMask(parts, {**self.facts, "thresholds": settings})

    # ------------------------------------------------------------------------------ storing

    def save(self, path: str | Path) -> None:
        """Write the counts as safetensors, whole or not at all."""
        target = Path(path)
        unfinished = target.with_name(f"{target.name}.part")
        counts = {
            name: getattr(self, name).contiguous()
            for name in ("pairs", "to_head", "from_head", "distances", "offsets")
        }
        about = {"relations": self.relations, "tokens": self.tokens, "facts": dict(self.facts)}
        save_file(counts, unfinished, {"format": FORMAT, "about": json.dumps(about)})
        unfinished.replace(target)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read counts that were saved."""
        try:
            with safe_open(path, "pt") as file:
                facts = file.metadata() or {}
                counts = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise InvalidInput(f"no head statistics can be read from '{path}': {error}.") from error
        if facts.get("format") != FORMAT:
            raise InvalidInput(
                f"'{path}' does not hold head statistics: it does not say '{FORMAT}'."
            )
        about = json.loads(facts["about"])
        return cls(
            relations=tuple(about["relations"]),
            tokens=about["tokens"],
            facts=about["facts"],
            **counts,
        )
