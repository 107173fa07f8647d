"""`Probe`: an input with tokens removed, on which the model is run; `Outcome`: what the model returned."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from headlight.batch import Row
from headlight.errors import InvalidOption
from headlight.models.model import POOLED, Model


@dataclass(frozen=True)
class Probe:
    """One input and the logits that are read: of these classes, at these token positions.

    kept: the share of the elements of each token's embedding that are not set to 0, drawn with the seed `draw`;
    None keeps all of them.
    """

    ids: tuple[int, ...]
    attended: tuple[bool, ...]
    types: tuple[int, ...] | None
    positions: tuple[int, ...]
    classes: tuple[int, ...]
    kept: tuple[float, ...] | None = None
    draw: int = 0

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Outcome:
    """The target's logit and log-probability, and the class that the model finds most probable there."""

    logit: float
    log_probability: float
    predicted: int


@dataclass(frozen=True)
class Subject:
    """A row, where its decision is read, and the tokens that replace removed ones.

    is_pooled: the head decides once for the whole row, so positions of logits mean nothing.
    """

    row: Row
    positions: tuple[int, ...]
    classes: tuple[int, ...]
    is_pooled: bool
    mask_id: int | None
    pad_id: int | None
    unknown_id: int | None = None

    @property
    def whole(self) -> Probe:
        """The unchanged row."""
        return Probe(self.row.ids, self.row.attended, self.row.types, self.positions, self.classes)

    @property
    def eligible(self) -> list[int]:
        """The positions that may be removed: neither special nor where the decision is read."""
        kept = set() if self.is_pooled else set(self.positions)
        special = self.row.is_special
        return [p for p in range(len(self.row)) if not special[p] and p not in kept]

    def without(self, removed: Collection[int], change: str) -> Probe:
        """The row with these tokens removed by one of the CHANGES."""
        gone = set(removed)
        if change == "delete":
            return self.shorter(gone)
        ids, attended = self.replaced(gone, change)
        return replace(self.whole, ids=ids, attended=attended)

    def replaced(
        self, gone: Collection[int], change: str
    ) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """The ids of the row with these tokens replaced by a change other than 'delete', and its mask."""
        check_change(change)
        token = self.token(change)
        attended = self.row.attended
        if change in ("pad", "hide"):
            attended = tuple(seen and p not in gone for p, seen in enumerate(attended))
        return tuple(token if p in gone else i for p, i in enumerate(self.row.ids)), attended

    def thinned(self, kept: Sequence[float], draw: int) -> Probe:
        """The row with only these shares of the elements of its embeddings, drawn with a seed."""
        return replace(self.whole, kept=tuple(kept), draw=draw)

    def token(self, change: str) -> int:
        """The token that replaces a removed one; with 'hide' the model cannot see it, so any token will do."""
        if change in ("pad", "pad_attended"):
            return self.pad_id or 0
        if change == "unknown":
            if self.unknown_id is None:
                raise missing_token(change, "n unknown token")
            return self.unknown_id
        if self.mask_id is None and change == "mask":
            raise missing_token(change, " mask token")
        return self.mask_id if self.mask_id is not None else self.pad_id or 0

    def shorter(self, gone: set[int]) -> Probe:
        """The row without these tokens, its positions renumbered; an empty text becomes one pad token."""
        kept = [p for p in range(len(self.row)) if p not in gone]
        if not kept:
            ids = (self.pad_id or 0,)
            types = None if self.row.types is None else (0,)
            return Probe(ids, (True,), types, self.positions, self.classes)
        places = self.positions
        if not self.is_pooled:
            moved = {old: new for new, old in enumerate(kept)}
            places = tuple(moved[p] for p in places)
        row = self.row
        return Probe(
            tuple(row.ids[p] for p in kept),
            tuple(row.attended[p] for p in kept),
            None if row.types is None else tuple(row.types[p] for p in kept),
            places,
            self.classes,
        )


def subject_of(model: Model, row: Row, positions: Sequence[int], classes: Sequence[int]) -> Subject:
    """A row to be probed for the logits of these classes at these positions."""
    tokenizer = model.tokenizer
    return Subject(
        row=row,
        positions=tuple(positions),
        classes=tuple(classes),
        is_pooled=model.task in POOLED,
        mask_id=None if tokenizer is None else tokenizer.mask_token_id,
        pad_id=model.pad_id,
        unknown_id=None if tokenizer is None else tokenizer.unk_token_id,
    )


def missing_token(change: str, token: str) -> InvalidOption:
    """The error for a change that needs a token which the model does not have."""
    return InvalidOption(
        f"change='{change}' needs a{token}, which this model does not have. Use 'delete' or 'pad'."
    )


def check_change(change: str) -> None:
    """Refuse a change that does not exist."""
    if change not in CHANGES:
        raise InvalidOption(f"change='{change}' does not exist. Use one of {', '.join(CHANGES)}.")


CHANGES = {
    "delete": "the text becomes shorter",
    "mask": "the mask token replaces it",
    "unknown": "the unknown token replaces it",
    "pad": "the pad token replaces it and is not attended to",
    "hide": "the mask token replaces it and is not attended to",
    "pad_attended": "the pad token replaces it and is attended to, as in released code",
}
"""The ways to remove a token, and what each does."""
