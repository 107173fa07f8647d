"""The one registry: names, aliases, duplicates, plug-ins."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from headlight import METHODS, InvalidOption, UnknownName
from headlight.registry import entries as home
from headlight.registry.entries import Functions


def test_names_aliases_and_paper_spellings_find_the_same_entry() -> None:
    assert METHODS["AttCAT"] is METHODS["att-cat"] is METHODS["attcat"]
    assert METHODS["RawAtt"].name == "raw_attention"
    assert METHODS["Grad-SAM"].name == "grad_sam"
    assert "GxI" in METHODS
    assert "nothing" not in METHODS


def test_iterating_gives_the_names() -> None:
    assert {"attcat", "rollout", "random"} <= set(METHODS)
    assert len(METHODS) == len(list(METHODS))


def test_an_unknown_name_proposes_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no method named 'rolout'\. Did you mean 'rollout'"):
        METHODS["rolout"]


def test_a_name_or_alias_is_registered_once() -> None:
    names = Functions("thing")
    names.register("one", aliases=("uno",))(lambda: 1)
    for taken in ("one", "UNO"):
        with pytest.raises(ValueError, match="registered twice"):
            names.register(taken)(lambda: 2)


def test_variants_and_options_are_known() -> None:
    entry = METHODS["random"]
    assert {name: option.default for name, option in entry.options.items()} == {"seed": 0}
    assert entry.variant("released") is entry.function
    assert METHODS["rollout"].variant("released") is not METHODS["rollout"].function
    with pytest.raises(InvalidOption, match="variant 'fast'"):
        entry.variant("fast")


def test_other_packages_add_theirs_through_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Functions("thing")
    plugin = ModuleType("a_plugin")
    monkeypatch.setitem(sys.modules, "a_plugin", plugin)
    loads: list[str] = []
    plugin.__getattr__ = lambda name: loads.append(name) or names.register(name)(len)  # type: ignore[method-assign, func-returns-value]
    point = EntryPoint("plugin", "a_plugin:extra", "headlight.things")
    monkeypatch.setattr(home, "entry_points", lambda group: [point] * (group == "headlight.things"))
    assert list(names) == ["extra"]
    assert "extra" in names
    assert loads == ["extra"]


def test_an_option_that_counted_otherwise_is_refused_with_the_new_number() -> None:
    with pytest.raises(InvalidOption, match="start_layer=2 is first_layer=3"):
        METHODS.specified("transformer_attribution:start_layer=2")


def test_methods_that_ask_often_or_compute_long_are_slow() -> None:
    assert METHODS["attcat"].cost == "fast"
    assert METHODS["occlusion"].cost == METHODS["attention_flow"].cost == "slow"
