"""The setting of the C library is made once, and ended by the last that uses it."""

from typing import Any

import pytest

from headlight.running import allocator
from headlight.running.allocator import RETURNED, USUAL, returning_memory


def test_the_last_one_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    monkeypatch.setattr(allocator, "mallopt", lambda: lambda *given: calls.append(given))
    with returning_memory():
        with pytest.raises(KeyError), returning_memory():
            raise KeyError
        assert [size for _, size in calls] == [RETURNED, RETURNED]
    assert [size for _, size in calls] == [RETURNED, RETURNED, USUAL]


def test_other_systems_have_no_such_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = None
    monkeypatch.setattr(allocator, "mallopt", lambda: nothing)
    with returning_memory():
        pass
