"""What tests of heads share."""

import pytest

import headlight
from headlight import Model


@pytest.fixture(scope="module")
def sentiment() -> Model:
    return headlight.load("sentiment")
