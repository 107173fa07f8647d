"""A pass whose gradients can be modified: it computes what the network computes, and goes back as it is told.

Inside `modifiable`, operations are rewritten as they run, into the steps of `steps.py`. So one forward pass
serves plain gradients and any number of modifications. No attention map is needed: fused attention stays fused,
with factors on the gradients of its queries, keys and values. An operation without a rule is refused when a
modified gradient reaches it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from traceback import walk_stack
from typing import Any
from weakref import ref

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from headlight.errors import UnsupportedModel
from headlight.trace.relevance.activations import is_activation
from headlight.trace.relevance.intercept import takes
from headlight.trace.relevance.marks import (
    ACTIVATED,
    CONSTANT,
    IN_PLACE,
    Marks,
    Pointwise,
    Root,
    Scores,
    tensors,
)
from headlight.trace.relevance.steps import (
    Activation,
    Call,
    Factor,
    Gated,
    LayerNorm,
    Softmax,
    Steering,
    Tempered,
    TemperedAttention,
)

# -------------------------------------------------------------------------------- the operations


class Modifiable(TorchFunctionMode):
    """Rewrites operations as they run.

    marks: of attention weights (their `Softmax`), of `Scores` that have no softmax yet, of activations, and of
    denominators and slopes that a modification may hold constant. pointwise: of functions of one value that are
    written out in several steps. activations: functions and inputs of activations that were not moved since.
    """

    def __init__(self, network: nn.Module, steering: Steering) -> None:
        super().__init__()
        self.steering = steering
        self.names = {id(module): name for name, module in network.named_modules()}
        self.marks = Marks()
        self.pointwise = Marks()
        self.roots = Marks()
        self.activations = Marks()

    def __torch_function__(
        self,
        func: Call,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if not torch.is_grad_enabled():
            return func(*args, **given)
        name = getattr(func, "__name__", "")
        rewrite = REWRITES.get(name)
        if rewrite is not None and (any(map(takes, args)) or any(map(takes, given.values()))):
            return rewrite(self, func, *args, **given)
        moved = args[:1] if name.endswith("_as") else args  # the second is a pattern for the first
        mark = self.marks.shared(moved) if name in MOVES else None
        result = func(*args, **given)
        if name in MOVES:
            for value in tensors(args[:1] if name == "__setitem__" else [result]):
                self.marks.put(value, mark)
        elif name not in LINEAR:
            self.refuse(f"the operation '{name}'", result)
        elif name in WEIGHTED and sum(map(takes, args[WEIGHTED[name] :])) > 1:
            self.refuse(f"'{name}' with weights that are computed from the input", result)
        return result

    def refuse(self, what: str, result: Any, is_known: Callable[[], bool] = lambda: False) -> None:
        """Refuse modified gradients that reach these results, unless their place is known by then."""
        several = [value for value in tensors([result]) if takes(value)]
        if not several:
            return
        place = self.place()

        def reached(gradient: Tensor | None) -> None:
            if gradient is not None and self.steering.modification is not None and not is_known():
                raise UnsupportedModel(
                    f"{what} (in {place or 'the network'}) has no rule for a modified gradient. Methods with "
                    "plain gradients, such as integrated_gradients or input_x_gradient, explain this network."
                )

        for value in several:
            value.register_hook(reached)  # type: ignore[no-untyped-call]

    def place(self) -> str:
        """The name of the module whose code is running."""
        for frame, _ in walk_stack(None):
            if name := self.names.get(id(frame.f_locals.get("self"))):
                return str(name)
        return ""

    def factored(self, step: str, value: Any) -> Any:
        """The value, with the factor of a step on its gradient if it has one."""
        return Factor.apply(self.steering, step, value) if takes(value) else value  # type: ignore[no-untyped-call]

    # ----------------------------------------------------------------- products, quotients and sums

    def product(self, func: Call, a: Any, b: Any, **others: Any) -> Any:
        """A ⊙ b: of two values, each keeps its share, unless one of them is held constant.

        Weights from a softmax, such as a router's, share with what they weigh as those of attention do.
        """
        marks = (self.marks.of(a), self.marks.of(b))
        if not (takes(a) and takes(b)):
            result = self.marks.put(func(a, b, **others), marks[0] or marks[1])
            return self.noted(result, lambda x, y: func(x, y, **others), a, b)
        if CONSTANT in marks:
            return self.marks.put(func(a, b, **others), marks[marks[0] == CONSTANT])
        if (whole := self.written_out(func, a, b)) is not None:
            return whole
        if func.__name__ in IN_PLACE:
            both: Any = self.marks.put(func(a, b, **others), None)
            both.register_hook(lambda gradient: gradient * self.steering.factor("product"))
            return both
        steps = ["product", "product"]
        if marks.count(ACTIVATED) == 1:
            steps = ["gate" if mark == ACTIVATED else "gated" for mark in marks]
            gate, other = (a, b) if marks[0] == ACTIVATED else (b, a)
            function, x = self.activations.of(gate) or (None, None)
            if x is not None and x.shape == other.shape and x.dtype == other.dtype:
                return Gated.apply(self.steering, function, x, gate.detach(), other)  # type: ignore[no-untyped-call]
        elif sum(isinstance(mark, Softmax) for mark in marks) == 1:
            steps = ["weights" if isinstance(mark, Softmax) else "value" for mark in marks]
        return func(self.factored(steps[0], a), self.factored(steps[1], b), **others)

    def quotient(self, func: Call, a: Any, b: Any, **others: Any) -> Any:
        """A / b, whose denominator may be held constant."""
        mark = self.marks.of(a)
        result = self.marks.put(func(a, self.factored("norm", b), **others), mark)
        return self.noted(result, lambda x, y: func(x, y, **others), a, b)

    def sum_of_two(self, func: Call, a: Any, b: Any, **others: Any) -> Any:
        """A ± b. What is held constant stays so beside a constant, and scores stay scores."""
        marks = (self.marks.of(a), self.marks.of(b))
        scores = [mark for mark in marks if isinstance(mark, Scores)]
        mark: Any = Scores.together(scores) if scores else None
        if CONSTANT in marks and not (takes(a) and takes(b)):
            mark = CONSTANT
        result = self.marks.put(func(a, b, **others), mark)
        return self.noted(result, lambda x, y: func(x, y, **others), a, b)

    def denominator(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """1 / √x and 1 / x: what a normalisation multiplies by."""
        return self.marks.put(self.factored("norm", func(x, *args, **others)), CONSTANT)

    def slope(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """s(x) of an activation x s(x) that is written out, such as the error function in a GELU."""
        return self.marks.put(self.factored("slope", func(x, *args, **others)), CONSTANT)

    # ------------------------------------------------------ functions of one value, written out

    def path(self, x: Tensor) -> Pointwise:
        """How a value was computed from one other value; from itself if that is not known."""
        if (known := self.pointwise.of(x)) is None:
            root = self.roots.of(x) or Root(ref(x), x._version)
            self.roots.put(x, root)
            known = Pointwise(root, lambda value: value, is_curved=False)
            self.pointwise.put(x, known)
        return known  # type: ignore[no-any-return]

    def noted(self, result: Any, func: Call, a: Any, b: Any) -> Any:
        """The result of a and b, noted as a function of one value if there is only one that they depend on."""
        paths = [self.path(x) if takes(x) else None for x in (a, b)]
        known = [path for path in paths if path is not None]
        if result is a or result is b or known[0].root is not known[-1].root:
            return result
        root = known[0].root.now()
        if root is not None and (root.shape, root.dtype) != (result.shape, result.dtype):
            return result
        constants = [None if takes(x) else x for x in (a, b)]  # the others are not kept alive

        def function(x: Tensor) -> Any:
            both = zip(constants, paths, strict=True)
            return func(*(given if path is None else path.function(x) for given, path in both))

        is_curved = any(path.is_curved for path in known)
        return self.pointwise.put(result, Pointwise(known[0].root, function, is_curved))

    def written_out(self, func: Call, a: Tensor, b: Tensor) -> Any:
        """A ⊙ b as one activation if both are functions of one value, such as x σ(x); None if they are not."""
        first, second = self.path(a), self.path(b)
        if first.root is not second.root:
            return None
        root = first.root.now()
        if root is None or func.__name__ in IN_PLACE:
            result = func(a, b)
            self.refuse("a product of two functions of one value, written over it,", result)
            return result
        return self.activated(lambda x: func(first.function(x), second.function(x)), root)

    def power(self, func: Call, x: Any, exponent: Any, **others: Any) -> Any:
        """A constant power: of an activation a part of it, as in ReLU²; a denominator; or a part of a norm."""
        if not takes(x) or takes(exponent):
            result = func(x, exponent, **others)
            self.refuse("a power that is computed from the input", result)
            return result
        if isinstance(exponent, int | float) and exponent < 0:
            return self.denominator(func, x, exponent, **others)
        path = self.path(x)
        root = path.root.now()
        if path.is_curved and root is not None:
            return self.activated(lambda r: func(path.function(r), exponent, **others), root)
        result = func(x, exponent, **others)
        self.refuse("a power", result)
        return self.pointwise.put(
            result,
            Pointwise(
                path.root, lambda r: func(path.function(r), exponent, **others), is_curved=True
            ),
        )

    # ------------------------------------------------------------------------------------ attention

    def matrix_product(self, func: Call, a: Any, b: Any, **others: Any) -> Any:
        """Attention with values, queries with keys, or a value with a constant."""
        if not (takes(a) and takes(b)):
            return func(a, b, **others)
        factors, seen = self.sides(a, b)
        result = func(self.factored(factors[0], a), self.factored(factors[1], b), **others)
        return self.followed(result) if seen is None else result

    def einsum(self, func: Call, equation: Any, *operands: Any) -> Any:
        """A matrix product written as einsum."""
        values = list(tensors(operands))
        if sum(map(takes, values)) < 2:
            return func(equation, *values)
        if len(values) > 2:
            result = func(equation, *values)
            self.refuse("a product of more than two values", result)
            return result
        return self.matrix_product(lambda a, b: func(equation, a, b), *values)

    def added_product(
        self, func: Call, constant: Any, batch1: Any, batch2: Any, **others: Any
    ) -> Any:
        """Constant + a b, as BLOOM adds its positions."""
        return self.matrix_product(lambda a, b: func(constant, a, b, **others), batch1, batch2)

    def sides(self, a: Tensor, b: Tensor) -> tuple[tuple[str, str], Softmax | None]:
        """The steps of both factors, and the softmax that made one of them, if they are weights and values."""
        for first, second, order in ((a, b, 1), (b, a, -1)):
            seen = self.marks.of(first)
            if isinstance(seen, Softmax) and not isinstance(
                self.marks.of(second), Softmax | Scores
            ):
                seen.is_attention = True
                steps = ("weights", "value")[::order]
                return (steps[0], steps[1]), seen
        return ("query in scores", "key in scores"), None

    def followed(self, scores: Tensor) -> Tensor:
        """Scores of queries and keys; refused if no softmax follows."""
        is_followed = [False]
        self.refuse("a product of two values that is not attention", scores, lambda: is_followed[0])
        return self.marks.put(scores, Scores([is_followed]))

    def softmax(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """The attention weights, or a router's."""
        dim = others.get("dim", args[0] if args else -1)
        if isinstance(scores := self.marks.of(x), Scores):
            scores.follow()
        seen = Softmax()
        z = func(x, *args, **others)
        return self.marks.put(Tempered.apply(self.steering, seen, dim, z, x), seen)  # type: ignore[no-untyped-call]

    def attention(
        self,
        func: Call,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *args: Any,
        scale: float | None = None,
        **others: Any,
    ) -> Any:
        """Fused attention."""
        own = query.shape[-1] ** -0.5 if scale is None else scale

        def attend(q: Tensor, k: Tensor, v: Tensor, share: float = 1.0) -> Any:
            return func(q, k, v, *args, scale=own * share, **others)

        mixed = attend(
            self.factored("query", query), self.factored("key", key), self.factored("value", value)
        )
        if any(map(takes, (*args, *others.values()))):
            self.refuse("fused attention with a mask that is computed from the input", mixed)
        return TemperedAttention.apply(self.steering, attend, mixed, query, key, value)  # type: ignore[no-untyped-call]

    # ------------------------------------------------------------------------ activations and norms

    def activation(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """G(x), one number at a time."""
        others.pop("inplace", None)  # x is needed on the way back
        return self.activated(lambda values: func(values, *args, **others), x)

    def clipped(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """X within bounds, which is an activation on the way back, but gates nothing."""
        mark = self.marks.of(x)
        return self.marks.put(self.activation(func, x, *args, **others), mark)

    def in_place(self, func: Call, x: Tensor, *args: Any, **others: Any) -> Any:
        """G(x), written over x."""
        rewrite = REWRITES[func.__name__.removesuffix("_")]
        z = rewrite(
            self, lambda values, *a, **o: func(values.clone(), *a, **o), x.clone(), *args, **others
        )
        mark = self.marks.of(x) or self.marks.of(z)
        return self.marks.put(x.copy_(z), mark)

    def activated(self, function: Call, x: Tensor) -> Tensor:
        """The result of an activation. Scores stay scores, as Gemma 2's do, which are capped by tanh."""
        mark = self.marks.of(x)
        z: Tensor = Activation.apply(self.steering, function, x)  # type: ignore[no-untyped-call]
        path = self.path(x)
        self.pointwise.put(
            z, Pointwise(path.root, lambda root: function(path.function(root)), is_curved=True)
        )
        self.activations.put(z, (function, x))
        return self.marks.put(z, mark if isinstance(mark, Scores) else ACTIVATED)

    def layer_norm(
        self,
        _func: Call,
        input: Tensor,  # noqa: A002
        normalized_shape: Any,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        eps: float = 1e-5,
        **_others: Any,
    ) -> Any:
        """A layer norm of torch."""
        return LayerNorm.apply(self.steering, input, normalized_shape, weight, bias, eps)  # type: ignore[no-untyped-call]

    def rms_norm(
        self,
        _func: Call,
        input: Tensor,  # noqa: A002
        normalized_shape: Any,
        weight: Tensor | None = None,
        eps: float | None = None,
    ) -> Any:
        """An RMS norm of torch, written out."""
        dims, own = tuple(range(-len(normalized_shape), 0)), torch.finfo(input.dtype).eps
        inverse = (input.square().mean(dims, keepdim=True) + (own if eps is None else eps)).rsqrt()
        normal = input * self.factored("norm", inverse)
        return normal if weight is None else normal * weight


MOVES = frozenset(
    (
        "view", "reshape", "transpose", "permute", "contiguous", "__getitem__", "__setitem__", "expand",
        "unsqueeze", "squeeze", "flatten", "unflatten", "split", "split_with_sizes", "chunk", "tensor_split",
        "cat", "concat", "stack", "unbind", "to", "float", "type_as", "clone", "repeat_interleave", "repeat",
        "tile", "gather", "index_select", "masked_fill", "masked_fill_", "masked_select", "masked_scatter",
        "where", "dropout", "view_as", "expand_as", "narrow", "select", "movedim", "moveaxis", "swapaxes",
        "swapdims", "__get__", "requires_grad_", "double", "half", "bfloat16", "type", "index_add",
        "index_add_", "index_copy", "index_copy_", "index_put", "index_put_", "scatter", "scatter_",
        "scatter_add", "scatter_add_", "pad", "roll", "flip", "t", "topk", "sort", "max", "amax", "unfold",
        "take_along_dim", "detach", "cpu", "cuda", "copy_", "diagonal", "tril", "triu", "alpha_dropout",
        "reshape_as", "view_as_real", "view_as_complex", "squeeze_", "unsqueeze_", "transpose_",
        "maximum", "minimum",
    )
)  # fmt: skip
"""Operations that move, copy or choose values: what they leave out takes nothing, as in derivatives."""

LINEAR = frozenset(
    (
        "linear", "addmm", "conv1d", "conv2d", "sum", "mean", "neg", "__neg__", "cumsum", "_grouped_mm",
        "grouped_mm", "embedding", "avg_pool1d", "avg_pool2d", "fft_fft", "fft_fftn",
    )
)  # fmt: skip
"""Operations that are linear in what they are given: their own derivative is right."""

WEIGHTED = {"linear": 0, "addmm": 1, "conv1d": 0, "conv2d": 0, "_grouped_mm": 0, "grouped_mm": 0}
"""Those of them that are linear only if their weights are constants, and where their factors begin."""

REWRITES: dict[str, Call] = {
    **dict.fromkeys(("mul", "__mul__", "__rmul__", "mul_", "__imul__", "multiply"), Modifiable.product),
    **dict.fromkeys(
        ("div", "__truediv__", "true_divide", "div_", "__itruediv__", "divide"), Modifiable.quotient
    ),
    **dict.fromkeys(
        (
            "add", "__add__", "__radd__", "add_", "__iadd__",
            "sub", "__sub__", "__rsub__", "rsub", "sub_", "__isub__",
        ),
        Modifiable.sum_of_two,
    ),
    **dict.fromkeys(("rsqrt", "reciprocal", "__rtruediv__", "__rdiv__"), Modifiable.denominator),
    **dict.fromkeys(("pow", "__pow__"), Modifiable.power),
    "square": lambda mode, func, x: mode.power(lambda value, _: func(value), x, 2),
    "erf": Modifiable.slope,
    **dict.fromkeys(("matmul", "__matmul__", "__rmatmul__", "bmm"), Modifiable.matrix_product),
    "baddbmm": Modifiable.added_product,
    "einsum": Modifiable.einsum,
    "softmax": Modifiable.softmax,
    scaled_dot_product_attention.__name__: Modifiable.attention,
    **dict.fromkeys(
        (
            "gelu", "relu", "silu", "tanh", "sigmoid", "softplus", "elu", "leaky_relu", "mish", "hardswish",
            "relu6", "selu", "celu", "hardsigmoid", "hardtanh", "logsigmoid",
        ),
        Modifiable.activation,
    ),
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), Modifiable.clipped),
    **dict.fromkeys(
        ("clamp_", "clip_", "clamp_min_", "clamp_max_", "relu_", "tanh_", "sigmoid_"), Modifiable.in_place
    ),
    "layer_norm": Modifiable.layer_norm,
    "rms_norm": Modifiable.rms_norm,
}  # fmt: skip
"""How operations are rewritten, by the name of their function."""


@contextmanager
def modifiable(network: nn.Module, steering: Steering) -> Iterator[None]:
    """Make the gradients of this thread's passes modifiable inside the block; the network is a double."""
    mode = Modifiable(network, steering)

    def rewritten(plain: Call) -> Call:
        return lambda x: mode.activated(plain, x) if takes(x) else plain(x)

    with ExitStack() as undo:
        for module in network.modules():
            if is_activation(module):
                own = vars(module)
                undo.callback(own.update, {k: v for k, v in own.items() if k == "forward"})
                own["forward"] = rewritten(module.forward)
                undo.callback(own.pop, "forward")
        # The graph refers to the mode, and what it marked to the graph: a circle that nobody would free.
        for marks in (mode.marks, mode.pointwise, mode.roots, mode.activations):
            undo.callback(marks.known.clear)
        undo.enter_context(mode)
        yield
