"""The type and the device of a network that is loaded, refused if this machine does not have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import torch
from torch import nn

from headlight.errors import InvalidOption, MissingExtra
from headlight.loading.placement import DTYPES, check_dtype_name

DeviceMap = str | Mapping[str, int | str | torch.device]
"""As `from_pretrained` takes it: one of `STRATEGIES`, or a device for each part."""
STRATEGIES = ("auto", "balanced", "balanced_low_0", "sequential")
"""Ways in which accelerate spreads a network over the devices that there are."""


@dataclass(frozen=True)
class Placement:
    """In which type and where a network is loaded; device None: where transformers puts it."""

    dtype: torch.dtype | Literal["auto"] = torch.float32
    device: torch.device | None = None
    device_map: DeviceMap | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments for `from_pretrained`."""
        mapped = {} if self.device_map is None else {"device_map": self.device_map}
        return {"dtype": self.dtype, **mapped}

    def put(self, network: nn.Module) -> None:
        """Move a loaded network to its device."""
        if self.device is not None:
            # Not network.to: transformers wraps it in a way that hides its types from mypy.
            nn.Module.to(network, self.device)


def placement(
    dtype: torch.dtype | str,
    device: str | torch.device | None,
    device_map: DeviceMap | None,
) -> Placement:
    """A placement that this machine can carry out."""
    if device is not None and device_map is not None:
        raise InvalidOption(
            f"device={str(device)!r} and device_map= were both given. Give device for one device, or "
            "device_map to spread the network over several."
        )
    if device_map is not None and find_spec("accelerate") is None:
        raise MissingExtra(
            "device_map= needs the package 'accelerate', which is not installed. "
            "Run: pip install accelerate."
        )
    if isinstance(device_map, str) and device_map not in STRATEGIES:
        raise InvalidOption(
            f"device_map='{device_map}' is not known. Use {', '.join(STRATEGIES)}, or name the device of each "
            "part in a dictionary; for a single device use device=."
        )
    kind, place = chosen_dtype(dtype), None if device is None else chosen_device(device)
    if place is not None and place.type == "mps" and kind == torch.float64:
        raise InvalidOption("mps has no 64-bit numbers. Use dtype=torch.float32, or device='cpu'.")
    return Placement(kind, place, device_map)


def chosen_dtype(dtype: torch.dtype | str) -> torch.dtype | Literal["auto"]:
    """A type of weights, given as such or by name."""
    name = str(dtype).removeprefix("torch.")
    if not isinstance(dtype, str | torch.dtype) or name not in DTYPES:
        check_dtype_name(name)
        raise InvalidOption(f"dtype={dtype!r} is not a type of weights. Give torch.{name}.")
    if name == "auto":
        return "auto"
    kind: torch.dtype = getattr(torch, name)
    return kind


def chosen_device(device: str | torch.device) -> torch.device:
    """A device of this machine, given as such or by name."""
    present = present_devices()
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise absent(device, present) from error
    named = str(place) if place.index is not None else f"{place.type}:0"
    if named not in present and place.type not in present:
        raise absent(device, present)
    return place


def present_devices() -> list[str]:
    """The devices of this machine, such as cpu, cuda:0, cuda:1."""
    if not torch.accelerator.is_available():
        return ["cpu"]
    kind = str(torch.accelerator.current_accelerator()).partition(":")[0]
    return ["cpu", *(f"{kind}:{number}" for number in range(torch.accelerator.device_count()))]


def absent(device: object, present: list[str]) -> InvalidOption:
    """The error for a device that this machine does not have."""
    return InvalidOption(
        f"there is no device {str(device)!r} on this machine as torch {torch.__version__} sees it. "
        f"It has: {', '.join(present)}."
    )
