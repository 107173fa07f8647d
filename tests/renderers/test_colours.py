"""Text can be read on every colour of every scale, on light and dark paper, and in grey."""

import pytest

from headlight import UnknownName
from headlight.renderers.colours import (
    DARK,
    GREY,
    HEAD_KINDS,
    LIGHT,
    NAMES,
    PALETTES,
    Palette,
    Paper,
    Rgb,
    as_hex,
    contrast,
    ink_on,
    is_marked,
    opacity,
    palette,
    shade,
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 0, 0), (255, 255, 255), 21.0),
        ((255, 255, 255), (119, 119, 119), 4.478),
        ((255, 0, 0), (255, 255, 255), 3.998),
        ((9, 9, 9), (9, 9, 9), 1.0),
    ],
)
def test_contrast_is_that_of_the_guidelines(one: Rgb, other: Rgb, expected: float) -> None:
    assert contrast(one, other) == pytest.approx(expected, abs=1e-3)
    assert contrast(other, one) == contrast(one, other)


@pytest.mark.parametrize("paper", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("colours", PALETTES.values(), ids=PALETTES)
@pytest.mark.parametrize("is_signed", [True, False])
def test_ink_is_readable_at_every_strength(paper: Paper, colours: Palette, is_signed: bool) -> None:
    for hundredth in range(-100 if is_signed else 0, 101):
        seen = shade(hundredth / 100, is_signed, colours, paper)
        assert contrast(paper.ink, seen) >= 4.5, hundredth
    assert contrast(paper.faint, paper.paper) >= 4.5


@pytest.mark.parametrize("paper", [LIGHT, DARK], ids=["light", "dark"])
def test_scores_beyond_the_scale_are_grey_and_readable(paper: Paper) -> None:
    for share in (-40.0, -1.01, 1.01, 40.0):
        seen = shade(share, True, PALETTES["blue_red"], paper)
        assert max(seen) == min(seen)
        assert contrast(paper.ink, seen) >= 4.5
    assert shade(1.0, True, PALETTES["blue_red"], paper) != seen


def test_white_is_readable_on_every_colour_of_a_terminal() -> None:
    for colours in PALETTES.values():
        for share in (-1.5, -1.0, -0.5, 0.06, 1.0):
            assert contrast((255, 255, 255), shade(share, True, colours, DARK)) >= 4.5


def test_stronger_scores_have_stronger_colours() -> None:
    for paper in (LIGHT, DARK):
        steps = [
            contrast(paper.paper, shade(n / 10, False, PALETTES["blue_red"], paper))
            for n in range(11)
        ]
        assert steps == sorted(steps)
        assert steps[0] == 1.0


def test_what_colours_alone_cannot_tell_is_marked() -> None:
    assert is_marked(-0.2, True)
    assert not is_marked(-0.1, True)
    assert not is_marked(0.9, True)
    assert not is_marked(-0.9, False)


def test_full_colours_get_black_or_white_ink() -> None:
    assert all(contrast(ink_on(fill), fill) >= 4.5 for fill in HEAD_KINDS.values())
    assert ink_on((0, 0, 60)) == (255, 255, 255)
    assert as_hex((0, 158, 115)) == "#009e73"


def test_every_hue_has_a_name() -> None:
    used = {
        colour
        for each in PALETTES.values()
        for colour in (each.positive, each.negative, each.unsigned)
    }
    assert used | set(HEAD_KINDS.values()) | {GREY} == set(NAMES)


def test_scales_are_in_one_place_and_bounded() -> None:
    assert opacity(0) == 0
    assert opacity(7) == opacity(-1) == 0.72
    assert set(PALETTES) == {"blue_red", "green_red", "difference"}
    with pytest.raises(UnknownName, match="no palette named 'rainbow'"):
        palette("rainbow")
