"""Parses, parsers and attention that tests of heads share."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

import headlight
from headlight import Model
from headlight.heads import Parse
from headlight.heads.synthetic_corpus import made_up_corpus

PARSES = list(made_up_corpus(12, seed=3))


def flips(content: bytes, count: int) -> Iterator[bytes]:
    """The content with one bit flipped, or cut, in so many places."""
    chance = random.Random(0)
    for _ in range(count):
        place = chance.randrange(len(content))
        flipped = bytes([content[place] ^ 1 << chance.randrange(8)])
        yield content[:place] + flipped + content[place + 1 :]
        yield content[:place]


@dataclass
class Slow:
    """A parser that counts what it is asked, and may break."""

    name: str = "slow"
    version: str = "1"
    asked: int = 0
    breaks: bool = False

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]:
        known = {parse.text: parse for parse in PARSES}
        for number, text in enumerate(texts):
            self.asked += 1
            if self.breaks and number == 3:
                raise KeyboardInterrupt
            yield known[text]


def arranged(model: Model, rows: list[headlight.batch.Row]) -> list[torch.Tensor]:
    """Attention of three heads: to the next token, to the token itself, to the last word's verb."""
    size = max(len(row) for row in rows)
    steps = torch.arange(size)
    ahead = torch.nn.functional.one_hot((steps + 1).clamp(max=size - 1), size).float()
    verb = torch.zeros(len(rows), size, size)
    for number, row in enumerate(rows):
        verb[number, :, row.tokens.index("sold")] = 1
    maps = torch.stack([ahead.expand(len(rows), -1, -1), torch.eye(size).expand_as(verb), verb], 1)
    return [maps]
