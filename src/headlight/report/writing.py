"""All tables of a run as text."""

from headlight.errors import InvalidOption
from headlight.evaluation.results import Results
from headlight.report.sheets import latex_sheet, markdown_sheet, sheets
from headlight.report.tables import comma_separated, grids, latex, markdown

FORMATS = ("terminal", "markdown", "latex", "csv")


def written(results: Results, form: str) -> str:
    """All tables of a run as text; CSV has the summaries only."""
    if form == "csv":
        return comma_separated(results)
    if form == "markdown":
        shown = [*map(markdown, grids(results)), *map(markdown_sheet, sheets(results))]
    elif form == "latex":
        shown = [*map(latex, grids(results)), *map(latex_sheet, sheets(results))]
    else:
        raise InvalidOption(f"format '{form}' does not exist. Use one of {', '.join(FORMATS)}.")
    return "\n".join(shown)
