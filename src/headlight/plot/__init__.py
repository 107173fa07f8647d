"""Figures for papers and slides; needs the extra `plot`. Each function returns a matplotlib figure."""

from headlight.plot.canvas import save
from headlight.plot.heads import agreement, head_map, relative_positions, sample_sizes, thresholds
from headlight.plot.mixing import matrix
from headlight.plot.runs import bars, boxes, class_words, curves, option_curve

__all__ = [
    "agreement",
    "bars",
    "boxes",
    "class_words",
    "curves",
    "head_map",
    "matrix",
    "option_curve",
    "relative_positions",
    "sample_sizes",
    "save",
    "thresholds",
]
