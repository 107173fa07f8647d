"""Loading without noise."""

from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging


@contextmanager
def quiet() -> Iterator[None]:
    """Loading without progress bars and without remarks on heads that are about to be filled."""
    verbosity, shows_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows_bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
