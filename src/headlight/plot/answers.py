"""Figures of an answer: which units of the prompt carry which part of it, and the answer as a text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headlight.answer import Answer
from headlight.plot.cells import cell_map
from headlight.plot.fonts import width_of
from headlight.plot.text import painted
from headlight.renderers.answers.contents import matrix_cells
from headlight.renderers.answers.svg import answer_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def answer(found: Answer) -> "Figure":
    """Parts of the answer (rows) by units of its prompt (columns)."""
    return cell_map(matrix_cells(found))


def answer_text(answers: Sequence[Answer] | Answer, *, width: float = 720.0) -> "Figure":
    """One or several answers with their citations, and the units of their prompts in colour."""
    several = [answers] if isinstance(answers, Answer) else answers
    return painted(answer_sheet(several, width=width, measure=width_of))
