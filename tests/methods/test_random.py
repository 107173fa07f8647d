"""Random scores are drawn by seed and row."""

import headlight
from headlight import Batch
from headlight.models.model import Task
from tests.networks import network, rows


def test_random_depends_on_seed_and_row_only() -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    batch = Batch.from_ids(rows())
    first = headlight.explain(wrapped, batch, "random", seed=1)
    again = headlight.explain(wrapped, batch, "random", seed=1)
    other = headlight.explain(wrapped, batch, "random", seed=2)
    assert first == again
    assert all((a.scores != b.scores).all() for a, b in zip(first, other, strict=True))
