"""Weights in eight bits come back as numbers, under the names of transformers."""

from pathlib import Path

import numpy as np
import torch
from onnx import NodeProto, TensorProto, helper, numpy_helper, save
from transformers import BertConfig, BertModel

from headlight.loading.onnx_bert import bert_weights

TINY = BertConfig(
    vocab_size=11, hidden_size=4, num_hidden_layers=2, num_attention_heads=2, intermediate_size=6
)


def quantised(name: str, value: torch.Tensor) -> list[TensorProto]:
    """Three tensors as onnxruntime writes them: integers, one scale, one zero point."""
    low, high = float(value.min()), float(value.max())
    scale = (high - low) / 255
    zero = round(-low / scale)
    integers = (value / scale).round().add(zero).clamp(0, 255)
    return [
        numpy_helper.from_array(integers.numpy().astype(np.uint8), f"{name}_quantized"),
        numpy_helper.from_array(np.array(scale, np.float32), f"{name}_scale"),
        numpy_helper.from_array(np.array(zero, np.uint8), f"{name}_zero_point"),
    ]


def product(number: int, bias: str) -> list[NodeProto]:
    """A quantised product without a name of its own, followed by its bias."""
    x, matrix, out = f"x{number}", f"onnx::MatMul_{number}", f"y{number}"
    return [
        helper.make_node("MatMulInteger", [x, f"{matrix}_quantized"], [f"{out}_whole"]),
        helper.make_node("Cast", [f"{out}_whole"], [f"{out}_cast"], to=1),
        helper.make_node("Mul", [f"{out}_cast", "scales"], [f"{out}_scaled"]),
        helper.make_node("Add", [bias, f"{out}_scaled"], [out]),
    ]


def test_every_parameter_is_found_and_right_to_half_a_step(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = BertModel(TINY, add_pooling_layer=False)
    tensors, nodes = [], []
    for number, (name, value) in enumerate(network.state_dict().items()):
        if value.ndim == 1:
            tensors.append(numpy_helper.from_array(value.numpy(), name))
        elif "embeddings" in name:
            tensors += quantised(name, value)
        else:
            tensors += quantised(f"onnx::MatMul_{number}", value.T)
            nodes += product(number, name.replace(".weight", ".bias"))
    # A product of two values of the pass, such as queries with keys, stores no matrix.
    nodes.append(helper.make_node("MatMulInteger", ["q", "k_quantized"], ["scores"]))
    save(helper.make_model(helper.make_graph(nodes, "bert", [], [], tensors)), tmp_path / "b.onnx")
    found = bert_weights(tmp_path / "b.onnx")
    assert found.keys() == network.state_dict().keys()
    for name, value in network.state_dict().items():
        step = float(value.max() - value.min()) / 255 if value.ndim == 2 else 0.0
        assert float((found[name] - value).abs().max()) <= 0.51 * step + 1e-7
