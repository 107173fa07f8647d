"""Metrics: functions registered in METRICS, one file per kind."""

from headlight.metrics import (
    additive,
    curves,
    limits,
    plausibility,
    runtime,
    soft,
    sources,
    stability,
    truth,
    words,
)
from headlight.metrics.case import METRICS

__all__ = [
    "METRICS",
    "additive",
    "curves",
    "limits",
    "plausibility",
    "runtime",
    "soft",
    "sources",
    "stability",
    "truth",
    "words",
]
