"""Learning what heads do: one pass over a parsed corpus.

The strongest attention of a token goes to the key with the largest weight that is not a special token; if
several are equal, to the first. A word's query is its first token; a hit is any token of the other word.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from headlight.batch import Row, Text, encode, shortened
from headlight.errors import InvalidInput
from headlight.files.conllu import Parse, read_conllu
from headlight.heads.parse_cache import remembered
from headlight.heads.parsers import OWN, Parser, load_parser
from headlight.heads.statistics import FARTHEST, HeadStatistics
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model
from headlight.progress import progress_of
from headlight.tokens import ordinary
from headlight.trace.attention_pass import attention_of

Parses = tuple[Parse, ...]
"""The parses of one input: of its text, or of both texts of a pair."""
CorpusLike = Iterable[Text] | Iterable[Parse] | Iterable[Parses] | str | Path
SAME_RELATION = {"dobj": "obj", "ROOT": "root"}
"""Relations of spaCy's own pipelines that Universal Dependencies names differently."""


def learn(
    model: Model,
    corpus: CorpusLike,
    *,
    parser: Parser | str = OWN,
    limit: int | None = None,
    batch_size: int = 32,
    name: str | None = None,
    progress: bool = False,
) -> HeadStatistics:
    """Count what every head of the model does on a corpus; `.mask()` then selects heads.

    corpus: texts or pairs of texts, their parses, or the path of a CoNLL-U file with gold parses.
    parser: your own, the name of a spaCy pipeline, or by default the one in headlight-models.
    limit: read only the first inputs, this many.
    """
    if model.tokenizer is None:
        raise InvalidInput(
            f"{model.name} was wrapped without a tokenizer, so it cannot read a corpus."
        )
    parses, parsed_by, source = parsed(corpus, parser, limit)
    counts = Counts()
    with progress_of("counting texts", limit, is_shown=progress) as advance:
        for group in grouped(parses, batch_size):
            counts.add(model, group)
            advance(len(group))
    if not counts.tokens:
        raise InvalidInput("the corpus has no text in it: there is nothing to learn from.")
    return counts.frozen(
        {
            "model": model.name,
            "fingerprint": fingerprint(model),
            "corpus": name or source,
            "parser": parsed_by,
            "texts": counts.texts,
            "tokens": counts.tokens,
            "headlight": version("headlight"),
        }
    )


def parsed(
    corpus: CorpusLike, parser: Parser | str, limit: int | None
) -> tuple[Iterator[Parses], str, str]:
    """The parses of a corpus, the name of the parser, and the name of the corpus."""
    if isinstance(corpus, str | Path):
        path = Path(corpus)
        if path.suffix != ".conllu":
            raise InvalidInput(
                f"corpus '{corpus}' is not a CoNLL-U file. Give texts as a list of strings; "
                "`headlight heads learn --data` reads them from other files."
            )
        return ((parse,) for parse in islice(read_conllu(path), limit)), "gold", path.name
    items = [item if isinstance(item, tuple | list) else (item,) for item in corpus]
    kinds = {type(part) for item in items for part in item}
    if kinds == {Parse}:
        return (tuple(item) for item in items[:limit]), "given", "given parses"  # type: ignore[arg-type]
    if kinds - {str} or any(len(item) > 2 for item in items):
        raise InvalidInput(
            "a corpus is made of texts, of pairs of texts, or of parses, all of one kind; this one has "
            f"{', '.join(sorted(kind.__name__ for kind in kinds))} in groups of up to "
            f"{max(len(item) for item in items)}."
        )
    chosen = load_parser(parser) if isinstance(parser, str) else parser
    kept = [item for item in items if any(str(text).strip() for text in item)][:limit]
    parses = remembered(chosen, [str(text) for item in kept for text in item])
    return regrouped(parses, [len(item) for item in kept]), chosen.name, "given texts"


def regrouped(parses: Iterator[Parse], sizes: Iterable[int]) -> Iterator[Parses]:
    """Parses in groups of these sizes."""
    for size in sizes:
        yield tuple(islice(parses, size))
    # Asking once more finishes the iterator, which only then writes the parses to the cache.
    assert next(parses, None) is None


def grouped(inputs: Iterable[Parses], size: int) -> Iterator[list[Parses]]:
    """Inputs in groups of similar length."""
    inputs = iter(inputs)
    # Twenty groups are enough for similar lengths, and few enough to sort without reading the whole corpus.
    while pool := list(islice(inputs, 20 * size)):
        pool.sort(key=lambda parses: sum(len(parse.text) for parse in parses))
        for start in range(0, len(pool), size):
            yield pool[start : start + size]


# ---------------------------------------------------------------------------------- counting


@dataclass(eq=False)
class Counts:
    """Counts that are still being added to."""

    relations: dict[str, int] = field(default_factory=dict)
    pairs: list[int] = field(default_factory=list)
    to_head: list[Tensor] = field(default_factory=list)
    from_head: list[Tensor] = field(default_factory=list)
    distances: list[Tensor] = field(default_factory=list)
    offsets: Tensor | None = None
    tokens: int = 0
    texts: int = 0

    def add(self, model: Model, inputs: Sequence[Parses]) -> None:
        """Count a group of inputs."""
        assert model.tokenizer is not None
        kept = [parses for parses in inputs if any(parse.text.strip() for parse in parses)]
        if not kept:
            return
        texts: list[Text] = [
            (parses[0].text, parses[1].text) if len(parses) == 2 else parses[0].text
            for parses in kept
        ]
        rows = encode(texts, model.tokenizer)
        if model.token_limit is not None:
            rows = [shortened(row, model.token_limit, keep_first_text=False) for row in rows]
        maps = attention_of(model, rows)
        best = torch.stack([strongest(layer, rows) for layer in maps], 1)
        self.count_offsets(best, rows)
        for number, (parses, row) in enumerate(zip(kept, rows, strict=True)):
            for segment, parse in enumerate(parses):
                self.count_relations(best[number], parse, row, segment)
        self.texts += len(kept)

    def count_offsets(self, best: Tensor, rows: Sequence[Row]) -> None:
        """Relative positions of the strongest attention of every token that is not special."""
        size = best.shape[-1]
        steps = (best - torch.arange(size)).clamp(-FARTHEST, FARTHEST) + FARTHEST
        plain = torch.tensor([plain_places(row, size) for row in rows])
        if self.offsets is None:
            self.offsets = torch.zeros(*best.shape[1:3], 2 * FARTHEST + 1, dtype=torch.long)
        counted = plain[:, None, None, :].expand_as(steps).long()
        ones = torch.zeros(*steps.shape[:3], 2 * FARTHEST + 1, dtype=torch.long)
        self.offsets += ones.scatter_add(-1, steps, counted).sum(0)
        self.tokens += int(plain.sum())

    def count_relations(self, best: Tensor, parse: Parse, row: Row, segment: int) -> None:
        """Hits of every relation of one text, in both directions."""
        word_of, first = aligned(parse, row, segment)
        for word, (head, label) in enumerate(zip(parse.heads, parse.relations, strict=True)):
            if head == word or word not in first or head not in first:
                continue
            k = self.known(SAME_RELATION.get(label, label), best.shape[:2])
            self.pairs[k] += 1
            self.to_head[k] += word_of[best[:, :, first[word]]] == head
            self.from_head[k] += word_of[best[:, :, first[head]]] == word
            step = max(-FARTHEST, min(FARTHEST, word - head)) + FARTHEST
            self.distances[k][step] += 1

    def known(self, relation: str, shape: Sequence[int]) -> int:
        """The number of a relation; a new one gets the next number."""
        if relation not in self.relations:
            self.relations[relation] = len(self.relations)
            self.pairs.append(0)
            self.to_head.append(torch.zeros(*shape, dtype=torch.long))
            self.from_head.append(torch.zeros(*shape, dtype=torch.long))
            self.distances.append(torch.zeros(2 * FARTHEST + 1, dtype=torch.long))
        return self.relations[relation]

    def frozen(self, facts: dict[str, object]) -> HeadStatistics:
        """The finished statistics, with the most frequent relations first."""
        assert self.offsets is not None
        if not self.relations:
            raise InvalidInput(
                "the corpus has no dependency relation: all its words are roots, or none could be found "
                "in the tokens. Is it parsed, and is it the text that the model reads?"
            )
        order = sorted(self.relations, key=lambda name: -self.pairs[self.relations[name]])
        places = [self.relations[name] for name in order]
        return HeadStatistics(
            relations=tuple(order),
            pairs=torch.tensor([self.pairs[k] for k in places]),
            to_head=torch.stack([self.to_head[k] for k in places]),
            from_head=torch.stack([self.from_head[k] for k in places]),
            distances=torch.stack([self.distances[k] for k in places]),
            offsets=self.offsets,
            tokens=self.tokens,
            facts=facts,
        )


def strongest(weights: Tensor, rows: Sequence[Row]) -> Tensor:
    """[batch, head, query]: the key with the largest weight among tokens that are not special."""
    plain = torch.tensor([plain_places(row, weights.shape[-1]) for row in rows])
    return weights.cpu().masked_fill(~plain[:, None, None, :], -1.0).argmax(-1)


def plain_places(row: Row, size: int) -> list[bool]:
    """Which tokens are not special, padded with False to a size."""
    return ordinary(row.is_special) + [False] * (size - len(row))


def aligned(parse: Parse, row: Row, segment: int) -> tuple[Tensor, dict[int, int]]:
    """The word of every token (−1: none) and the first token of every word, matched by characters."""
    assert row.offsets is not None
    assert row.segments is not None
    word_of, word = [-1] * len(row), 0
    first: dict[int, int] = {}
    for token, (start, end) in enumerate(row.offsets):
        if row.segments[token] != segment or row.is_special[token] or start == end:
            continue
        while word < len(parse.words) and parse.places[word][1] <= start:
            word += 1
        if word < len(parse.words) and parse.places[word][0] < end:
            word_of[token] = word
            first.setdefault(word, token)
    return torch.tensor(word_of), first
