"""Metrics: functions registered in METRICS, one file per kind."""

from headlight.metrics import curves, plausibility, runtime, sources, stability, words
from headlight.metrics.case import METRICS

__all__ = ["METRICS", "curves", "plausibility", "runtime", "sources", "stability", "words"]
