"""What is read from the source of methods and metrics is what they register."""

import subprocess
import sys
from inspect import cleandoc
from types import ModuleType

import pytest

from headlight import METHODS, METRICS
from headlight.explaining.ablation import ABLATIONS
from headlight.registry.declarations import UNREAD, declared, read
from headlight.registry.entries import Entry, Functions

REGISTRIES = {"method": METHODS, "metric": METRICS}
FACTS = ("name", "needs", "signed", "paper", "aliases", "better", "summary")


def said(entry: Entry) -> dict[str, object]:
    """What is known of an entry beside what it computes."""
    facts = {name: getattr(entry, name) for name in FACTS}
    shown = {
        "documentation": cleandoc(entry.function.__doc__ or ""),
        "difference": cleandoc(entry.difference),
        "options": list(entry.options),
    }
    computes = {n: getattr(entry, n) is not None for n in ("released", "mixing", "layered")}
    return {**facts, **shown, **computes}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_source_says_what_is_registered(kind: str) -> None:
    own = {n: e for n, e in REGISTRIES[kind].entries.items() if is_own(e)}
    known = read(kind)
    assert sorted(known) == sorted(own)
    assert known.spellings == {s: n for s, n in REGISTRIES[kind].spellings.items() if n in own}
    for name, entry in own.items():
        assert said(known[name]) == said(entry)


def test_one_file_can_be_the_home_of_a_kind() -> None:
    known = read("ablation")
    assert sorted(known) == sorted(ABLATIONS)
    assert known.spellings == ABLATIONS.spellings
    for name in known:
        assert said(known[name]) == said(ABLATIONS[name])


@pytest.mark.parametrize("kind", REGISTRIES)
def test_defaults_are_read_where_they_are_plain(kind: str) -> None:
    plain = 0
    for name in read(kind):
        for option in read(kind)[name].options.values():
            if option.default is not UNREAD:
                known = REGISTRIES[kind][name].options[option.name]
                assert option.default == known.default, (name, option)
                plain += 1
    assert plain > 20


def is_own(entry: Entry) -> bool:
    """Whether an entry is of this package; other tests register theirs."""
    return entry.function.__module__.startswith("headlight.")


def test_reading_needs_no_torch() -> None:
    code = (
        "import sys; from headlight.registry.declarations import declared; "
        "assert 'AttCAT' in declared('method') and 'aopc' in declared('metric'); "
        "assert not {'torch', 'transformers', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_methods_of_other_packages_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Functions("method")
    home = ModuleType("headlight.methods")
    home.METHODS = theirs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "headlight.methods", home)
    assert declared("method") is theirs
    monkeypatch.delitem(sys.modules, "headlight.methods")
    assert declared("method") is read("method")
    monkeypatch.setattr("headlight.registry.declarations.entry_points", lambda group: [group])
    assert declared("method") is not read("method")
