"""Operations are read as they were called, and none passes unseen."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from transformers.models.cohere.modeling_cohere import CohereLayerNorm
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm

import headlight
from headlight import Batch
from headlight.errors import UnsupportedModel
from headlight.models.model import Task
from headlight.trace.relevance.intercept import (
    MOVES,
    READERS,
    Interception,
    Sweep,
    Switchboard,
    intercepted,
    normalisation,
    unit_kind,
)
from headlight.trace.relevance.rules import Operation, pass_on, share_product
from tests.networks import network, rows

IDS = rows()[1]


def test_operations_without_a_rule_are_named_with_their_place() -> None:
    net = network("bert", Task.SEQUENCE)
    dense = net.bert.encoder.layer[1].intermediate  # type: ignore[index, union-attr]
    forward = dense.forward
    dense.forward = lambda x: torch.cumsum(forward(x), -1)
    wrapped = headlight.wrap(net)
    with pytest.raises(
        UnsupportedModel, match=r"'cumsum' has no rule in the preset 'chefer'.*layer\.1"
    ):
        headlight.explain(wrapped, Batch.from_ids(IDS), "lrp")
    assert headlight.explain(wrapped, Batch.from_ids(IDS), "gae").scores.any()


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (lambda x: x.max(-1, keepdim=True)[0] + x, "max"),
        (lambda x: torch.add(x, x, alpha=0.5), "add"),
        (lambda x: x / (1 + x.abs().sum(-1, keepdim=True)), "abs"),
    ],
)
def test_no_operation_passes_unseen(
    operation: Callable[[torch.Tensor], torch.Tensor], name: str
) -> None:
    net = network("bert", Task.SEQUENCE)
    dense = net.bert.encoder.layer[1].intermediate  # type: ignore[index, union-attr]
    forward = dense.forward
    dense.forward = lambda x: operation(forward(x))
    with pytest.raises(UnsupportedModel, match=f"'{name}|that depends on the input"):
        headlight.explain(headlight.wrap(net), Batch.from_ids(IDS), "lrp")


# ------------------------------------------------------------------------------ one operation


class Recorder(Interception):
    """An interception that keeps what it read: the name of a function, the operation, its inputs."""

    def __init__(self) -> None:
        super().__init__(Switchboard(2), torch.nn.Identity(), lambda: None)
        self.seen: list[tuple[str, Operation, tuple[Tensor, ...]]] = []

    def read(self, name: str, *call: Any) -> tuple[Operation, tuple[Tensor, ...]]:
        operation, inputs = super().read(name, *call)
        self.seen.append((name, operation, inputs))
        return operation, inputs


def drawn(*shape: int, seed: int = 0, takes: bool = True) -> Tensor:
    """Seeded numbers that relevance can go to, or constants."""
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return made.requires_grad_(takes)


X, Y = drawn(2, 3, 4), drawn(2, 3, 4, seed=1)
CONSTANT = drawn(2, 3, 4, seed=2, takes=False)
WEIGHT, BIAS = drawn(5, 4, seed=3, takes=False), drawn(5, seed=4, takes=False)
GAIN = drawn(4, seed=5, takes=False)


def added_to(x: Tensor, way: str) -> Tensor:
    """x after an operation in place, on a value that is no leaf."""
    x = x.clone()
    return getattr(x, way)(Y)


READ: dict[str, tuple[Callable[[], Tensor], str, tuple[Tensor, ...]]] = {
    "linear": (lambda: functional.linear(X, WEIGHT, BIAS), "linear", (X,)),
    "addmm": (lambda: torch.addmm(BIAS, X[0], WEIGHT.T), "addmm", (X[0],)),
    "conv1d": (
        lambda: functional.conv1d(X, drawn(3, 3, 2, takes=False), drawn(3, takes=False)),
        "convolution",
        (X,),
    ),
    "matmul": (lambda: torch.matmul(X, Y.transpose(1, 2)), "matmul", (X, Y.transpose(1, 2))),
    "bmm": (
        lambda: torch.bmm(X, CONSTANT.transpose(1, 2)),
        "matmul",
        (X, CONSTANT.transpose(1, 2)),
    ),
    "add": (lambda: torch.add(X, Y), "add", (X, Y)),
    "add_": (lambda: added_to(X, "add_"), "add", (X, Y)),
    "sub": (lambda: torch.sub(X, Y), "add", (X, Y)),
    "mul": (lambda: torch.mul(X, Y), "mul", (X, Y)),
    "mul_": (lambda: added_to(X, "mul_"), "mul", (X, Y)),
    "div": (lambda: torch.div(X, 2.0), "scale", (X,)),
    "true_divide": (lambda: torch.true_divide(X, CONSTANT), "scale", (X,)),
    "sum": (lambda: X.sum((1, -1)), "sum", (X,)),
    "mean": (lambda: X.mean(-1, keepdim=True), "sum", (X,)),
    "neg": (lambda: torch.neg(X), "scale", (X,)),
    "softmax": (lambda: torch.softmax(X, -1), "softmax", (X,)),
    "gelu": (lambda: functional.gelu(X), "activation", (X,)),
    "relu": (lambda: functional.relu(X), "activation", (X,)),
    "silu": (lambda: functional.silu(X), "activation", (X,)),
    "tanh": (lambda: X.tanh(), "activation", (X,)),
    "sigmoid": (lambda: X.sigmoid(), "activation", (X,)),
    "layer_norm": (lambda: functional.layer_norm(X, (4,), GAIN, GAIN), "layer_norm", (X,)),
    "rms_norm": (lambda: functional.rms_norm(X, (4,), GAIN), "norm", (X,)),
}
"""By the name of a function: a call of it, and the kind and inputs it must be read as."""


def read(call: Callable[[], Any]) -> tuple[str, Operation, tuple[Tensor, ...]]:
    """What the one operation of a call is read as."""
    recorder = Recorder()
    with recorder:
        call()
    (seen,) = recorder.seen
    return seen


def in_place(way: str) -> Tensor:
    """A value that is no leaf, after an operator that writes into it."""
    x = X.clone()
    if way == "+":
        x += Y
    else:
        x *= Y
    return x


@pytest.mark.parametrize(
    ("call", "name", "kind"),
    [
        (lambda: X + Y, "add", "add"),
        (lambda: 1.0 + X, "add", "shift"),
        (lambda: in_place("+"), "add_", "add"),
        (lambda: X - CONSTANT, "sub", "shift"),
        (lambda: X * CONSTANT, "mul", "scale"),
        (lambda: CONSTANT * X, "mul", "scale"),
        (lambda: 2.0 * X, "mul", "scale"),
        (lambda: in_place("*"), "mul_", "mul"),
        (lambda: X / 2.0, "div", "scale"),
        (lambda: X / Y, "div", "division by a value that depends on the input"),
        (lambda: 2.0 / X, "__rdiv__", "__rdiv__"),
        (lambda: -X, "neg", "scale"),
        (lambda: X @ Y.mT, "matmul", "matmul"),
        (lambda: X @ WEIGHT.T, "matmul", "linear"),
    ],
)
def test_operators_go_by_the_names_of_their_functions(
    call: Callable[[], Tensor], name: str, kind: str
) -> None:
    seen, operation, _ = read(call)
    assert (seen, operation.kind) == (name, kind)


def test_every_reader_is_tested() -> None:
    assert set(READ) == set(READERS)


@pytest.mark.parametrize("name", READ)
def test_an_operation_is_read_as_it_was_called(name: str) -> None:
    call, kind, inputs = READ[name]
    seen, operation, found = read(call)
    assert (seen, operation.kind, operation.rows) == (name, kind, 2)
    assert len(found) == len(inputs)
    for own, expected in zip(found, inputs, strict=True):
        torch.testing.assert_close(own, expected)


@pytest.mark.parametrize("name", ["linear", "addmm", "conv1d", "layer_norm"])
def test_a_linear_map_gives_the_output_and_its_transpose_the_gradient(name: str) -> None:
    """z = forward(x) + b, and back is the gradient, the spread of a norm held constant."""
    call, _, (x,) = READ[name]
    _, operation, _ = read(call)
    own, z = operation.map, call()
    assert own is not None
    leaf = x.detach().clone().requires_grad_()
    forward = own.forward(leaf, own.weight)
    torch.testing.assert_close(own.without_bias(z), forward)
    share = drawn(*z.shape, seed=9, takes=False)
    (gradient,) = torch.autograd.grad(forward, leaf, share)
    torch.testing.assert_close(own.back(share, own.weight), gradient)


@pytest.mark.parametrize(
    ("call", "kind", "signs"),
    [
        (lambda: X + Y, "add", (1, 1)),
        (lambda: X - Y, "add", (1, -1)),
        (lambda: 1.0 + X, "shift", ()),
    ],
)
def test_sums_know_their_signs(call: Callable[[], Tensor], kind: str, signs: object) -> None:
    _, operation, _ = read(call)
    assert (operation.kind, operation.signs) == (kind, signs)


@pytest.mark.parametrize(
    ("call", "dims"),
    [
        (lambda: X.sum(), (0, 1, 2)),
        (lambda: X.sum(1), (1,)),
        (lambda: X.mean((-1, -2)), (2, 1)),
        (lambda: X.sum(dim=-1, keepdim=True), (2,)),
    ],
)
def test_totals_know_their_axes(call: Callable[[], Tensor], dims: tuple[int, ...]) -> None:
    assert read(call)[1].dims == dims


def test_products_know_which_factors_take_relevance() -> None:
    assert read(lambda: torch.bmm(X, CONSTANT.transpose(1, 2)))[1].takes == (True, False)
    assert read(lambda: torch.bmm(CONSTANT, Y.transpose(1, 2)))[1].takes == (False, True)


def test_a_layer_norm_without_weights_is_one_with_ones() -> None:
    _, operation, _ = read(lambda: functional.layer_norm(X, (4,)))
    assert operation.norm is not None
    assert (operation.norm.is_centred, operation.norm.epsilon) == (True, 1e-5)
    assert operation.map is not None
    torch.testing.assert_close(
        operation.map.forward(X, operation.map.weight), functional.layer_norm(X, (4,))
    )


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: torch.cumsum(X, -1), "cumsum"),
        (lambda: X.amax(-1), "amax"),
        (lambda: torch.add(X, Y, alpha=2), "add of this form"),
    ],
)
def test_an_operation_without_a_reader_names_itself(call: Callable[[], Any], kind: str) -> None:
    _, operation, inputs = read(call)
    assert operation.kind == kind
    assert inputs[0] is X
    with pytest.raises(UnsupportedModel, match=f"'{kind}' has no rule in the preset 'none'"):
        Sweep("none", {}).shares(operation, inputs, X, X)


# ------------------------------------------------------------------------------------- switches

MOVED: dict[str, Callable[[Tensor], Any]] = {
    "view": lambda x: x.view(2, 12),
    "reshape": lambda x: x.reshape(12, 2),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(),
    "__getitem__": lambda x: x[:, 1:],
    "expand": lambda x: x[:1].expand(4, 3, 4),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(-1, (2, 2)),
    "split": lambda x: x.split(2, -1)[1],
    "chunk": lambda x: x.chunk(2, -1)[0],
    "cat": lambda x: torch.cat([x, x], -1),
    "stack": lambda x: torch.stack([x, x]),
    "unbind": lambda x: x.unbind(1)[2],
    "to": lambda x: x.to(torch.float64),
    "float": lambda x: x.float(),
    "type_as": lambda x: x.type_as(x),
    "clone": lambda x: x.clone(),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "repeat": lambda x: x.repeat(1, 1, 3),
    "gather": lambda x: x.gather(2, torch.zeros(2, 3, 2, dtype=torch.long)),
    "index_select": lambda x: x.index_select(1, torch.tensor([0, 0, 2])),
    "masked_fill": lambda x: x.masked_fill(torch.eye(3, 4).bool(), 0.0),
    "where": lambda x: torch.where(torch.eye(3, 4).bool(), x, 0.0),
    "dropout": lambda x: functional.dropout(x, 0.5, training=False),
    "view_as": lambda x: x.view_as(torch.empty(3, 2, 4)),
    "expand_as": lambda x: x[:1].expand_as(x),
    "narrow": lambda x: x.narrow(1, 0, 2),
    "select": lambda x: x.select(1, 0),
    "movedim": lambda x: x.movedim(0, 2),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "__get__": lambda x: x.mT,
    "requires_grad_": lambda x: x.clone().requires_grad_(),
    "double": lambda x: x.double(),
    "half": lambda x: x.half().double(),
    "bfloat16": lambda x: x.bfloat16().double(),
    "type": lambda x: x.type(torch.float64),
}


def test_every_move_is_tested() -> None:
    assert set(MOVED) == MOVES


@pytest.mark.parametrize("name", MOVED)
def test_relevance_follows_a_move_as_gradients_do(name: str) -> None:
    """No rule is asked, in a sweep without any."""
    recorder, move = Recorder(), MOVED[name]
    leaf, plain = (X.detach().clone().requires_grad_() for _ in range(2))
    with recorder:
        moved = move(leaf)
    expected = move(plain)
    share = drawn(*expected.shape, seed=7, takes=False).to(expected)
    with recorder.board.sweeping(Sweep("none", {})):
        (found,) = torch.autograd.grad(moved, leaf, share)
    assert not recorder.seen
    torch.testing.assert_close(found, torch.autograd.grad(expected, plain, share)[0])


def test_a_switch_hands_on_gradients_or_relevance_and_forgets_the_sweep() -> None:
    board, leaf = Switchboard(2), X.detach().clone().requires_grad_()
    with Interception(board, torch.nn.Identity(), lambda: None):
        result = torch.tanh(leaf) * 3.0
    ones = torch.ones_like(result)
    (gradient,) = torch.autograd.grad(result, leaf, ones, retain_graph=True)
    torch.testing.assert_close(gradient, 3 * (1 - X.tanh() ** 2).detach())
    kinds = {"activation": pass_on, "scale": pass_on}
    with board.sweeping(Sweep("passing", kinds)):
        (relevance,) = torch.autograd.grad(result, leaf, ones, retain_graph=True)
    torch.testing.assert_close(relevance, ones)
    with pytest.raises(RuntimeError, match="stop"), board.sweeping(Sweep("passing", kinds)):
        raise RuntimeError("stop")
    assert board.sweep is None
    torch.testing.assert_close(torch.autograd.grad(result, leaf, ones)[0], gradient)


def test_several_results_of_one_operation_are_switched_each() -> None:
    recorder = Recorder()
    with recorder:
        values, places = X.max(-1)
    assert recorder.seen[0][1].kind == "max"
    assert type(values.grad_fn).__name__ == "SwitchBackward"
    assert not places.requires_grad


def test_the_product_of_attention_and_values_is_found_by_its_weights() -> None:
    weights, values = drawn(2, 2, 3, 3), drawn(2, 2, 3, 4, seed=1)
    board = Switchboard(2)
    mode = Interception(board, torch.nn.Identity(), lambda: weights)
    first, _ = mode.read("matmul", (weights, values), {})
    second, _ = mode.read("matmul", (weights, values), {})
    other, _ = mode.read("matmul", (values.mT, weights), {})
    assert [(op.kind, op.layer) for op in (first, second, other)] == [
        ("attend", 0),
        ("attend", 1),
        ("matmul", -1),
    ]
    assert board.attended == 2


def test_a_gate_stands_before_the_heads_and_what_it_keeps_out_can_be_kept() -> None:
    def close_the_first(relevance: Tensor, layer: int) -> Tensor:
        assert layer == 3
        return relevance * torch.tensor([0.0, 1.0], dtype=torch.float64)[None, :, None, None]

    weights, values = drawn(4, 3, 3, takes=False), drawn(4, 3, 5, seed=1, takes=False)
    op = Operation("attend", 2, takes=(True, True), layer=3)
    relevance = drawn(4, 3, 5, seed=2, takes=False)
    z = weights @ values
    sweep = Sweep("chefer", {"attend": share_product}, close_the_first, keeps_ungated=True)
    gated, _ = sweep.shares(op, (weights, values), z, relevance)
    whole, _ = share_product(op, (weights, values), z, relevance)
    assert gated is not None
    assert whole is not None
    by_head = gated.reshape(2, 2, 3, 3)
    assert not by_head[:, 0].any()
    torch.testing.assert_close(by_head[:, 1], whole.reshape(2, 2, 3, 3)[:, 1])
    torch.testing.assert_close(sweep.ungated[3], whole.reshape(2, 2, 3, 3))


# ----------------------------------------------------------------------------- modules as a unit


def test_modules_that_are_one_step_are_known() -> None:
    bert, llama = network("bert", Task.SEQUENCE), network("llama", Task.CAUSAL)
    assert unit_kind(llama.model.norm) == "norm"
    assert unit_kind(bert.bert.encoder.layer[0].intermediate.intermediate_act_fn) == "activation"  # type: ignore[index, union-attr]
    assert unit_kind(torch.nn.LayerNorm(4)) is None
    assert unit_kind(bert.bert.encoder) is None  # type: ignore[arg-type, union-attr]


def test_the_constants_of_a_norm_are_known_by_what_it_computes() -> None:
    x = torch.randn(2, 3, 16)

    def of(norm: torch.nn.Module) -> Any:
        with torch.no_grad():
            for parameter in norm.parameters():
                parameter.copy_(torch.randn(16))
            return normalisation(norm, x, norm(x))

    llama, gemma, cohere = LlamaRMSNorm(16, 1e-5), GemmaRMSNorm(16, 1e-5), CohereLayerNorm(16, 1e-5)
    assert (of(llama).is_centred, of(llama).epsilon) == (False, 1e-5)
    torch.testing.assert_close(of(gemma).weight, 1 + gemma.weight.detach())
    assert of(cohere).is_centred
    assert normalisation(llama, x, 2 * llama(x)) is None
    assert normalisation(torch.nn.Linear(2, 2), x, x) is None


def test_a_unit_run_by_another_thread_is_left_alone() -> None:
    net = network("llama", Task.CAUSAL)
    states = torch.randn(1, 3, net.config.hidden_size, requires_grad=True)
    board = Switchboard(1)
    with intercepted(net, board, lambda: False, lambda: None):
        foreign = torch.nn.Module.__call__(net.model.norm, states)
    plain = net.model.norm(states)
    torch.testing.assert_close(foreign, plain)
    with intercepted(net, board, lambda: True, lambda: None):
        own = net.model.norm(states)
    assert type(own.grad_fn).__name__ == "SwitchBackward"
    assert not net.model.norm._forward_hooks
