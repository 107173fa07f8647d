"""Figures are written whole, the same twice, and as what their names say."""

import struct
import sys
from pathlib import Path

import pytest

from headlight import HeadMask, InvalidOption, MissingExtra
from headlight.plot import canvas
from headlight.plot import heads as draw


@pytest.mark.parametrize("kind", canvas.FORMATS)
def test_figures_are_written_the_same_twice(mask: HeadMask, kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.{kind}" for number in range(2)]
    for path in paths:
        canvas.save(draw.head_map(mask), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    if kind == "png":
        assert struct.unpack(">II", paths[0].read_bytes()[16:24])[0] > 400


def test_unknown_kinds_and_a_missing_extra_are_named(
    mask: HeadMask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidOption, match=r"suffix \.png, \.svg or \.pdf"):
        canvas.save(draw.head_map(mask), tmp_path / "map.bmp")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"headlight\[plot\]"):
        draw.head_map(mask)
