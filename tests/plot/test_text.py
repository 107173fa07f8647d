"""Heat maps of text: their pixels, their letters, and nothing that warns."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from numpy.typing import NDArray

from headlight import plot
from headlight.plot import fonts
from headlight.renderers.colours import DARK, LIGHT, PALETTES, Rgb, shade
from headlight.renderers.comparison import panels
from headlight.renderers.layout import Box, sheet
from tests.renderers.test_layout import of_text
from tests.test_attribution import made

DOTS = 160 / 96


def pixels(figure: object, path: Path) -> NDArray[np.float64]:
    """What a figure looks like, as numbers from 0 to 255."""
    plot.save(figure, path / "a.png")  # type: ignore[arg-type]
    found: NDArray[np.float64] = np.round(imread(path / "a.png")[..., :3] * 255)
    return found


def box_of(text: str, answers: list[object], **options: object) -> Box:
    """The box of a piece, as the figure lays it out."""
    found = sheet(panels(answers), measure=fonts.width_of, **options)  # type: ignore[arg-type]
    return next(box for box in found.boxes if box.text == text and box.style == "piece")


def inside(seen: NDArray[np.float64], box: Box) -> NDArray[np.float64]:
    """The pixels of a box."""
    top, bottom = (round((box.y + step * box.size) * DOTS) for step in (-0.9, 0.25))
    left, right = (round(x * DOTS) for x in (box.x + 2, box.x + box.width - 2))
    return seen[top:bottom, left:right]


def share_of(seen: NDArray[np.float64], colour: Rgb) -> float:
    """How much of a picture has a colour."""
    return float((np.abs(seen - colour).max(-1) <= 2).mean())


def test_every_piece_has_the_colour_of_its_score(tmp_path: Path) -> None:
    answer = of_text("good bad word")
    seen = pixels(plot.text(answer), tmp_path)
    for text, share in (("good", 1.0), ("bad", -0.5), ("word", 1 / 3)):
        own = inside(seen, box_of(text, [answer]))
        assert share_of(own, shade(share, True, PALETTES["blue_red"])) > 0.5, text
        assert share_of(own, LIGHT.ink) > 0.02, text


def test_letters_stay_inside_their_boxes(tmp_path: Path) -> None:
    answer = of_text("mmmmmmmmmmmm iiiiiiii WWWWWWW ........")
    seen = pixels(plot.text(answer), tmp_path)
    boxes = [box_of(text, [answer]) for text in answer.tokens]
    top, bottom = (round((boxes[0].y + s) * DOTS) for s in (-12.0, 0.0))
    for one, other in pairwise(boxes):
        gap = seen[top:bottom, round((one.x + one.width) * DOTS) + 1 : round(other.x * DOTS) - 1]
        assert share_of(gap, LIGHT.paper) > 0.97


def test_dark_paper_has_light_ink(tmp_path: Path) -> None:
    answer = of_text("good bad")
    with plot.dark_paper():
        seen = pixels(plot.text(answer), tmp_path)
    assert share_of(seen, DARK.paper) > 0.5
    assert share_of(inside(seen, box_of("good", [answer])), DARK.ink) > 0.02
    assert share_of(pixels(plot.text(answer), tmp_path), LIGHT.paper) > 0.5


def test_columns_and_differences_are_drawn(tmp_path: Path) -> None:
    several = [made(), made([0.4] * 8, method="rollout", signed=False)]
    narrow = pixels(plot.text(several), tmp_path)
    wide = pixels(plot.text(several, columns=2, width=1000.0, difference=True), tmp_path)
    assert wide.shape[1] == 1002 * 5 // 3 > narrow.shape[1]
    green = shade(1.0, True, PALETTES["difference"])
    assert share_of(wide, green) > 0
    assert share_of(narrow, green) == 0


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_odd_text_is_drawn_without_a_warning(kind: str, tmp_path: Path) -> None:
    text = "$x$ _{ 中文 👨\u200d👩\u200d👧 🎬 שלום مرحبا e\u0301 \x00 <img> \u202e ￾ \U0001fbff"
    plot.save(plot.text(of_text(text)), tmp_path / f"a.{kind}")
    assert (tmp_path / f"a.{kind}").stat().st_size > 1000


@pytest.mark.slow
def test_a_text_of_512_tokens_is_drawn_whole(tmp_path: Path) -> None:
    text = " ".join(["good", "bad"] * 256)
    seen = pixels(plot.text(of_text(text)), tmp_path)
    assert seen.shape[0] > 800
