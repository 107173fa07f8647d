"""Rows in groups of similar length, each for one pass."""

from collections.abc import Collection, Iterator, Sequence

from headlight.batch import Row
from headlight.models.model import Model
from headlight.running.footprint import BATCH_BYTES, footprint
from headlight.running.memory import TOKENS_AT_ONCE


def buckets(
    model: Model,
    rows: Sequence[Row],
    batch_size: int,
    needs: Collection[str] = (),
    memory: int | None = None,
) -> Iterator[list[int]]:
    """Row numbers in groups of similar length, at most `batch_size` each and fewer if rows are long."""
    each = footprint(model, needs, replayed=TOKENS_AT_ONCE)
    bound = min(BATCH_BYTES, memory or BATCH_BYTES)
    order = sorted(range(len(rows)), key=lambda n: -len(rows[n]))
    while order:
        most = max(1, bound // each.of(len(rows[order[0]])))
        size = 1 if model.takes_one_row else min(batch_size, most)
        yield order[:size]
        order = order[size:]
