"""Loading makes no noise, and leaves the user's settings as they were."""

from collections.abc import Iterator

import pytest
from transformers.utils import logging

from headlight.loading.quiet import quiet


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    verbosity, shows_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    yield
    logging.set_verbosity(verbosity)
    (logging.enable_progress_bar if shows_bars else logging.disable_progress_bar)()


@pytest.mark.parametrize("shows_bars", [True, False])
def test_settings_come_back_also_after_an_error(shows_bars: bool) -> None:
    logging.set_verbosity_info()
    (logging.enable_progress_bar if shows_bars else logging.disable_progress_bar)()
    seen = []

    def work() -> None:
        with quiet():
            seen.append((logging.get_verbosity(), logging.is_progress_bar_enabled()))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        work()
    assert seen == [(logging.ERROR, False)]  # type: ignore[attr-defined]
    assert logging.get_verbosity() == logging.INFO  # type: ignore[attr-defined]
    assert logging.is_progress_bar_enabled() is shows_bars
