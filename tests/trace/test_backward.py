"""Gradients in float16 neither vanish nor overflow, whatever they start from."""

import numpy as np
import pytest
import torch
from torch import Tensor

import headlight
from headlight import Batch, Target
from headlight.models.model import Model, Task
from headlight.running import precision
from headlight.trace.backward import swept_back
from tests.networks import network, rows


def line(slope: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Two rows, and logits [row, position, class] that are a multiple of them."""
    x = torch.tensor([[0.5, -0.25], [0.125, 0.75]], dtype=dtype, requires_grad=True)
    return x, (x * slope)[:, None]


@pytest.mark.parametrize("slope", [2.0**-9, 1.0, 2.0**9])
def test_the_gradients_divided_by_the_scales_are_exact(slope: float) -> None:
    x, logits = line(slope, torch.float16)
    sizes = torch.tensor([1e-9, 3.0])  # of which float16 does not know the first

    scales, (gradient,) = swept_back(lambda y: y.float().sum((1, 2)) * sizes, logits, [x])
    found = gradient.float() / scales[:, None]
    torch.testing.assert_close(found, (sizes * slope)[:, None].expand(2, 2), rtol=1e-3, atol=0)


def test_a_sweep_that_overflows_starts_again_from_less() -> None:
    x, logits = line(2.0**12, torch.float16)
    scales, (gradient,) = swept_back(lambda y: y.float().sum((1, 2)), logits, [x])
    assert gradient.isfinite().all()
    assert float((gradient.float() / scales[:, None] - 2.0**12).abs().max()) == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_other_types_start_from_what_they_are_asked(dtype: torch.dtype) -> None:
    x, logits = line(2.0, dtype)
    scales, (gradient,) = swept_back(lambda y: y.sum((1, 2)), logits, [x])
    assert scales.tolist() == [1, 1]
    assert gradient.tolist() == [[2, 2], [2, 2]]


def test_a_row_whose_value_depends_on_nothing_has_gradients_of_zero() -> None:
    x, logits = line(2.0, torch.float16)
    _, (gradient,) = swept_back(lambda y: 0 * y.float().sum((1, 2)), logits, [x])
    assert not gradient.any()


def certain(dtype: torch.dtype) -> Model:
    """A network that is nearly certain of its label, whose probability hardly changes."""
    net = network("bert", Task.SEQUENCE, initializer_range=0.05)
    with torch.no_grad():
        net.get_parameter("classifier.bias").copy_(torch.tensor([14.0, 0.0, 0.0]))
    half = net.to(torch.float16)  # type: ignore[arg-type]
    return headlight.wrap(half.to(dtype))


def test_gradients_of_a_probability_near_1_do_not_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "MOST_PARAMETERS", 0)
    target, batch = Target(label=0, output="probability"), Batch.from_ids(rows())
    names = ["input_x_gradient_l2", "grads", "gae", "cat"]
    found, exact = (
        headlight.explain(certain(dtype), batch, names, target)
        for dtype in (torch.float16, torch.float64)
    )
    for name in names:
        for own, true in zip(found[name], exact[name], strict=True):
            size = np.abs(true.scores).max()
            assert np.abs(own.scores - true.scores).max() < 0.1 * size, name
