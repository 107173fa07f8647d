"""Stored objects with something wrong in them."""

import copy
import random
from collections.abc import Iterator
from typing import Any

ODD: list[object] = [
    None,
    True,
    -1,
    0,
    7,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
]
ODD += [[None], ["x"], [1, 2], [[0, 10**6]], {"a": 1}, [float("nan")] * 8, [True] * 8, [-1] * 8]


def mutated_objects(stored: Any, count: int) -> Iterator[Any]:
    """Copies of a JSON object, each with one or two of its values replaced, doubled or lost."""
    draw = random.Random(0)
    for _ in range(count):
        changed = copy.deepcopy(stored)
        for _ in range(draw.choice((1, 1, 2))):
            change(changed, draw)
        yield changed


def change(stored: Any, draw: random.Random) -> None:
    """Change one value anywhere below an object or a list."""
    keys = list(stored) if isinstance(stored, dict) else list(range(len(stored)))
    if not keys:
        return None
    key = draw.choice(keys)
    if isinstance(stored[key], dict | list) and stored[key] and draw.random() < 0.6:
        return change(stored[key], draw)
    if draw.random() < 0.15:
        del stored[key]
    elif isinstance(stored, list) and draw.random() < 0.2:
        stored.append(stored[key])
    else:
        stored[key] = copy.deepcopy(draw.choice(ODD))
    return None


def mutated_bytes(content: bytes, count: int) -> Iterator[bytes]:
    """Copies of a file, each with a bit flipped, a byte replaced, or an end cut off."""
    draw = random.Random(0)
    for _ in range(count):
        place, kind = draw.randrange(len(content)), draw.random()
        if kind < 0.1:
            yield content[:place]
        else:
            other = content[place] ^ (1 << draw.randrange(8)) if kind < 0.6 else draw.randrange(256)
            yield content[:place] + bytes([other]) + content[place + 1 :]
