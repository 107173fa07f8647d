"""DeepLIFT: every rule explains the whole difference, on operations and on networks of every family."""

from collections.abc import Callable

import pytest
import torch
from captum.attr import DeepLift
from torch import Tensor
from torch.nn import functional

from headlight import Batch, Target
from headlight.models.model import Task
from headlight.trace.relevance.deeplift import RULES
from headlight.trace.relevance.intercept import Interception, Sweep, Switchboard
from headlight.trace.trace import trace
from tests.networks import TARGETS, in_pairs, model, rows

GAIN = torch.linspace(-1.0, 2.0, 6, dtype=torch.float64)
WEIGHT = torch.randn(6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
OPERATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "layer_norm": lambda x: functional.layer_norm(x, (6,), GAIN, GAIN),
    "gelu": functional.gelu,
    "softmax": lambda x: torch.softmax(x, -1),
    "linear": lambda x: functional.linear(x, WEIGHT, GAIN),
    "residual": lambda x: x + functional.gelu(x),
    "difference": lambda x: functional.gelu(x) - x,
    "matmul": lambda x: (x @ x.transpose(1, 2)) @ x,
    "mul": lambda x: x * functional.silu(x),
    "scale and shift": lambda x: x * 3.0 + 1.0,
    "mean": lambda x: x * x.mean(1, keepdim=True),
}


def multiplied(operation: Callable[[Tensor], Tensor], x: Tensor, seed: Tensor) -> Tensor:
    """Multipliers of x [input and reference, …] for Σ seed ⊙ operation(x)."""
    board = Switchboard(2)
    leaf = x.clone().requires_grad_()
    with Interception(board, torch.nn.Identity(), lambda: None):
        result = operation(leaf)
    whole = torch.stack([seed, torch.zeros_like(seed)])
    with board.sweeping(Sweep("deeplift", RULES)):
        return torch.autograd.grad(result, leaf, whole)[0]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_rule_explains_the_whole_difference(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 4, 6, generator=generator, dtype=torch.float64)
    seed = torch.randn(4, 6, generator=generator, dtype=torch.float64)
    operation = OPERATIONS[name]
    found = multiplied(operation, x, seed)
    result = operation(x)
    expected = (seed * (result[0] - result[1])).sum()
    torch.testing.assert_close((found[0] * (x[0] - x[1])).sum(), expected)
    assert not found[1].any()


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_rule_is_the_gradient_where_the_reference_is_near(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, 4, 6, generator=generator, dtype=torch.float64)
    seed = torch.randn(4, 6, generator=generator, dtype=torch.float64)
    found = multiplied(OPERATIONS[name], torch.cat([x, x + 1e-5]), seed)[:1]
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad((seed * OPERATIONS[name](leaf)).sum(), leaf)
    torch.testing.assert_close(found, gradient, rtol=1e-3, atol=1e-4)


@in_pairs()
def test_the_scores_add_up_to_the_difference_of_the_logits(family: str, task: Task) -> None:
    """To 1e-4 in 64 bits: RMS norms of transformers compute in 32 bits."""
    wrapped, batch = model(family, task, torch.float64), Batch.from_ids(rows())
    seen = trace(wrapped, batch.rows, [TARGETS.get(task) or Target()] * len(rows()), {"replay"})
    generator = torch.Generator().manual_seed(0)
    reference = 0.3 * torch.randn(seen.embeddings.shape, generator=generator, dtype=torch.float64)
    reference = reference * seen.inputs.present[..., None]
    scores = (seen.multiply(reference) * (seen.embeddings - reference)).sum((1, 2))
    with torch.no_grad():
        ends = seen.replay(torch.cat([seen.embeddings, reference]))
    gained = ends[: len(scores)] - ends[len(scores) :]
    assert float((scores - gained).abs().max()) < 1e-4 * (1 + float(gained.abs().max()))


def test_a_plain_network_is_explained_as_captum_does() -> None:
    """Without attention and norms captum's rules cover the whole network."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 5), torch.nn.ReLU()
    ).double()
    x = torch.randn(2, 4, 6, dtype=torch.float64)
    seed = torch.zeros(4, 5, dtype=torch.float64)
    seed[:, 2] = 1.0
    with pytest.warns(UserWarning, match="Setting forward, backward hooks"):
        expected = DeepLift(net).attribute(x[0].clone().requires_grad_(), x[1], target=2)
    found = multiplied(net, x, seed)[0] * (x[0] - x[1])
    torch.testing.assert_close(found, expected.detach())


@pytest.mark.parametrize("distance", [1e-9, 1e-3, 1.0, 30.0, 300.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax_is_explained_however_far_the_reference_is(
    distance: float, dtype: torch.dtype
) -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(2, 4, 6, generator=generator, dtype=dtype)
    x[1] = x[0] + distance * torch.randn(4, 6, generator=generator, dtype=dtype)
    seed = torch.randn(4, 6, generator=generator, dtype=dtype)
    found = multiplied(lambda values: torch.softmax(values, -1), x, seed)[0]
    gained = (seed * (torch.softmax(x[0], -1) - torch.softmax(x[1], -1))).sum()
    assert torch.isfinite(found).all()
    tolerance = 1e-5 if dtype == torch.float32 else 1e-11
    torch.testing.assert_close(
        (found * (x[0] - x[1])).sum(), gained, rtol=tolerance, atol=tolerance
    )
