"""Paths and perturbation: against captum on the same network, exact values, and known answers."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from captum._utils.models.linear_model import SkLearnLinearRegression
from captum.attr import (
    FeatureAblation,
    IntegratedGradients,
    LimeBase,
    Occlusion,
    ShapleyValueSampling,
)

import headlight
from headlight import Batch, InvalidOption, Model, UnknownName
from headlight.methods.integrated_gradients import integrated
from headlight.methods.perturbation import values_of
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.baselines import Baseline
from headlight.trace.trace import Trace, trace
from tests.networks import model, network, rows

IDS = rows()[0][:6]


@pytest.fixture(scope="module")
def wrapped() -> Model:
    return headlight.wrap(network("bert", Task.SEQUENCE).double())


@pytest.fixture
def traced(wrapped: Model) -> Trace:
    return trace(wrapped, Batch.from_ids([IDS]).rows, [Target(label=1)], {"replay"})


def scores(wrapped: Model, name: str, **options: Any) -> np.ndarray:
    return headlight.explain(wrapped, Batch.from_ids(IDS), name, target=1, **options).scores


def embed(net: Any, ids: torch.Tensor) -> torch.Tensor:
    return net.bert.embeddings(ids)


def from_embeddings(net: Any) -> Any:
    """The logit of class 1 from the embedding output, without headlight."""

    def forward(embeddings: torch.Tensor) -> torch.Tensor:
        hidden = net.bert.encoder(embeddings).last_hidden_state
        return net.classifier(net.bert.pooler(hidden))[:, 1]

    return forward


def from_ids(net: Any) -> Any:
    return lambda ids: net(ids.long()).logits[:, 1]


def test_integrated_gradients_are_those_of_captum(wrapped: Model) -> None:
    net = wrapped.network
    ids = torch.tensor([IDS])
    inputs, start = embed(net, ids).detach(), embed(net, torch.zeros_like(ids)).detach()
    expected = IntegratedGradients(from_embeddings(net)).attribute(
        inputs, start, n_steps=20, method="gausslegendre"
    )
    found = scores(wrapped, "integrated_gradients", steps=20, baseline="pad")
    np.testing.assert_allclose(found, expected[0].sum(-1).detach(), rtol=1e-7, atol=1e-9)
    lengths = scores(wrapped, "integrated_gradients_l2", steps=20, baseline="pad")
    np.testing.assert_allclose(lengths, expected[0].norm(dim=-1).detach(), rtol=1e-7)


@pytest.mark.parametrize("window", [1, 3])
def test_occlusion_is_that_of_captum(wrapped: Model, window: int) -> None:
    ids = torch.tensor([IDS])
    with torch.no_grad():
        expected = Occlusion(from_ids(wrapped.network)).attribute(
            ids, sliding_window_shapes=(window,), baselines=0
        )
    found = scores(wrapped, "occlusion", window=window, baseline="pad")
    np.testing.assert_allclose(found, expected[0].numpy(), rtol=1e-6, atol=1e-8)
    if window == 1:
        with torch.no_grad():
            single = FeatureAblation(from_ids(wrapped.network)).attribute(ids, baselines=0)
        np.testing.assert_allclose(found, single[0].numpy(), rtol=1e-6, atol=1e-8)


def exact_shapley(traced: Trace, baseline: Baseline) -> np.ndarray:
    """By all orders in which the tokens can come back."""
    count = len(IDS)
    total = np.zeros(count)
    orders = list(permutations(range(count)))
    subsets = torch.tensor([[bool(n >> t & 1) for t in range(count)] for n in range(2**count)])
    values = values_of(traced, subsets[:, None], baseline)[:, 0].numpy()
    for order in orders:
        seen = 0
        for token in order:
            total[token] += values[seen | 1 << token] - values[seen]
            seen |= 1 << token
    return total / len(orders)


@pytest.mark.slow
def test_shapley_approaches_the_exact_value_and_captum(wrapped: Model, traced: Trace) -> None:
    exact = exact_shapley(traced, Baseline("pad", 0))
    found = scores(wrapped, "shapley", permutations=300, baseline="pad")
    spread = np.abs(exact).max()
    np.testing.assert_allclose(found, exact, atol=0.08 * spread)
    np.testing.assert_allclose(found.sum(), exact.sum(), rtol=1e-9)
    torch.manual_seed(0)
    with torch.no_grad():
        captum = ShapleyValueSampling(from_ids(wrapped.network)).attribute(
            torch.tensor([IDS]), baselines=0, n_samples=300
        )
    np.testing.assert_allclose(found, captum[0].numpy(), atol=0.16 * spread)


@pytest.mark.slow
def test_lime_is_that_of_captum_within_sampling_error(wrapped: Model) -> None:
    """Captum draws as we do and weighs as we do; only the samples differ."""

    def taken_away(original: torch.Tensor, **_: Any) -> torch.Tensor:
        kept = torch.ones_like(original)
        count = int(torch.randint(1, len(IDS) + 1, (1,)))
        kept[0, torch.randperm(len(IDS))[:count]] = 0
        return kept

    def nearness(_whole: Any, _changed: Any, kept: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.exp(-((1 - kept.double().mean().sqrt()) ** 2) / 0.25**2)

    torch.manual_seed(0)
    explainer = LimeBase(
        from_ids(wrapped.network),
        SkLearnLinearRegression(),
        nearness,
        taken_away,
        perturb_interpretable_space=True,
        from_interp_rep_transform=lambda kept, ids, **_: ids * kept,
        to_interp_rep_transform=None,
    )
    with torch.no_grad():
        expected = explainer.attribute(torch.tensor([IDS]), n_samples=1500)[0].numpy()
    found = scores(wrapped, "lime", samples=1500, ridge=0.0, baseline="pad")
    np.testing.assert_allclose(found, expected, atol=0.1 * np.abs(expected).max())


def adding_up() -> Model:
    """A classifier whose logit is the mean of its tokens' own numbers."""
    net = network("modernbert", Task.SEQUENCE, classifier_pooling="mean").double()
    with torch.no_grad():
        for layer in net.model.layers:
            layer.attn.Wo.weight.zero_()
            layer.mlp.Wo.weight.zero_()
    net.model.final_norm = torch.nn.Identity()
    net.head = torch.nn.Identity()
    return headlight.wrap(net)


def test_all_agree_where_tokens_add_up() -> None:
    """There every order, every sample and every step gives a token the same share."""
    wrapped = adding_up()
    expected = scores(wrapped, "occlusion", baseline="pad")
    assert np.abs(expected).min() > 1e-4
    cases: dict[str, dict[str, Any]] = {
        "shapley": {"permutations": 2},
        "integrated_gradients": {"steps": 1},
        "deeplift": {},
        "gradient_shap": {"samples": 2},
        "lime": {"samples": 60, "ridge": 0.0},
    }
    for name, options in cases.items():
        found = scores(wrapped, name, baseline="pad", **options)
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=name)


def test_integrated_gradients_say_how_far_they_miss(wrapped: Model, traced: Trace) -> None:
    fine, coarse = (
        headlight.explain(
            wrapped, Batch.from_ids(IDS), "integrated_gradients", 1, steps=steps, baseline="pad"
        )
        for steps in (100, 1)
    )
    gained = values_of(
        traced, torch.tensor([[[True] * len(IDS)], [[False] * len(IDS)]]), Baseline("pad", 0)
    )
    assert fine.scores.sum() == pytest.approx(float(gained[0] - gained[1]), rel=1e-6)
    assert "miss the difference from the baseline by" in fine.notes[-1]
    assert fine.notes[-1].endswith("% after 100 steps")
    assert coarse.notes[-1].startswith("not reliable: integrated gradients miss")


def test_special_tokens_stay_and_score_nothing(classifier: Model) -> None:
    for name in ("occlusion", "shapley", "lime", "integrated_gradients"):
        found = headlight.explain(classifier, "a charming film", name)
        assert found.options["baseline"] == "mask"
        for score, special in zip(found.scores, found.is_special, strict=True):
            assert (score == 0) == special, name


def test_a_row_of_a_decoder_without_pad_token_is_perturbed_alone() -> None:
    net = network("gpt2", Task.SEQUENCE, pad_token_id=None)
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(IDS), "occlusion")
    assert found.options["baseline"] == "mean"
    assert np.ptp(found.scores) > 0


def test_the_gone_text_and_the_way_to_it_are_made_once(traced: Trace) -> None:
    pad = Baseline("pad", 0)
    assert pad.embeddings(traced) is pad.embeddings(traced)
    assert integrated(traced, 2, pad) is integrated(traced, 2, pad)
    assert integrated(traced, 3, pad) is not integrated(traced, 2, pad)


def test_bad_options_are_refused(writer: Model) -> None:
    batch = Batch.from_ids(IDS)
    bert = model("bert", Task.SEQUENCE)
    for name, option in (
        ("integrated_gradients", "steps"),
        ("occlusion", "window"),
        ("shapley", "permutations"),
        ("lime", "samples"),
        ("smooth_gradient", "samples"),
        ("gradient_shap", "samples"),
    ):
        options: dict[str, Any] = {option: 0}
        with pytest.raises(InvalidOption, match=f"{option}=0 is not possible"):
            headlight.explain(bert, batch, name, **options)
    with pytest.raises(UnknownName, match="no baseline named 'msk'"):
        headlight.explain(bert, batch, "occlusion", baseline="msk")
    with pytest.raises(
        InvalidOption, match=r"has no mask token\. Its baselines: 'mean', 'pad', 'zero'"
    ):
        headlight.explain(bert, batch, "occlusion", baseline="mask")
