"""Makes empty figures and saves figures. Matplotlib is loaded when the first figure is made."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from headlight.errors import InvalidOption, missing_extra
from headlight.files.storage import write_whole
from headlight.renderers.colours import (
    DARK,
    GREY,
    LIGHT,
    STRONGEST,
    Palette,
    Paper,
    Rgb,
    blended,
    shade,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 160
PAPER: ContextVar[Paper] = ContextVar("paper", default=LIGHT)


@contextmanager
def dark_paper() -> Iterator[None]:
    """Figures made inside this block are light on dark."""
    before = PAPER.set(DARK)
    try:
        yield
    finally:
        PAPER.reset(before)


def paper() -> Paper:
    """The paper that figures are drawn on now."""
    return PAPER.get()


def ink() -> tuple[float, float, float]:
    """The colour of text and lines now."""
    return colour(paper().ink)


def figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """A figure of this size in inches with one set of axes."""
    # Not pyplot: its global state would keep every figure alive and change the user's backend.
    try:
        found: Figure = import_module("matplotlib.figure").Figure(
            figsize=(width, height), layout="constrained", facecolor=colour(paper().paper)
        )
    except ModuleNotFoundError as error:
        raise missing_extra("matplotlib", "plot", "headlight.plot") from error
    return found, inked(found.subplots())


def inked(axes: "Axes") -> "Axes":
    """Axes in the ink of the paper, open at the top and at the right."""
    axes.set_facecolor("none")
    axes.spines[:].set_color(ink())
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=ink(), which="both")
    for words in (axes.title, axes.xaxis.label, axes.yaxis.label):
        words.set_color(ink())
    return axes


def colour(rgb: Rgb) -> tuple[float, float, float]:
    """A colour as matplotlib wants it."""
    return rgb[0] / 255, rgb[1] / 255, rgb[2] / 255


def shades(is_signed: bool, colours: Palette) -> "Colormap":
    """The colour scale of the renderers: from −1 (0 if unsigned) to 1, grey beyond; NaN has no colour."""
    colormaps = import_module("matplotlib.colors")
    stops = (-1.0, 0.0, 1.0) if is_signed else (0.0, 1.0)
    painted = [colour(shade(stop, is_signed, colours, paper())) for stop in stops]
    found: Colormap = colormaps.LinearSegmentedColormap.from_list("headlight", painted)
    beyond = colour(blended(GREY, STRONGEST, paper().paper))
    return found.with_extremes(bad=(0.0, 0.0, 0.0, 0.0), under=beyond, over=beyond)


def save(drawn: "Figure", path: str | Path, kind: str | None = None) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of the file; never a partial file."""
    kind = kind or Path(path).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InvalidOption(
            f"'{path}' does not say what kind of picture it is. Use the suffix .png, .svg or .pdf."
        )
    matplotlib = import_module("matplotlib")
    content = BytesIO()
    # No dates, a fixed salt for ids, and text as text: equal figures give equal files that can be searched.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "headlight", "pdf.fonttype": 42}
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context(settings):
        drawn.savefig(content, format=kind, dpi=RESOLUTION, metadata=undated)
    write_whole(path, content.getvalue())
