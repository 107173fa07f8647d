"""Memory that torch frees on the CPU goes back at once, where the C library would keep it.

glibc raises the size from which it returns freed memory up to 32 MB. A long text's activations are below that,
so that the holes between them cannot be used: a pass of 4,096 tokens took twice the memory that it used.
"""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

MMAP_THRESHOLD = -3
"""The number by which glibc's mallopt knows the size from which memory is returned when it is freed."""
RETURNED, USUAL = 2**20, 2**25
"""That size inside the block, and after it: glibc's own largest one."""

LOCK, INSIDE = Lock(), [0]


@cache
def mallopt() -> Any:
    """Glibc's function for such settings; None on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "mallopt", None)


@contextmanager
def returning_memory() -> Iterator[None]:
    """Return freed memory at once inside the block; the setting is the process's: the last thread ends it."""
    set_option = mallopt()
    if set_option is None:
        yield
        return
    with LOCK:
        INSIDE[0] += 1
        set_option(MMAP_THRESHOLD, RETURNED)
    try:
        yield
    finally:
        with LOCK:
            INSIDE[0] -= 1
            if INSIDE[0] == 0:
                set_option(MMAP_THRESHOLD, USUAL)
