"""The table of modified gradients."""

import pytest

from headlight.trace.relevance.modifications import MODIFICATIONS, Modification


def test_nothing_is_modified_by_default() -> None:
    plain = Modification()
    assert plain == MODIFICATIONS["gradient"]
    steps = ("norm", "slope", "gate", "gated", "product", "query", "key", "value", "weights")
    assert {plain.factor(step) for step in steps} == {1.0}
    assert plain.factor("query in scores") == plain.factor("key in scores") == 1.0


@pytest.mark.parametrize("name", MODIFICATIONS)
def test_queries_and_keys_have_the_same_factor_fused_and_step_by_step(name: str) -> None:
    found = MODIFICATIONS[name]
    for side in ("query", "key"):
        in_two_steps = found.factor("weights") * found.factor(f"{side} in scores")
        assert in_two_steps == pytest.approx(found.factor(side))


def test_the_published_columns() -> None:
    """Each row: denominators, slopes, gate, gated, queries and keys, values, temperature."""
    columns = {
        name: (
            m.factor("norm"), m.factor("slope"), m.gate, m.gated, m.query, m.key, m.value, m.temperature,
        )
        for name, m in MODIFICATIONS.items()
    }  # fmt: skip
    assert columns == {
        "gradient": (1, 1, 1, 1, 1, 1, 1, 1),
        "attn_lrp": (0, 0, 0.5, 0.5, 0.25, 0.25, 0.5, 1),
        "cp_lrp": (0, 0, 0, 1, 0, 0, 1, 1),
        "libragrad": (0, 0, 0.5, 0.5, 0, 0, 1, 1),
        "gim": (0, 1, 0.5, 0.5, 0.25, 0.25, 0.5, 2),
    }
