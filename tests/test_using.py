"""Methods with options that an editor knows."""

import numpy as np
import pytest

import headlight
from headlight import METHODS, InvalidOption, Model
from headlight.registry.entries import Specification
from headlight.registry.options import BY_MODEL
from tests.networks import FEW

TEXT = "a charming film"


def test_every_method_of_ours_is_there() -> None:
    ours = {n for n in METHODS if METHODS[n].function.__module__.startswith("headlight.")}
    assert ours <= set(vars(headlight.using))
    assert all(METHODS[name].function.__name__ == name for name in ours)


def test_a_specification_is_what_its_text_says(classifier: Model) -> None:
    chosen = headlight.using.lime(samples=FEW["samples"], seed=3)
    assert str(chosen) == "lime:samples=3,seed=3"
    found = headlight.explain(classifier, TEXT, chosen)
    written = headlight.explain(classifier, TEXT, "lime:samples=3,seed=3")
    assert found.method == written.method == "lime:samples=3,seed=3"
    np.testing.assert_array_equal(found.scores, written.scores)


def test_several_and_plain_names_go_together(classifier: Model) -> None:
    found = headlight.explain(classifier, [TEXT], ["rollout", headlight.using.random(seed=1)])
    assert list(found) == ["rollout", "random:seed=1"]
    layers = headlight.explain_layers(classifier, TEXT, headlight.using.attcat(hidden="outputs"))
    assert [each.options["layer"] for each in layers] == [1, 2, 3]


def test_wrong_options_are_refused_as_in_text(classifier: Model) -> None:
    with pytest.raises(InvalidOption, match="samples='many' is not possible for 'lime'"):
        headlight.explain(classifier, TEXT, headlight.using.lime(samples="many"))  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="'rollout' has no option 'depth'"):
        headlight.explain(classifier, TEXT, Specification("rollout", {"depth": 2}))


def test_what_the_model_decides_is_not_left_to_the_method(classifier: Model) -> None:
    with pytest.raises(InvalidOption, match="depends on the model was left out"):
        BY_MODEL.embeddings  # noqa: B018
