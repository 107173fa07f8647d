"""A network is put where and in which type it was asked for, or the reason is said."""

import importlib.util
from typing import Any

import pytest
import torch
from torch import nn

from headlight import InvalidOption, MissingExtra
from headlight.loading import devices
from headlight.loading.devices import Placement, chosen_device, chosen_dtype, placement


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with two cards, as torch would describe it."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)


@pytest.mark.usefixtures("two_cards")
@pytest.mark.parametrize("name", ["cpu", "cuda", "cuda:0", "cuda:1", torch.device("cuda", 1)])
def test_devices_of_this_machine_are_taken(name: Any) -> None:
    assert chosen_device(name) == torch.device(name)


@pytest.mark.usefixtures("two_cards")
@pytest.mark.parametrize("name", ["cuda:2", "mps", "meta", "xpu:0", "gpu", None, 1.5])
def test_a_device_that_is_not_here_is_refused_with_those_that_are(name: Any) -> None:
    with pytest.raises(InvalidOption, match=rf"no device '{name}'.*has: cpu, cuda:0, cuda:1\."):
        chosen_device(name)


def test_without_a_card_there_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    assert chosen_device("cpu") == torch.device("cpu")
    with pytest.raises(InvalidOption, match=r"has: cpu\."):
        chosen_device("cuda")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (torch.float32, torch.float32),
        ("float32", torch.float32),
        ("torch.bfloat16", torch.bfloat16),
        ("float16", torch.float16),
        ("float64", torch.float64),
        ("auto", "auto"),
    ],
)
def test_types_are_given_as_such_or_by_name(given: Any, kind: Any) -> None:
    assert chosen_dtype(given) == kind


@pytest.mark.parametrize("given", ["half", torch.int8, torch.float8_e4m3fn, None, 32])
def test_what_is_not_a_type_of_weights_is_refused(given: Any) -> None:
    with pytest.raises(InvalidOption, match="is not a type of weights"):
        chosen_dtype(given)


def test_a_device_and_a_map_of_devices_exclude_each_other() -> None:
    with pytest.raises(InvalidOption, match="device='cpu' and device_map= were both given"):
        placement("float32", "cpu", "auto")


def test_a_map_of_devices_is_a_known_strategy_or_names_parts() -> None:
    assert placement("float32", None, "balanced").device_map == "balanced"
    assert placement("float32", None, {"": "cpu"}).device_map == {"": "cpu"}
    with pytest.raises(InvalidOption, match=r"device_map='cpu' is not known. Use auto, balanced"):
        placement("float32", None, "cpu")


def test_a_map_of_devices_needs_accelerate(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        devices, "find_spec", lambda name: None if name == "accelerate" else find(name)
    )
    with pytest.raises(MissingExtra, match=r"Run: pip install accelerate\."):
        placement("float32", None, "auto")


def test_a_device_without_64_bits_is_refused_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "present_devices", lambda: ["cpu", "mps:0"])
    assert placement("float32", "mps", None).device == torch.device("mps")
    with pytest.raises(InvalidOption, match="mps has no 64-bit numbers"):
        placement("float64", "mps", None)


def test_a_placement_says_it_to_transformers_and_moves_the_network() -> None:
    assert Placement().arguments == {"dtype": torch.float32}
    assert Placement("auto", None, "auto").arguments == {"dtype": "auto", "device_map": "auto"}
    network = nn.Linear(2, 2)
    Placement(device=torch.device("meta")).put(network)
    assert network.weight.is_meta
