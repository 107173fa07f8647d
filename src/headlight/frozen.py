"""A mapping that cannot be changed; unlike `MappingProxyType` it can be pickled and copied."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class FrozenMapping(Mapping[str, Value]):
    """The items of another mapping, as they were when it was made."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"FrozenMapping({self._items!r})"
