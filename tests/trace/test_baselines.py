"""What stands for a token that is taken away."""

import pytest
import torch

from headlight import Batch, InvalidOption, Target, UnknownName
from headlight.batch import encode
from headlight.methods.integrated_gradients import integrated
from headlight.models.model import Model, Task
from headlight.trace.baselines import ZERO, Baseline, chosen_baseline
from headlight.trace.trace import Trace, trace
from tests.networks import model, rows

IDS = rows()[0]


@pytest.fixture(scope="module")
def traced() -> Trace:
    own = model("bert", Task.SEQUENCE, torch.float64)
    return trace(own, Batch.from_ids([IDS]).rows, [Target(label=1)], {"replay"})


def test_zero_is_no_embedding(traced: Trace) -> None:
    assert not ZERO.embeddings(traced).any()
    result, _ = integrated(traced, 2, ZERO)
    assert result.shape == traced.embeddings.shape


def test_special_tokens_stay_and_every_other_one_is_replaced(classifier: Model) -> None:
    row = encode(["a charming film"], classifier.tokenizer)  # type: ignore[arg-type]
    seen = trace(classifier, row, [Target()], {"replay"})
    mask = chosen_baseline(classifier, None)
    assert (mask.kind, mask.token, str(mask)) == (
        "mask",
        classifier.tokenizer.mask_token_id,  # type: ignore[union-attr]
        "mask",
    )
    found, own = mask.embeddings(seen)[0], seen.embeddings[0]
    torch.testing.assert_close(found[[0, -1]], own[[0, -1]])
    ids = [row[0].ids[0], *[mask.token] * 3, row[0].ids[-1]]
    masked = trace(classifier, Batch.from_ids([ids]).rows, [Target()], {"replay"})
    torch.testing.assert_close(found, masked.embeddings[0])
    assert mask.embeddings(seen) is mask.embeddings(seen)


def test_a_model_without_a_mask_token_takes_the_mean() -> None:
    own = model("llama", Task.CAUSAL)
    assert chosen_baseline(own, None) == Baseline("mean")
    assert chosen_baseline(own, ZERO) is ZERO
    with pytest.raises(InvalidOption, match=r"has no mask token\. Its baselines: 'mean'"):
        chosen_baseline(own, "mask")
    with pytest.raises(UnknownName, match=r"no baseline named 'blank'.*Known: mask, mean"):
        chosen_baseline(own, "blank")
