"""Results show themselves in terminals and notebooks."""

import pytest

from tests.test_attribution import made


def test_show_prints_the_heat_map(capsys: pytest.CaptureFixture[str]) -> None:
    made().words().show()
    assert "unbelievable  -0.2" in capsys.readouterr().out
