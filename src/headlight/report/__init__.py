"""The results of a run for people: tables, figures, one page."""

from headlight.report.page import page
from headlight.report.sheets import sheets, terminal_sheet
from headlight.report.tables import grids, terminal_table
from headlight.report.writing import FORMATS, written

__all__ = ["FORMATS", "grids", "page", "sheets", "terminal_sheet", "terminal_table", "written"]
