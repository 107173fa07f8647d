"""Decisions without heads, for people."""

from dataclasses import replace

import pytest

from headlight import HeadMask
from headlight.renderers.ablated import (
    AblatedTable,
    EffectMap,
    effect_cells,
    head_names,
    lines,
    table,
)
from headlight.renderers.matrix import table as matrix_table
from tests.renderers.test_terminal import printed
from tests.test_ablated import ablated, effects, said


def test_a_table_says_how_each_answer_moves() -> None:
    first, second = lines(ablated())
    assert first == ("a film", "good → bad", "good", "0.900 → 0.300", "−0.600", "2 → −1")
    assert second == ("one | two", "good", "good", "0.700 → 0.800", "+0.100", "1 → 1.5")
    shown = printed(AblatedTable(ablated()), no_color=True).splitlines()
    assert shown[0].startswith("2 of 6 heads off: 1 of 2 decided otherwise")
    assert shown[1] == "off: 1.2, 2.3"
    assert shown[2].split() == ["text", "decision", "label", "probability", "change", "logit"]
    assert shown[-1] == "note: cut"


def test_html_says_the_same() -> None:
    shown = table(ablated())
    assert "0.900 → 0.300" in shown
    assert shown.count("<tr>") == 3
    evil = replace(ablated()[0], texts=("<script>",))
    assert "<script>" not in table(replace(ablated(), rows=(evil,)))


def test_a_value_is_shown_where_there_is_no_probability() -> None:
    row = replace(ablated()[0], before=said("value", 2.0, None), after=said("value", -1.0, None))
    found = replace(ablated(), rows=(row,))
    assert next(lines(found))[3] == "2.000 → −1.000"
    assert "value" in table(found)


def test_long_texts_are_cut_and_many_heads_counted() -> None:
    row = replace(ablated()[0], texts=("word " * 40,))
    assert next(lines(replace(ablated(), rows=(row,))))[0].endswith("…")
    assert head_names(HeadMask.full(4, 5)).endswith("3.2 and 8 more")
    assert head_names(HeadMask.at([], 4, 5)) == "none"


def test_the_map_of_heads_has_the_last_layer_on_top_and_counts_what_is_lost() -> None:
    cells = effect_cells(effects())
    assert cells.rows == ("layer 2", "layer 1")
    assert cells.columns == ("head 1", "head 2", "head 3")
    assert cells.values[0].tolist() == pytest.approx([40, 0, 0])
    assert cells.values[1].tolist() == pytest.approx([0, 0, -10])
    assert cells.largest == pytest.approx(40)
    assert cells.title == "points of probability lost without a head · mean of 2 texts · toy"
    shown = printed(EffectMap(effects()), no_color=True).splitlines()
    assert shown[1].split() == ["layer", "1", "2", "3"]
    assert shown[2].split()[:2] == ["2", "40.00"]
    assert "strongest heads: 2.1 (40.00), 1.3 (−10.00), 1.1 (0.00)" in " ".join(shown)
    assert shown[-1] == "decided otherwise without some single head: 1 of 2"
    assert "layer 2 ← head 1: +40" in matrix_table(cells)


def test_a_map_of_values_is_not_in_points() -> None:
    one = replace(effects(), probabilities=None, before=(said("value", 2.0, None),) * 2)
    assert effect_cells(one).title.startswith("value lost without a head")
    assert effect_cells(one).largest == pytest.approx(1.6)
