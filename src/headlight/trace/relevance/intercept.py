"""One forward pass for two kinds of backward sweep: gradients, or relevance.

Inside `intercepted`, the result of every operation that depends on the embeddings goes through a `Switch`. In
a plain sweep a switch passes the gradient to the operation itself, so gradients are autograd's own. In a
relevance sweep it passes the shares that a rule computes directly to the operation's inputs. If a value is used
several times, autograd adds up its shares. Operations that only move values need no rule.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from traceback import walk_stack
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d
from torch.nn.grad import conv1d_input
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from headlight.errors import UnsupportedModel
from headlight.running.precision import stored
from headlight.trace.relevance.rules import (
    LinearMap,
    Normalisation,
    Operation,
    Rule,
    Shares,
    gradient_linear,
)

Gate = Callable[[Tensor, int], Tensor]
"""Decides how much relevance enters the heads of a layer: (relevance [batch, head, query, feature], layer)."""


Bits = Literal["pass", "stored"]
"""In which bits products with weights are computed: in those of the pass, or in those of the stored weights."""


@dataclass(eq=False)
class Sweep:
    """One backward sweep of relevance: its rules and, if there is one, the gate before the heads.

    ungated: if kept, the relevance that each layer's attention would have without the gate of that layer.
    bits: in which products with weights are computed, see `sweep.Flow`.
    """

    preset: str
    rules: Mapping[str, Rule]
    gate: Gate | None = None
    keeps_ungated: bool = False
    bits: Bits = "pass"
    ungated: dict[int, Tensor] = field(default_factory=dict)

    def shares(
        self, op: Operation, inputs: tuple[Tensor, ...], result: Tensor, relevance: Tensor
    ) -> Shares:
        """The relevance of each input of an operation."""
        op = op if self.bits == "stored" else op.in_full()
        rule = self.rules.get(op.kind)
        if rule is None:
            raise UnsupportedModel(
                f"the operation '{op.kind}' has no rule in the preset '{self.preset}' (it is reached in "
                f"{op.place or 'the network'}). Relevance cannot pass it; use a method without relevance, "
                "such as input_x_gradient or attcat."
            )
        if op.kind == "attend" and self.gate is not None:
            if self.keeps_ungated:
                ungated, _ = rule(op, inputs, result, relevance)
                assert ungated is not None
                self.ungated[op.layer] = by_head(ungated, op.rows)
            relevance = self.gate(by_head(relevance, op.rows), op.layer).reshape(relevance.shape)
        return rule(op, inputs, result, relevance)


def by_head(values: Tensor, rows: int) -> Tensor:
    """Values [batch·head, …] or [batch, head, …] as [batch, head, …]."""
    return values if values.dim() == 4 else values.reshape(rows, -1, *values.shape[1:])


@dataclass(eq=False)
class Switchboard:
    """What all switches of a pass share: the relevance sweep that is running, if there is one.

    attended: how many products of attention and values were seen.
    """

    rows: int
    sweep: Sweep | None = None
    attended: int = 0

    @contextmanager
    def sweeping(self, sweep: Sweep) -> Iterator[None]:
        """Send relevance instead of gradients inside the block."""
        self.sweep = sweep
        try:
            yield
        finally:
            self.sweep = None


class Switch(torch.autograd.Function):
    """Passes a gradient to the operation, or relevance to its inputs.

    The gradient of a weight that was widened for the pass is computed here, with the weight as it is stored.
    """

    @staticmethod
    def forward(
        ctx: Any, board: Switchboard, op: Operation, result: Tensor, *inputs: Tensor
    ) -> Tensor:
        ctx.board, ctx.op = board, op
        ctx.save_for_backward(result, *inputs)
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        result, *inputs = ctx.saved_tensors
        op, sweep = ctx.op, ctx.board.sweep
        if sweep is not None:
            return None, None, None, *sweep.shares(op, tuple(inputs), result, upstream[0])
        if op.map is not None and op.map.stored is not None:
            return None, None, None, *gradient_linear(op, tuple(inputs), result, upstream[0])
        return None, None, upstream[0], *[None] * len(inputs)


# ------------------------------------------------------------------------------ the operations


class Interception(TorchFunctionMode):
    """Sends the results of operations through switches, but not inside modules that count as one operation."""

    def __init__(
        self, board: Switchboard, network: nn.Module, last_attention: Callable[[], Tensor | None]
    ):
        super().__init__()
        self.board, self.network, self.last_attention = board, network, last_attention
        self.depth = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in IN_PLACE and takes(args[0]):
            result = IN_PLACE[name](*args, **kwargs)
        else:
            result = func(*args, **kwargs)
        is_one = isinstance(result, Tensor)
        results = (result,) if is_one or not isinstance(result, tuple | list) else result
        if self.depth or name in MOVES or not any(map(takes, results)):
            return result
        op, inputs = self.read(name, args, kwargs)
        switched = [
            Switch.apply(self.board, op, value, *inputs) if takes(value) else value  # type: ignore[no-untyped-call]
            for value in results
        ]
        return switched[0] if is_one else type(result)(switched)

    def read(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Operation, tuple[Tensor, ...]]:
        """An operation and its inputs, from the arguments of its call."""
        reader = READERS.get(name)
        # torch.add(a, b, alpha=k) is a + k·b, for which there is no rule.
        if reader is not None and kwargs.get("alpha", 1) == 1:
            op, inputs = reader(self.board.rows, *args, **kwargs)
            if op.kind == "matmul" and self.is_attention(inputs[0]):
                self.board.attended += 1
                layer = self.board.attended - 1
                op = Operation("attend", op.rows, takes=op.takes, layer=layer)
            return op, inputs
        inputs = tuple(value for value in (*args, *kwargs.values()) if takes(value))
        kind = f"{name} of this form" if name in READERS else name
        return Operation(kind, self.board.rows, place=self.place()), inputs

    def is_attention(self, values: Tensor) -> bool:
        """Whether these are the attention weights that were just seen."""
        last = self.last_attention()
        return last is not None and values.data_ptr() == last.data_ptr()

    def place(self) -> str:
        """The name of the module whose code is running."""
        names = {id(module): name for name, module in self.network.named_modules()}
        for frame, _ in walk_stack(None):
            if name := names.get(id(frame.f_locals.get("self"))):
                return str(name)
        return ""


def takes(value: Any) -> bool:
    """Whether relevance can go to a value."""
    return isinstance(value, Tensor) and value.requires_grad


def read_linear(rows: int, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:  # noqa: A002
    """The linear map x ↦ x Wᵀ + b."""
    return Operation("linear", rows, map=LinearMap(weight, bias, stored=stored(weight))), (input,)


def read_addmm(rows: int, bias: Tensor, x: Tensor, weight: Tensor) -> Any:
    """The linear map x ↦ x W + b, GPT-2's Conv1D."""
    narrow = stored(weight)
    own = LinearMap(weight.T, bias, stored=None if narrow is None else narrow.T)
    return Operation("addmm", rows, map=own), (x,)


def read_convolution(
    rows: int, x: Tensor, weight: Tensor, bias: Tensor | None = None, *settings: Any
) -> Any:
    """A convolution over tokens."""

    def forward(x: Tensor, weight: Tensor) -> Tensor:
        return conv1d(x, weight, None, *settings)

    def back(share: Tensor, weight: Tensor) -> Tensor:
        gradient: Tensor = conv1d_input(x.shape, weight, share, *settings)  # type: ignore[no-untyped-call]
        return gradient

    column = None if bias is None else bias[:, None]
    return Operation("convolution", rows, map=LinearMap(weight, column, forward, back)), (x,)


def read_matmul(rows: int, a: Tensor, b: Tensor) -> Any:
    """A product of two values, or a linear map without bias."""
    if not takes(b) and b.dim() == 2:
        return Operation("linear", rows, map=LinearMap(b.T)), (a,)
    return Operation("matmul", rows, takes=(takes(a), takes(b))), (a, b)


def read_sum_of_two(sign: int) -> Callable[..., Any]:
    """The sum or difference a ± b of two values, or of a value and a constant."""

    def read(rows: int, a: Any, b: Any, **_kwargs: Any) -> Any:
        if takes(a) and takes(b):
            return Operation("add", rows, takes=(True, True), signs=(1, sign)), (a, b)
        return Operation("shift", rows), (a if takes(a) else b,)

    return read


def read_product(rows: int, a: Any, b: Any, **_kwargs: Any) -> Any:
    """The product a ⊙ b of two values, or of a value and a constant."""
    if takes(a) and takes(b):
        return Operation("mul", rows, takes=(True, True)), (a, b)
    return Operation("scale", rows), (a if takes(a) else b,)


def read_quotient(rows: int, a: Any, b: Any, **_kwargs: Any) -> Any:
    """The quotient a / b by a constant; division by a value has no rule."""
    kind = "division by a value that depends on the input" if takes(b) else "scale"
    return Operation(kind, rows), (a if takes(a) else b,)


def read_total(rows: int, x: Tensor, dim: Any = None, *_args: Any, **_kwargs: Any) -> Any:
    """A sum or mean along axes."""
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    return Operation("sum", rows, dims=tuple(d % x.dim() for d in dims)), (x,)


def read_layer_norm(
    rows: int,
    input: Tensor,  # noqa: A002
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Any:
    """With its spread held constant, a layer norm is a linear map: γ (x − mean) / σ + β."""
    assert len(normalized_shape) == 1, "a norm over several axes"

    def spread() -> Tensor:
        return (input.detach().var(-1, correction=0, keepdim=True) + eps).sqrt()

    def forward(x: Tensor, gain: Tensor) -> Tensor:
        return (x - x.mean(-1, keepdim=True)) * gain / spread()

    def back(share: Tensor, gain: Tensor) -> Tensor:
        scaled = share * gain / spread()
        return scaled - scaled.mean(-1, keepdim=True)

    gain = torch.ones_like(input[..., :1]) if weight is None else weight
    return Operation(
        "layer_norm",
        rows,
        map=LinearMap(gain, bias, forward, back),
        norm=Normalisation(gain, eps, is_centred=True),
    ), (input,)


def read_one(kind: str) -> Callable[..., Any]:
    """An operation on one value."""

    def read(rows: int, x: Tensor, *_args: Any, **_kwargs: Any) -> Any:
        return Operation(kind, rows), (x,)

    return read


READERS: dict[str, Callable[..., Any]] = {
    "linear": read_linear,
    "addmm": read_addmm,
    "conv1d": read_convolution,
    **dict.fromkeys(("matmul", "bmm"), read_matmul),
    **dict.fromkeys(("add", "add_"), read_sum_of_two(1)),
    "sub": read_sum_of_two(-1),
    **dict.fromkeys(("mul", "mul_"), read_product),
    **dict.fromkeys(("div", "true_divide"), read_quotient),
    **dict.fromkeys(("sum", "mean"), read_total),
    "neg": read_one("scale"),
    "softmax": read_one("softmax"),
    **dict.fromkeys(("gelu", "relu", "silu", "tanh", "sigmoid"), read_one("activation")),
    "layer_norm": read_layer_norm,
    "rms_norm": read_one("norm"),
}
"""How the call of each function is read, by its name; operators such as + go by the same names."""

IN_PLACE: dict[str, Callable[..., Tensor]] = {"add_": torch.add, "mul_": torch.mul}
"""In-place operations and what replaces them: the output of a switch must not be overwritten."""

MOVES = frozenset(
    (
        "view", "reshape", "transpose", "permute", "contiguous", "__getitem__", "expand", "unsqueeze",
        "squeeze", "flatten", "unflatten", "split", "chunk", "cat", "stack", "unbind", "to", "float",
        "type_as", "clone", "repeat_interleave", "repeat", "gather", "index_select", "masked_fill",
        "where", "dropout", "view_as", "expand_as", "narrow", "select", "movedim", "swapaxes",
        "__get__", "requires_grad_", "double", "half", "bfloat16", "type",
    )
)  # fmt: skip
"""Operations that only move or cast values; relevance takes the same way back as gradients."""


# -------------------------------------------------------------------- modules as one operation


def unit_kind(module: nn.Module) -> str | None:
    """The kind of a module that consists of small operations but is one operation for a rule, else None."""
    if type(module).__module__.startswith("torch."):
        return None
    if type(module).__name__.endswith("Norm"):
        return "norm"
    return "activation" if type(module).__module__ == "transformers.activations" else None


@torch.no_grad()
def normalisation(module: nn.Module, x: Tensor, z: Tensor) -> Normalisation | None:
    """The constants of a norm written out by transformers, by which its first token becomes what it is.

    Families differ: some subtract the mean, and some store the gain minus 1. None if none of these fits.
    """
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    known = (getattr(module, name, None) for name in ("variance_epsilon", "eps", "epsilon"))
    epsilon = next((value for value in known if isinstance(value, float)), None)
    if not isinstance(weight, Tensor) or epsilon is None or weight.shape != x.shape[-1:]:
        return None
    wide, shift = x[:1, :1].double(), bias.double() if isinstance(bias, Tensor) else 0
    for is_centred in (False, True):
        c = wide - wide.mean(-1, keepdim=True) if is_centred else wide
        normal = c * (c.square().mean(-1, keepdim=True) + epsilon).rsqrt()
        for gain in (weight, 1 + weight):
            if torch.allclose(normal * gain.double() + shift, z[:1, :1].double(), 1e-3, 1e-4):
                return Normalisation(gain.detach(), epsilon, is_centred)
    return None


@contextmanager
def intercepted(
    network: PreTrainedModel,
    board: Switchboard,
    is_ours: Callable[[], bool],
    last_attention: Callable[[], Tensor | None],
) -> Iterator[None]:
    """Send the operations of this thread's passes through switches inside the block."""
    mode = Interception(board, network, last_attention)

    def enter(_module: nn.Module, _args: tuple[Any, ...]) -> None:
        mode.depth += is_ours()

    def leave(kind: str) -> Callable[..., Any]:
        def switched(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
            if not is_ours():
                return None
            mode.depth -= 1
            if mode.depth or not takes(output):
                return None
            unit = Operation(kind, board.rows, norm=normalisation(module, args[0], output))
            return Switch.apply(board, unit, output, args[0])  # type: ignore[no-untyped-call, no-any-return]

        return switched

    with ExitStack() as undo:
        for module in network.modules():
            kind = unit_kind(module)
            if kind is not None:
                undo.callback(module.register_forward_pre_hook(enter).remove)
                undo.callback(module.register_forward_hook(leave(kind)).remove)
        undo.enter_context(mode)
        yield
