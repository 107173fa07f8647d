"""Presets: which rule every kind of operation follows."""

import pytest

from headlight import UnknownName
from headlight.trace.relevance import rules
from headlight.trace.relevance.presets import PRESETS, preset_rules

KINDS = {
    "linear", "addmm", "convolution", "matmul", "attend", "add", "mul", "sum", "scale", "shift", "softmax",
    "activation", "norm", "layer_norm",
}  # fmt: skip
"""The kinds of operations that the readers of intercept.py give, save those that are refused."""


@pytest.mark.parametrize("name", PRESETS)
def test_every_kind_has_a_rule(name: str) -> None:
    assert set(preset_rules(name)) == KINDS


@pytest.mark.parametrize(
    ("preset", "kind", "rule"),
    [
        ("chefer", "linear", rules.z_plus),
        ("chefer", "addmm", rules.z_plus),
        ("chefer", "matmul", rules.share_product),
        ("chefer", "add", rules.share_sum),
        ("chefer", "mul", rules.halve),
        ("chefer", "sum", rules.share_total),
        ("chefer", "softmax", rules.pass_on),
        ("chefer", "layer_norm", rules.pass_on),
        ("chefer_released", "addmm", rules.biased_half),
        ("chefer_released", "linear", rules.z_plus),
        ("attn_lrp", "linear", rules.epsilon_linear),
        ("attn_lrp", "attend", rules.epsilon_product),
        ("attn_lrp", "add", rules.epsilon_sum),
        ("attn_lrp", "softmax", rules.taylor_softmax),
        ("attn_lrp", "layer_norm", rules.epsilon_linear),
        ("attn_lrp", "norm", rules.pass_on),
        ("epsilon", "softmax", rules.pass_on),
        ("epsilon", "linear", rules.epsilon_linear),
    ],
)
def test_rules_are_those_of_the_table_in_the_concepts(
    preset: str, kind: str, rule: rules.Rule
) -> None:
    assert preset_rules(preset)[kind] is rule


def test_presets_differ_only_where_they_say() -> None:
    def differing(one: str, other: str) -> set[str]:
        return {kind for kind in KINDS if preset_rules(one)[kind] is not preset_rules(other)[kind]}

    assert differing("chefer", "chefer_released") == {"addmm"}
    assert differing("attn_lrp", "epsilon") == {"softmax"}


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"no preset named 'attnlrp'\. Did you mean 'attn_lrp'"):
        preset_rules("attnlrp")
