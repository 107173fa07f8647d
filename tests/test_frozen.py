"""Results that do not change, and can be sent to other processes."""

import copy
import pickle

import numpy as np
import pytest
import torch

import headlight
from headlight import HeadMask, Model
from headlight.frozen import FrozenMapping

TEXT = "a charming film"


def test_a_frozen_mapping_is_a_copy_that_stays() -> None:
    source = {"a": 1}
    frozen = FrozenMapping(source)
    source["a"] = 2
    assert frozen == {"a": 1}
    assert repr(frozen) == "FrozenMapping({'a': 1})"
    with pytest.raises(TypeError):
        frozen["a"] = 3  # type: ignore[index]


def test_attributions_can_be_pickled_and_copied(classifier: Model) -> None:
    attribution = headlight.explain(classifier, TEXT, "rollout")
    for other in (pickle.loads(pickle.dumps(attribution)), copy.deepcopy(attribution)):
        assert other == attribution
        assert other.versions == attribution.versions
        assert not other.scores.flags.writeable
    with pytest.raises(TypeError):
        attribution.options["seed"] = 1  # type: ignore[index]


def test_matrices_and_masks_can_be_pickled_and_copied(classifier: Model) -> None:
    mixing = headlight.mix(classifier, TEXT, "rollout")
    mask = HeadMask({"given": torch.eye(3).bool()}, {"model": "m"})
    for do in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy):
        np.testing.assert_array_equal(do(mixing).layers, mixing.layers)
        assert do(mask).facts == mask.facts
        assert bool((do(mask).heads == mask.heads).all())
