"""Quantised weights are read as numbers, and networks with them are explained or refused with the reason.

`Packed` imitates the weights of packages such as torchao: a tensor class that knows a few operations only.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import headlight
from headlight import METHODS, Batch, Model, UnsupportedModel
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Task
from headlight.models.quantised import dequantised, is_dequantisable, is_plain, quantised_kinds
from headlight.running.precision import obstacle, widened
from headlight.running.randomised import randomised
from tests.networks import network, options, rows

LENGTHS = Batch.from_ids(rows())


class Packed(Tensor):
    """A weight in 8 bits with one scale per row; F.linear, detach and dequantize are all that it knows."""

    whole: Tensor
    scale: Tensor

    @staticmethod
    def __new__(cls, whole: Tensor, scale: Tensor) -> "Packed":
        made = Tensor._make_wrapper_subclass(cls, whole.shape, dtype=scale.dtype)
        made.whole, made.scale = whole, scale
        return made

    def dequantize(self) -> Tensor:
        return self.whole.to(self.scale) * self.scale

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is nn.functional.linear:
            return func(args[0], args[1].dequantize(), *args[2:], **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in (torch.ops.aten.detach.default, torch.ops.aten.alias.default):
            return cls(args[0].whole, args[0].scale)
        raise NotImplementedError(f"Packed has no {func}")


def packed(weight: Tensor) -> Packed:
    scale = weight.abs().amax(1, keepdim=True) / 127
    return Packed((weight / scale).round().to(torch.int8), scale)


def quantised() -> tuple[Any, Any]:
    """A network with packed weights, and one with the same weights as ordinary numbers."""
    net, plain = (network("bert", Task.SEQUENCE) for _ in range(2))
    for module, other in zip(net.modules(), plain.modules(), strict=True):
        if type(module) is nn.Linear:
            weight = packed(module.weight.detach())
            module.weight = nn.Parameter(weight, requires_grad=False)
            other.weight = nn.Parameter(weight.dequantize())
    return net, plain


@pytest.fixture(scope="module")
def models() -> tuple[Model, Model]:
    net, plain = quantised()
    return headlight.wrap(net), headlight.wrap(plain)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_quantised_weights_as_their_numbers(
    method: str, models: tuple[Model, Model]
) -> None:
    found, expected = (
        headlight.explain(model, LENGTHS, method, **options(method)) for model in models
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-3, atol=1e-5)


def test_the_copy_in_64_bits_is_of_the_numbers(models: tuple[Model, Model]) -> None:
    found, note = widened(models[0], torch.float64)
    assert note == ""
    assert all(is_plain(parameter) for parameter in found.network.parameters())
    assert fingerprint(models[0]) == fingerprint(models[1]) == fingerprint(found)


def test_a_module_that_quantises_by_itself_is_not_copied(models: tuple[Model, Model]) -> None:
    class Own(nn.Linear):
        """Computes with packed weights only."""

    net, _ = quantised()
    net.classifier.__class__ = Own
    assert not is_dequantisable(net.classifier)
    assert obstacle(net) == "its weights are quantised"
    assert obstacle(models[1].network) == ""


def test_weights_are_plain_or_become_so() -> None:
    weight = torch.randn(3, 4)
    assert is_plain(weight)
    assert is_plain(nn.Parameter(weight))
    assert not is_plain(weight.to(torch.int8))
    assert not is_plain(packed(weight))
    assert dequantised(weight).data_ptr() == weight.data_ptr()
    torch.testing.assert_close(dequantised(packed(weight)), weight, rtol=0, atol=0.02)


def test_quantised_parts_are_named(models: tuple[Model, Model]) -> None:
    assert quantised_kinds(models[0].network) == "Packed"
    assert quantised_kinds(models[1].network) == ""
    whole = nn.Module()
    whole.weight = nn.Parameter(torch.zeros(2, dtype=torch.int8), requires_grad=False)
    assert quantised_kinds(whole) == "torch.int8"


@pytest.mark.filterwarnings("ignore")
def test_a_network_quantised_without_gradients_is_refused_with_the_repair() -> None:
    dynamic = torch.ao.quantization.quantize_dynamic(
        network("bert", Task.SEQUENCE), {nn.Linear}, dtype=torch.qint8
    )
    reason = r"without gradients\. Parts of it are quantised \(Linear.*Load it without quantisation"
    with pytest.raises(UnsupportedModel, match=reason):
        headlight.wrap(dynamic)


def test_a_part_that_rounds_what_it_receives_is_refused_as_quantised() -> None:
    class Rounding(nn.Linear):
        """As 8-bit matrix products do, with the gradient of the numbers."""

        def forward(self, x: Tensor) -> Tensor:
            step = x.detach().abs().amax() / 20
            return super().forward(x + ((x / step).round() * step - x).detach())

    net, _ = quantised()
    net.bert.encoder.layer[0].attention.output.dense.__class__ = Rounding
    with pytest.raises(UnsupportedModel) as error:
        headlight.wrap(net)
    assert "architectures.py" not in str(error.value)
    assert "Parts of it are quantised (Packed)" in str(error.value)


def test_quantised_weights_are_not_replaced_by_random_ones(models: tuple[Model, Model]) -> None:
    with pytest.raises(UnsupportedModel, match="cannot be replaced by random ones"):
        randomised(models[0], 2)
    randomised(models[1], 2)
