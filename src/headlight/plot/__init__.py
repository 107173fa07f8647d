"""Figures for papers and slides; needs the extra `plot`. Each function returns a matplotlib figure."""

from headlight.plot.canvas import save
from headlight.plot.heads import agreement, head_map, relative_positions, sample_sizes, thresholds
from headlight.plot.mixing import matrix

__all__ = [
    "agreement",
    "head_map",
    "matrix",
    "relative_positions",
    "sample_sizes",
    "save",
    "thresholds",
]
