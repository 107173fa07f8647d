"""An adapter is merged into the base it was trained on, and no other."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from headlight import InvalidInput
from headlight.loading.adapters import merge_adapter
from headlight.models.model import Task
from tests.networks import network


def test_adapters_of_another_base_or_shape_are_refused(tmp_path: Path) -> None:
    net = network("bert", Task.SEQUENCE)
    path = tmp_path / "x.safetensors"
    save_file({"classifier.bias": torch.ones(3)}, path, {"base_sha256": "other"})
    with pytest.raises(InvalidInput, match="trained on another base"):
        merge_adapter(net, path, "ours")
    save_file({"classifier.bias": torch.ones(7)}, path, {"base_sha256": "ours"})
    with pytest.raises(InvalidInput, match=r"changes 'classifier\.bias'.* in that shape"):
        merge_adapter(net, path, "ours")
    path.write_bytes(b"nonsense")
    with pytest.raises(InvalidInput, match="cannot be read"):
        merge_adapter(net, path, "ours")


def test_an_adapter_adds_replaces_and_multiplies(tmp_path: Path) -> None:
    net = network("bert", Task.SEQUENCE)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    a, b = (torch.randint(-127, 128, shape) for shape in ((3, 2), (2, 32)))
    scale = torch.tensor([0.5, 0.25])
    changes = {
        "classifier.weight.a": a.to(torch.int8),
        "classifier.weight.b": b.to(torch.int8),
        "classifier.weight.scale": scale,
        "classifier.bias": torch.full((3,), 4.0),
        "bert.pooler.dense.bias.delta": torch.full((32,), 0.5),
    }
    path = tmp_path / "x.safetensors"
    save_file(changes, path, {"base_sha256": "ours"})
    merge_adapter(net, path, "ours")
    after = dict(net.named_parameters())
    product = (a * scale) @ b.float()
    torch.testing.assert_close(after["classifier.weight"], before["classifier.weight"] + product)
    torch.testing.assert_close(after["classifier.bias"], torch.full((3,), 4.0))
    torch.testing.assert_close(
        after["bert.pooler.dense.bias"], before["bert.pooler.dense.bias"] + 0.5
    )
