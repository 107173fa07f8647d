"""Figures for papers and slides; every function returns a matplotlib figure. Needs the extra `plot`."""

from headlight.plot.answers import answer, answer_text
from headlight.plot.canvas import dark_paper, save
from headlight.plot.generation import generation
from headlight.plot.heads import (
    agreement,
    head_effects,
    head_map,
    relative_positions,
    sample_sizes,
    thresholds,
)
from headlight.plot.layers import layers
from headlight.plot.mixing import matrix
from headlight.plot.runs import bars, boxes, class_words, curves, front, option_curve
from headlight.plot.text import text

__all__ = [
    "agreement",
    "answer",
    "answer_text",
    "bars",
    "boxes",
    "class_words",
    "curves",
    "dark_paper",
    "front",
    "generation",
    "head_effects",
    "head_map",
    "layers",
    "matrix",
    "option_curve",
    "relative_positions",
    "sample_sizes",
    "save",
    "text",
    "thresholds",
]
