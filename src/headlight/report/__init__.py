"""The results of a run for people: tables, figures, one page."""

from headlight.report.page import page
from headlight.report.tables import FORMATS, grids, terminal_table, written

__all__ = ["FORMATS", "grids", "page", "terminal_table", "written"]
