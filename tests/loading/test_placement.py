"""Names of devices and types are checked without torch."""

import pytest

from headlight import InvalidOption
from headlight.loading.placement import DTYPES, check_device_name, check_dtype_name


@pytest.mark.parametrize("name", [None, "cpu", "cuda", "cuda:1", "mps", "xpu:0"])
def test_names_that_devices_can_have_pass(name: str | None) -> None:
    check_device_name(name)


@pytest.mark.parametrize("name", ["", "gpu", "cuda1", "cuda:", "CUDA", "cuda:one", "meta"])
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(
        InvalidOption, match=rf"device '{name}' is not a device. Use cpu, cuda, mps"
    ):
        check_device_name(name)


def test_types_are_known_by_name() -> None:
    for name in DTYPES:
        check_dtype_name(name)
    with pytest.raises(InvalidOption, match=r"'half' is not a type of weights. Use float32"):
        check_dtype_name("half")
