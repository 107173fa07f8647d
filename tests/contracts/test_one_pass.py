"""Every method explains a token within a text as if the text ended there: all tokens share one pass."""

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch, Target
from headlight.models.model import Task
from tests.networks import model, options, rows

FAMILIES = ["gpt2", "llama", "mistral", "qwen2"]


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_of_one_pass_have_the_scores_of_passes_that_end_before_them(family: str) -> None:
    wrapped, ids = model(family, Task.CAUSAL, torch.float64), rows()[2]
    names = list(METHODS)
    given = options(*names, family=family, dtype=torch.float64)
    for place in (2, len(ids) - 1):
        whole, cut = Batch.from_ids(ids), Batch.from_ids(ids[:place])
        together = headlight.explain(wrapped, whole, names, Target(span=(place, place)), **given)
        alone = headlight.explain(wrapped, cut, names, Target(label=ids[place]), **given)
        for name in names:
            expected = np.pad(alone[name].scores, (0, len(ids) - place))
            largest = max(np.abs(expected).max(), 1e-12)
            assert np.abs(together[name].scores - expected).max() < 1e-6 * largest, name
