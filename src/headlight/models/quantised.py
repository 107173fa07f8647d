"""Quantised weights: which a network has, and their values as ordinary numbers."""

from collections.abc import Iterator

from torch import Tensor, nn

PLAIN = (Tensor, nn.Parameter)
"""The classes of ordinary tensors; packages for quantisation bring their own."""
QUANTISED_MODULES = ("torch.ao.nn.quantized", "torch.ao.nn.intrinsic.quantized", "torchao.")
"""Where modules are defined that keep their weights in a packed form of their own."""


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor holds ordinary floating-point numbers."""
    return type(tensor) in PLAIN and tensor.is_floating_point()


def dequantised(tensor: Tensor) -> Tensor:
    """The values of a weight as ordinary numbers, detached; a plain weight as it is."""
    values: Tensor = tensor.detach()
    if type(values) in PLAIN:
        return values
    # Every package for quantisation has this method; for a plain tensor torch's own does nothing useful.
    made: Tensor = values.dequantize()
    return made.detach()


def is_dequantisable(module: nn.Module) -> bool:
    """Whether a module computes the same with its weights dequantised: it is one of torch's ordinary ones."""
    own = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
    is_ordinary = type(module).__module__.startswith("torch.nn.modules.")
    return all(type(tensor) in PLAIN or is_ordinary for tensor in own)


def quantised_kinds(network: nn.Module) -> str:
    """The classes of a network's quantised weights and modules, for messages; '' if it has none."""
    return ", ".join(sorted(set(kinds(network))))


def kinds(network: nn.Module) -> Iterator[str]:
    """The class of every quantised part."""
    for module in network.modules():
        if type(module).__module__.startswith(QUANTISED_MODULES):
            yield type(module).__name__
    for parameter in network.parameters():
        if not is_plain(parameter):
            is_own_class = type(parameter) not in PLAIN
            yield type(parameter).__name__ if is_own_class else str(parameter.dtype)


def quantised_advice(network: nn.Module) -> str:
    """What to do about a quantised network that cannot be explained; '' if it is not quantised."""
    found = quantised_kinds(network)
    if not found:
        return ""
    return (
        f" Parts of it are quantised ({found}). Load it without quantisation, or with quantisation of weights "
        "only that has gradients, such as int8 of optimum-quanto or torchao."
    )
