"""The weights of a BERT from an ONNX file in eight bits, as 32-bit numbers under the names of transformers.

Quantised products have lost their names; the bias that is added behind each one has kept its own, and says
which matrix it is.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

ENDINGS = ("_quantized", "_scale", "_zero_point")


def bert_weights(path: Path) -> dict[str, Tensor]:
    """Every parameter of the encoder: weight = (integer − zero point) · scale, per tensor."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    stored = {each.name: torch.tensor(numpy_helper.to_array(each)) for each in graph.initializer}
    found = {n: t for n, t in stored.items() if n.endswith((".weight", ".bias"))}
    for name in stored:
        if name.endswith(".weight_quantized"):
            stem = name.removesuffix(ENDINGS[0])
            found[stem] = whole_numbers_scaled(stored, stem)
    for product, bias in products(graph, set(stored)):
        # ONNX multiplies x W, torch's linear layers x Wᵀ.
        found[bias.replace(".bias", ".weight")] = whole_numbers_scaled(stored, product).T
    return {name: tensor.contiguous() for name, tensor in found.items()}


def whole_numbers_scaled(stored: dict[str, Tensor], stem: str) -> Tensor:
    """A quantised tensor as numbers."""
    integers, scale, zero = (stored[f"{stem}{ending}"] for ending in ENDINGS)
    return (integers.float() - zero.float()) * scale


def products(graph: Any, stored: set[str]) -> list[tuple[str, str]]:
    """Each stored matrix of a quantised product, and the bias that is added to its result."""
    users = {name: node for node in graph.node for name in node.input}
    found = []
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in stored:
            last = node
            while last.op_type != "Add":
                last = users[last.output[0]]
            bias = next(name for name in last.input if name.endswith(".bias"))
            found.append((node.input[1].removesuffix(ENDINGS[0]), bias))
    return found
