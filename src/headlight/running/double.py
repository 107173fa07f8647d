"""A double of a network: new modules on the same weights, for headlight to run and to change.

Hooks, modes and attention implementations are set on the double. So the user's network is never touched, even
if a pass fails or is interrupted, and another thread may train it meanwhile. The double's weights need no
gradient and it is in evaluation mode. Code made by torch.compile is left out, because hooks and modes cannot
see into it.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache, partial
from types import CellType, FunctionType, MethodType, NoneType
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from headlight.errors import UnsupportedModel
from headlight.models.model import Model

PARTS = "_headlight_parts"
"""The attribute in which a double keeps all its modules but itself.

With itself it would be a circle of references, and it and the memory of a copy in more bits would stay until
Python happens to look for such circles.
"""
COMPILED = "_compiled_call_impl"
"""The attribute in which `module.compile()` keeps its code."""
HOOK = "_hf_hook"
"""The attribute in which accelerate keeps the hook that moves the input of a module to its device."""
OWN = frozenset(name for name, value in vars(nn.Module()).items() if isinstance(value, dict | set))
"""The attributes of every module that are containers: parameters, buffers, children, hooks."""
PLAIN = frozenset((bool, int, float, str, NoneType, torch.dtype, torch.device))
"""Classes of values that refer to nothing; most attributes are of one of them."""


def double(model: Model) -> Model:
    """The model on a double of its network; a model on a double is returned unchanged."""
    if PARTS in vars(model.network):
        return model
    walk = Doubling()
    with torch.inference_mode(False):
        network = walk.of(model.network)
    assert isinstance(network, PreTrainedModel)
    vars(network)[PARTS] = tuple(part for part in walk.modules if part is not network)
    return replace(model, network=network)


def check_mode(model: Model) -> None:
    """Refuse the results of a double that a hook or its own code switched to training mode."""
    network = model.network
    parts = vars(network).get(PARTS)
    if parts is not None and (network.training or any(part.training for part in parts)):
        raise UnsupportedModel(
            f"a hook or the code of {model.family} switched it into training mode while it ran, so that "
            "dropout changed its scores. Remove that hook, or let it switch modes outside of passes."
        )


class Doubling:
    """One walk over a network, in which every reference to a part becomes a reference to the part's double."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}
        self.modules: list[nn.Module] = []

    def of(self, value: Any) -> Any:
        """The double of a value; the value itself if it refers to no part of the network."""
        kind: type = type(value)
        make = maker_of(kind)
        if make is None:
            return value
        if id(value) not in self.made:
            self.made[id(value)] = value  # in case a cycle leads back to it before it is made
            self.made[id(value)] = make(self, value)
        return self.made[id(value)]

    def module(self, module: nn.Module) -> nn.Module:
        """A module of the same class with its own attributes, hooks and mode."""
        if isinstance(module, torch.jit.ScriptModule):
            raise UnsupportedModel(
                f"a part of the network is TorchScript ({module.original_name}), whose operations cannot "
                "be watched. Give the network as it was before torch.jit."
            )
        original = module._modules.get("_orig_mod")
        # torch.compile(network) wraps the network in a module that calls it; the wrapped one is doubled.
        if original is not None and hasattr(module, "_torchdynamo_orig_callable"):
            made: nn.Module = self.of(original)
            return made
        made = object.__new__(type(module))  # without __init__, whose arguments are not known
        self.made[id(module)] = made
        self.modules.append(made)
        state = vars(made)
        state.update(vars(module))
        state.pop(COMPILED, None)
        for name, value in state.items():
            if name in OWN:
                # Most hold nothing; they are new all the same, because hooks are added to them.
                state[name] = self.contents(value) if value else value.copy()
            elif type(value) not in PLAIN:
                state[name] = self.of(value)
        if HOOK in state:
            state[HOOK] = copied_hook(state[HOOK])
        state["training"] = False
        return made

    def contents(self, values: Any) -> Any:
        """A new container of a module, with the doubles of what is in it."""
        made = values.copy()
        if isinstance(made, dict):
            for name, value in made.items():
                made[name] = self.of(value)
        return made

    def config(self, config: PreTrainedConfig) -> PreTrainedConfig:
        """A config whose attention implementation can be set."""
        made = copy(config)
        for name, value in vars(config).items():
            if isinstance(value, PreTrainedConfig):
                vars(made)[name] = self.of(value)
        return made

    def tensor(self, tensor: Tensor) -> Tensor:
        """The same numbers in the same memory, without a gradient."""
        if tensor.is_inference():
            tensor = tensor.clone()  # tensors made in inference mode cannot be part of a graph
        if type(tensor) is nn.Parameter and tensor.is_floating_point():
            return nn.Parameter(tensor, requires_grad=False)
        if isinstance(tensor, nn.Parameter) and tensor.is_floating_point():
            return nn.Parameter(tensor.detach(), requires_grad=False)
        return tensor.detach() if tensor.requires_grad else tensor

    def function(self, function: FunctionType) -> Any:
        """A function whose closure refers to the double; for a compiled one, the function it was made from."""
        plain = vars(function).get("_torchdynamo_orig_callable")
        if plain is not None:
            return self.of(plain)
        cells = function.__closure__ or ()
        doubled = tuple(map(self.cell, cells))
        if all(a is b for a, b in zip(cells, doubled, strict=True)):
            return function
        made = FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            doubled,
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made

    def cell(self, cell: CellType) -> CellType:
        """A cell of a closure."""
        try:
            value = cell.cell_contents
        except ValueError:  # the cell is still empty
            return cell
        made = self.of(value)
        return cell if made is value else CellType(made)

    def method(self, method: MethodType) -> MethodType:
        """A bound method, bound to the double."""
        return MethodType(self.of(method.__func__), self.of(method.__self__))

    def partial(self, call: "partial[Any]") -> "partial[Any]":
        """A partial call, with the doubles of its function and arguments; its attributes name its signature."""
        made = partial(self.of(call.func), *map(self.of, call.args), **self.of(call.keywords))
        vars(made).update(self.of(vars(call)))
        return made

    def sequence(self, values: Any) -> Any:
        """A list, tuple or set; the same one if it holds no part of the network."""
        made = [self.of(value) for value in values]
        is_same = all(a is b for a, b in zip(values, made, strict=True))
        return values if is_same else type(values)(made)

    def mapping(self, values: dict[Any, Any]) -> dict[Any, Any]:
        """A dictionary; the same one if it holds no part of the network."""
        made = {self.of(name): self.of(value) for name, value in values.items()}
        pairs = zip(values.items(), made.items(), strict=True)
        is_same = all(a is b and c is d for (a, c), (b, d) in pairs)
        return values if is_same else made


def copied_hook(hook: Any) -> Any:
    """A hook of accelerate, or a sequence of them, that notes the device of the double's inputs only."""
    made = copy(hook)
    if hasattr(made, "hooks"):
        made.hooks = tuple(map(copied_hook, made.hooks))
    return made


Maker = Callable[[Doubling, Any], Any]

MAKERS: dict[type, Maker] = {
    nn.Module: Doubling.module,
    PreTrainedConfig: Doubling.config,
    Tensor: Doubling.tensor,
}
"""How instances of these classes and their subclasses are doubled."""

EXACT_MAKERS: dict[type, Maker] = {
    FunctionType: Doubling.function,
    MethodType: Doubling.method,
    partial: Doubling.partial,
    dict: Doubling.mapping,
    **dict.fromkeys((list, tuple, set), Doubling.sequence),
}
"""How instances of exactly these classes are doubled."""


@cache
def maker_of(kind: type) -> Maker | None:
    """The function that doubles a value of this class; None if such values are not doubled."""
    general = (make for parent, make in MAKERS.items() if issubclass(kind, parent))
    return EXACT_MAKERS.get(kind) or next(general, None)
