"""Empty figures, and how they are written. Matplotlib is loaded when the first figure is made."""

from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from headlight.errors import InvalidOption, missing_extra
from headlight.renderers.colours import Rgb
from headlight.storage import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
RESOLUTION = 160
INK = "#222222"
PAPER = "#f2f2f2"


def figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """A figure of so many inches with one set of axes, without matplotlib's global state."""
    try:
        found: Figure = import_module("matplotlib.figure").Figure(
            figsize=(width, height), layout="constrained", facecolor="white"
        )
    except ModuleNotFoundError as error:
        raise missing_extra("matplotlib", "plot", "headlight.plot") from error
    axes = found.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return found, axes


def colour(rgb: Rgb) -> tuple[float, float, float]:
    """A colour as matplotlib wants it."""
    return rgb[0] / 255, rgb[1] / 255, rgb[2] / 255


def save(drawn: "Figure", path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of the file, whole or not at all."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InvalidOption(
            f"'{path}' does not say what kind of picture it is. Use the suffix .png, .svg or .pdf."
        )
    matplotlib = import_module("matplotlib")
    content = BytesIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": "headlight", "pdf.fonttype": 42}
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context(settings):
        drawn.savefig(content, format=kind, dpi=RESOLUTION, metadata=undated)
    write_whole(path, content.getvalue())
