"""Exact SVG, and that odd text makes no odd files."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import headlight
from headlight import UnknownName
from headlight.renderers.svg import svg
from tests.renderers.test_layout import of_text
from tests.test_attribution import made

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def test_svg_exactly() -> None:
    found = svg([of_text("<b> &", notes=())], width=400.0)
    lines = found.splitlines()
    about = "heat map: attcat · positive (logit 1.5, probability 0.8) · toy"
    assert lines[0] == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100" viewBox="0 0 400 100" '
        f'role="img" aria-label="{about}" '
        "font-family=\"system-ui, 'DejaVu Sans', 'Noto Sans', sans-serif\">"
    )
    assert lines[1] == '<rect width="400" height="100" fill="#ffffff"/>'
    assert lines[3] == (
        "<g><title>&lt;b&gt;: +1</title>"
        '<rect x="16" y="36.08" width="27.36" height="21.12" rx="3" fill="#0072b2" fill-opacity="0.72"/>'
        '<text x="29.68" text-anchor="middle" y="52.4" font-size="16" textLength="27.36" '
        'lengthAdjust="spacingAndGlyphs" fill="#222222">&lt;b&gt;</text></g>'
    )
    assert (
        '<path d="M49.32 55.12h7.12" stroke="#222222" stroke-width="1.6" stroke-linecap="round" '
        'stroke-dasharray="0 4"/>'
    ) in lines[4]
    assert 'fill="#d55e00" fill-opacity="0.36"' in lines[4]
    assert found.endswith("</svg>\n")


def test_papers_are_light_dark_or_the_readers_choice() -> None:
    light, dark, auto = (svg([made()], paper=paper) for paper in ("light", "dark", "auto"))
    assert 'fill="#ffffff"/>' in light
    assert 'fill="#181818"/>' in dark
    assert "<style>" not in light + dark
    assert 'class="headlight-paper" fill="#ffffff"/>' in auto
    assert (
        "@media (prefers-color-scheme: dark){.headlight-paper{fill:#181818}"
        ".headlight-ink{fill:#eeeeee}.headlight-faint{fill:#a6a6a6}.headlight-line{stroke:#eeeeee}}"
    ) in auto
    with pytest.raises(UnknownName, match="no paper named 'pink'"):
        svg([made()], paper="pink")


def test_hostile_and_odd_text_stays_text() -> None:
    text = '<script>alert(1)</script> " \x00\x1b[31m \u202e 👨\u200d👩\u200d👧 שלום ]]> good'
    found = svg([of_text(text, method="<i>", notes=("<b>",))])
    tree = ElementTree.fromstring(found)
    assert {each.tag.split("}")[1] for each in tree.iter()} == {
        "svg",
        "g",
        "rect",
        "text",
        "title",
        "path",
    }
    assert "http" not in found.replace(NAMESPACE["svg"], "")
    shown = [each.text for each in tree.iterfind(".//svg:text", NAMESPACE)]
    assert "<script>alert(1)</script>" in shown
    assert "👨\u200d👩\u200d👧" in shown
    assert "��[31m" in shown
    turned = tree.find(".//svg:text[@direction='rtl']", NAMESPACE)
    assert turned is not None
    assert turned.text == "שלום"
    assert turned.get("unicode-bidi") == "embed"


def test_repeated_words_have_their_own_scores_and_colours() -> None:
    tree = ElementTree.fromstring(svg([made()]))
    groups = [
        (title.text, rect.get("fill"))
        for each in tree.iterfind("svg:g", NAMESPACE)
        if (title := each.find("svg:title", NAMESPACE)) is not None
        and (rect := each.find("svg:rect", NAMESPACE)) is not None
    ]
    assert ("film: +0.1", "#0072b2") in groups
    assert ("film: -0.4", "#d55e00") in groups


def test_differences_are_drawn_below() -> None:
    other = made([0.4] * 8, method="rollout", signed=False)
    found = svg([made(), other], columns=2, width=900.0, difference=True)
    assert found.index("rollout · ") < found.index("attcat − rollout")
    assert '"#009e73"' in found
    assert ">more</text>" in found
    assert headlight.render(made(), "svg") == svg([made()])


@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="no SVG viewer on this machine")
def test_pixels_of_a_viewer_have_the_colours(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(svg([of_text("good bad")], width=400.0), encoding="utf-8")
    subprocess.run(["rsvg-convert", "a.svg", "-o", "a.png"], cwd=tmp_path, check=True)
    pixels = np.round(imread(tmp_path / "a.png")[..., :3] * 255)
    assert pixels[38, 20].tolist() == pytest.approx([71, 153, 200], abs=2)
    assert pixels[2, 2].tolist() == [255, 255, 255]
