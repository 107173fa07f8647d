"""Each method against its oracle, in 64 bits."""

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch
from headlight.models.model import Task
from tests.networks import DECODERS, network, options, rows
from tests.reference.oracles import ORACLES
from tests.reference.passes import independent_pass

CASES = [
    ("bert", Task.SEQUENCE),
    ("distilbert", Task.SEQUENCE),
    ("deberta-v2", Task.SEQUENCE),
    ("modernbert", Task.SEQUENCE),
    ("mpnet", Task.SEQUENCE),
    ("roberta", Task.SEQUENCE),
    ("gpt2", Task.CAUSAL),
    ("llama", Task.CAUSAL),
    ("mistral", Task.CAUSAL),
    ("qwen3", Task.SEQUENCE),
]


def test_every_method_and_variant_has_an_oracle() -> None:
    """Those of relevance are walks through whole networks, in test_relevance.py; those of modified gradients
    are whole networks, in test_modified_gradient.py; samples have a limit, in test_perturbation.py;
    DeepLIFT is held by what it adds up to, in test_deeplift.py; what is asked again, in test_peel.py.
    """
    elsewhere = {n for n in METHODS if "seed" in METHODS[n].options} | {"deeplift", "deeplift_shap"}
    walked = {"relevance", "modified_gradient", "again"}
    others = [n for n in METHODS if n not in elsewhere and not walked & set(METHODS[n].needs)]
    papers = {(name, "paper") for name in others}
    released = {(name, "released") for name in others if METHODS[name].released}
    assert set(ORACLES) == papers | released


@pytest.mark.parametrize(("family", "task"), CASES)
def test_methods_equal_their_oracles(family: str, task: Task) -> None:
    ids, label = rows()[1], 1
    net = network(family, task).double()
    speaker = network(family, Task.CAUSAL if family in DECODERS else Task.MASKED).double()
    expected = independent_pass(net, ids, task, label, speaker)
    wrapped = headlight.wrap(network(family, task).double())
    batch = Batch.from_ids([ids, rows()[2]])
    for variant in ("paper", "released"):
        names = [name for name, other in ORACLES if other == variant]
        given = options(*names, family=family, dtype=torch.float64)
        found = headlight.explain(wrapped, batch, names, label, variant=variant, **given)
        for name in names:
            oracle = ORACLES[name, variant](expected)
            scores = found[name][0].scores
            tolerance = 1e-8 if name == "attention_flow" else 1e-10
            assert np.abs(scores - oracle).max() <= tolerance * np.abs(oracle).max(), (
                name,
                variant,
            )
