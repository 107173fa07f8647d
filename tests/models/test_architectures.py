"""The table of families: every row fits the network that transformers builds."""

import pytest
from torch import nn

from headlight.models.architectures import ARCHITECTURES
from headlight.models.model import Task
from tests.networks import CONFIGS, model


def test_every_row_has_a_network_in_the_tests() -> None:
    assert set(ARCHITECTURES) == set(CONFIGS)


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_every_part_of_a_row_is_found_on_the_live_network(family: str) -> None:
    own, row = model(family, Task.SEQUENCE), ARCHITECTURES[family]
    assert own.architecture is row
    assert len(own.embedding_stages) in (1, len(row.embeddings))
    blocks, parts = own.blocks, own.block_parts
    assert len(blocks) == len(parts)
    assert row.parts is not None
    for block, part in zip(blocks, parts, strict=True):
        inside = set(block.modules())
        assert {part.projection, part.second_norm} <= inside
        assert (part.norm is None) == (row.parts.norm is None)
        assert isinstance(part.norm, nn.Module | None)
    assert len(own.final_norms) == (row.final_norm is not None)


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_post_norm_families_have_no_norm_at_the_end(family: str) -> None:
    row = ARCHITECTURES[family]
    assert row.parts is not None
    assert (row.parts.norm is None) == (row.final_norm is not None)
