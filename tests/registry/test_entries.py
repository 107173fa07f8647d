"""The one registry: names, aliases, duplicates, plug-ins."""

import re
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

import headlight
from headlight import METHODS, InvalidOption, UnknownName
from headlight.registry import entries as home
from headlight.registry.entries import VARIANT, Functions


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
    assert entry.in_variant("released").computing is entry.function
    rollout = METHODS["rollout"]
    assert rollout.in_variant("released").computing is rollout.released
    assert rollout.computing is rollout.in_variant("paper").computing is rollout.function
    with pytest.raises(InvalidOption, match="variant 'fast'"):
        entry.in_variant("fast")


def test_a_name_settles_its_variant() -> None:
    entry = METHODS.specified("Rollout:variant=released")
    assert entry.name == "rollout:variant=released"
    assert entry.in_variant("paper").computing is METHODS["rollout"].released
    assert entry.settled == {}
    plain = METHODS.specified("rollout:variant=paper").in_variant("released")
    assert plain.computing is METHODS["rollout"].function
    made = headlight.using.mask_lrp(corruption=0.5).released()
    assert METHODS.specified(made).name == "mask_lrp:corruption=0.5,variant=released"


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("attcat:variant=fast", "variant 'fast' does not exist"),
        ("attcat:variant=1", "variant '1' does not exist"),
        ("attcat:variant=paper,variant=released", "gives variant twice"),
        ("mask_lrp:variant=released,rows=plain", "no option 'rows'. It belongs to variant 'paper'"),
    ],
)
def test_a_variant_that_does_not_exist_is_refused(specification: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=re.escape(message)):
        METHODS.specified(specification)


@pytest.mark.parametrize("name", METHODS)
def test_no_option_is_called_variant(name: str) -> None:
    for variant in ("paper", "released"):
        assert VARIANT not in METHODS[name].in_variant(variant).options


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
