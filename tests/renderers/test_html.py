"""Pages and notebook cells: side by side, right to left, matrices and masks."""

import re

import numpy as np
import torch

import headlight
from headlight import Generation, HeadMask, TokenMixing
from headlight.renderers import html
from tests.renderers.test_layout import of_text
from tests.test_attribution import made


def generated(count: int = 2) -> Generation:
    """A text of two tokens that is continued."""
    names = ("the", "<b>", *(f"w{number}" for number in range(count)))
    steps = tuple(
        made(
            [9.0, 0.5, *([-0.25] * step)],
            tokens=names[: 2 + step],
            is_special=(False,) * (2 + step),
            is_sink=(True, *[False] * (1 + step)),
            texts=(),
            offsets=None,
            segments=None,
            word_ids=None,
        )
        for step in range(count)
    )
    return Generation(names[:2], names[2:], steps)


def test_attributions_of_one_text_stand_side_by_side() -> None:
    assert "display:grid" in html.fragment([made(), made(method="gae")])
    assert "display:grid" not in html.fragment([made()])
    assert "display:grid" not in html.fragment([made(), of_text("other")])


def test_differences_follow_on_their_own_row() -> None:
    found = html.page([made(), made(method="gae")], difference=True)
    assert found.count("grid-column-start:1") == 1
    assert found.index("gae · ") < found.index("attcat − gae")
    assert ">more</span>" in found
    assert ">less</span>" in found
    assert "rgba(0,158,115,0.72)" in found


def test_special_tokens_do_not_turn_a_line() -> None:
    found = html.fragment([made()])
    assert re.search(r"<bdi [^>]*>\[CLS\]</bdi>", found)
    assert "unicode-bidi:plaintext" in found


def test_a_generation_is_a_matrix_without_what_does_not_exist() -> None:
    found = generated()._repr_html_()
    assert found.count("<tr>") == 3
    assert found.count("<td></td>") == 2
    assert "&lt;b&gt;" in found
    assert "<b>" not in found
    assert 'title="w1 ← w0: -0.25" style="background:rgba(213,94,0,0.36)' in found
    assert ">−0.25</td>" in found
    assert "strongest colour: 0.5" in found


def test_large_matrices_are_cut_and_say_so() -> None:
    tokens = tuple(f"t{number}" for number in range(300))
    big = TokenMixing(tokens, np.full((1, 300, 300), 1 / 300), "alti", "toy")
    found = big._repr_html_()
    assert len(found) < 600_000
    assert "shown: the first 96 of 300 rows and 96 of 300 columns" in found
    assert "t95" in found
    assert "t96" not in found
    middle = TokenMixing(tokens[:40], np.eye(40)[None], "alti", "toy")._repr_html_()
    assert "shown:" not in middle
    assert ">1.00</td>" not in middle
    assert "t1 ← t1: +1" in middle


def test_a_mask_is_a_table_of_heads() -> None:
    heads = torch.zeros(2, 3).bool()
    heads[1, 2] = True
    mask = HeadMask({"syntactic": heads}, {"roles": {"n<subj": [[2, 3]]}})
    found = mask._repr_html_()
    assert found.count("<tr>") == 3
    assert found.count(">S</td>") == 1
    assert 'title="2.3: n&lt;subj" style="background:#0072b2;color:#ffffff' in found


def test_pairs_are_two_lines(reader: headlight.Model) -> None:
    found = headlight.explain(reader, ("who wrote it", "it was written by mary"), "rollout")
    assert "\n<span" in html.fragment([found])


def test_text_that_turns_others_around_is_shown_as_a_sign() -> None:
    found = html.page([of_text("good \u202eevil\u202c\nfilm")])
    assert "\u202e" not in found
    assert "\ufffd" in found
    assert "\n" in found.partition("evil")[2].partition("film")[0]


def test_html_exactly() -> None:
    answer = made(
        [0.5, -0.25],
        tokens=("<b>", "&"),
        texts=("<b> &",),
        offsets=((0, 3), (4, 5)),
        segments=(0, 0),
        word_ids=(0, 1),
        is_special=(False, False),
        notes=("cut <here>",),
    )
    assert html.fragment([answer]) == (
        '<div class="headlight" style="line-height:1.9">\n'
        '<div style="min-width:0">'
        '<p style="margin:.8em 0 .2em;font-size:.85em"><strong>attcat · positive (logit 1.5, '
        "probability 0.8) · toy</strong> &nbsp; "
        '<span style="background:rgba(0,114,178,0.72);border-radius:.2em;padding:0 .4em">for</span> '
        '<span style="background:rgba(213,94,0,0.72);border-radius:.2em;text-decoration:underline '
        'dotted;padding:0 .4em">against</span></p>\n'
        '<p dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;'
        'unicode-bidi:plaintext;text-align:start">'
        '<span title="&lt;b&gt;: +0.5" style="background:rgba(0,114,178,0.72);border-radius:.2em">'
        "&lt;b&gt;</span> "
        '<span title="&amp;: -0.25" style="background:rgba(213,94,0,0.36);border-radius:.2em;'
        'text-decoration:underline dotted">&amp;</span></p>\n'
        '<p style="margin:.2em 0;font-size:.85em"><em>note: cut &lt;here&gt;</em></p></div>\n</div>'
    )
    assert answer._repr_html_() == html.fragment([answer])
