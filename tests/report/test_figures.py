"""Every figure that a run can show, as files."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from headlight import Results
from headlight.report.figures import figures, write_figures


@pytest.mark.slow
def test_every_figure_is_drawn_and_written(small_run: Results, tmp_path: Path) -> None:
    names = [name for name, _, _ in figures(small_run)]
    assert {
        "curve-aopc",
        "curve-hiding",
        "boxes-kendall_confidence",
        "steps-aopc",
        "overlap",
    } <= set(names)
    paths = list(write_figures(small_run, tmp_path / "pictures"))
    assert len(paths) == len(names)
    for path in paths:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
