"""A paper's table, computed again."""

import math

import pytest

from headlight import Model, UnknownName
from headlight.report.replication import markdown, replicate, scaled


@pytest.mark.slow
def test_a_papers_table_is_computed_offline_and_says_so() -> None:
    first = next(replicate("decoded", offline=True, limit=2))
    assert not first.is_paper_model
    assert "need not agree: 'sentiment' on 'samples/sentiment', 2 examples" in first.said
    lines = markdown(first).splitlines()
    assert (
        lines[2]
        == "| method | Revealing (paper) | Revealing (ours) | Hiding (paper) | Hiding (ours) |"
    )
    assert any(line.startswith("| Decoded Grad-CAM l7 | 0.867 | ") for line in lines)
    assert all(not math.isnan(ours) for cells in first.cells.values() for _, ours in cells)


def test_layers_are_scaled_to_the_depth_of_a_network(classifier: Model) -> None:
    assert scaled("decoded_grad_cam:layer=8", classifier) == "decoded_grad_cam:layer=2"
    assert scaled("attcat", classifier) == "attcat"


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"no paper named 'altii'. Did you mean 'alti'"):
        list(replicate("altii"))
