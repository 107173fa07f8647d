"""A method of another package appears everywhere ours do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import headlight
from headlight import Example, Model
from headlight.explaining.layers import has_layers
from headlight.explaining.plan import methods_for
from headlight.web.about import method_facts

SOURCE = '''
from headlight.methods.registry import METHODS
from headlight.trace.trace import Trace

def their_layers(trace: Trace, *, power: int = 1):
    """The length of every block's output, to a power."""
    return [states.square().sum(-1).sqrt() ** power for states in trace.hidden[1:]]

@METHODS.register(
    "their_lengths", group="theirs", needs={"hidden"}, layered=their_layers, aliases=("TheirLengths",),
    paper="Theirs (2030)", is_laborious=True,
)
def their_lengths(trace: Trace, *, power: int = 1):
    """Lengths of hidden states, summed over layers."""
    return sum(their_layers(trace, power=power))
'''
METHOD = "their_lengths"
TEXT = "a charming film"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package as pip installs it, with an entry point."""
    home = tmp_path_factory.mktemp("site")
    facts = home / "their_methods-1.0.dist-info"
    facts.mkdir()
    (home / "their_methods.py").write_text(SOURCE, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[headlight.methods]\nlengths = their_methods\n")
    return home


@pytest.fixture
def installed(package: Path) -> Iterator[None]:
    """The package is found by Python, and what it registers is forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(package))
        patch.setattr(headlight.METHODS, "plugins_read", False)
        patch.setattr(headlight.METHODS, "entries", dict(headlight.METHODS.entries))
        patch.setattr(headlight.METHODS, "spellings", dict(headlight.METHODS.spellings))
        yield
        sys.modules.pop("their_methods", None)


@pytest.mark.usefixtures("installed")
def test_it_explains_by_its_names_with_its_options(classifier: Model) -> None:
    plain = headlight.explain(classifier, TEXT, METHOD)
    squared = headlight.explain(classifier, TEXT, "TheirLengths:power=2")
    assert squared.method == "their_lengths:power=2"
    assert not np.allclose(plain.scores, squared.scores)
    layers = headlight.explain_layers(classifier, TEXT, METHOD)
    np.testing.assert_allclose(sum(each.scores for each in layers), plain.scores, rtol=1e-5)


@pytest.mark.usefixtures("installed")
def test_the_page_and_the_models_know_it(classifier: Model) -> None:
    assert METHOD in methods_for(classifier)
    assert has_layers(headlight.METHODS[METHOD])
    facts = method_facts(METHOD)
    assert (facts["summary"], facts["paper"], facts["cost"]) == (
        "Lengths of hidden states, summed over layers.",
        "Theirs (2030)",
        "slow",
    )


@pytest.mark.usefixtures("installed")
def test_it_is_evaluated(classifier: Model) -> None:
    examples = [Example(TEXT, 0), Example("a dull and long film", 1)]
    found = headlight.evaluate(classifier, examples, [METHOD, "random"], ["aopc"], threads=1)
    assert found.methods == [METHOD, "random"]
    assert found.summary("aopc", METHOD).count == 2


def test_the_command_line_lists_it(package: Path) -> None:
    command = [sys.executable, "-m", "headlight", "methods", METHOD]
    paths = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    told = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert "Theirs (2030)" in told.stdout
    assert "power" in told.stdout
