"""Where a network is put and in which type: names that can be checked before torch is imported."""

import re

from headlight.errors import InvalidOption

DTYPES = ("float32", "float64", "bfloat16", "float16", "auto")
"""Types of weights by name; 'auto' keeps the type in which a checkpoint was saved."""
DEFAULT_DTYPE = "float32"
KINDS = ("cpu", "cuda", "mps", "xpu", "npu", "hpu")
"""Kinds of devices on which torch can run a network."""


def check_dtype_name(name: str) -> None:
    """Refuse the name of a type that is not known."""
    if name not in DTYPES:
        raise InvalidOption(f"dtype '{name}' is not a type of weights. Use {', '.join(DTYPES)}.")


def check_device_name(name: str | None) -> None:
    """Refuse a name that no device can have; whether the device is here, only torch knows."""
    if name is None:
        return
    kind = re.fullmatch(r"([a-z]+)(:\d+)?", name)
    if kind is None or kind[1] not in KINDS:
        raise InvalidOption(
            f"device '{name}' is not a device. Use {', '.join(KINDS)}; a number chooses one of several, "
            "as in cuda:1."
        )
