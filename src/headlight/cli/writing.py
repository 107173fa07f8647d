"""Writes answers: formats, files, and the terminal."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from headlight.cli.options import draw
from headlight.errors import InvalidOption

if TYPE_CHECKING:
    from headlight.answer import Answer
    from headlight.attribution import Attribution, Generation
    from headlight.models.model import Model


class Format(StrEnum):
    """How attributions are written."""

    terminal = "terminal"
    html = "html"
    svg = "svg"
    png = "png"
    pdf = "pdf"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    latex = "latex"


SUFFIXES = {
    ".html": Format.html,
    ".svg": Format.svg,
    ".png": Format.png,
    ".pdf": Format.pdf,
    ".json": Format.json,
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".csv": Format.csv,
    ".tsv": Format.tsv,
    ".parquet": Format.parquet,
    ".tex": Format.latex,
}
PICTURES = (Format.png, Format.pdf)
BINARY = (*PICTURES, Format.parquet)
"""Formats that are not text, so they need a file."""
DRAWN = (*PICTURES, Format.svg)
"""Formats of figures."""

FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        "-f",
        help="The output format. Default: by the suffix of --output, else terminal.",
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of the terminal.")
]


def format_of(chosen: Format | None, output: Path | None) -> Format:
    """The chosen format, or that of the file's suffix; other suffixes are refused."""
    kind = chosen or (Format.terminal if output is None else SUFFIXES.get(output.suffix.lower()))
    if kind is None:
        raise InvalidOption(
            f"'{output}' does not say what to write. Use one of the suffixes {', '.join(SUFFIXES)}, "
            "or add --format."
        )
    if kind in BINARY and output is None:
        name = "picture" if kind in PICTURES else "table"
        raise InvalidOption(f"{kind} is not text and needs a file: add --output {name}.{kind}.")
    return kind


def is_drawn(chosen: Format | None, output: Path | None) -> bool:
    """Whether a figure goes to a file."""
    return output is not None and format_of(chosen, output) in DRAWN


def show(attributions: "Sequence[Attribution]", chosen: Format | None, output: Path | None) -> None:
    """Print attributions, or write them to a file."""
    from headlight.renderers import RENDERERS, tables
    from headlight.renderers.terminal import comparison

    kind = format_of(chosen, output)
    if output is not None and kind in PICTURES:
        from headlight.plot import text

        draw(text(attributions), output, kind)
    elif kind is Format.terminal and output is None:
        Console().print(comparison(attributions))
    elif kind is Format.parquet:
        deliver(tables.as_parquet(attributions), output)
    else:
        deliver(RENDERERS[kind].function(attributions), output)


def show_trust(
    model: "Model", attributions: "Sequence[Attribution]", kind: Format, output: Path | None
) -> None:
    """Print how far each attribution can be trusted; beside a file or another format on standard error."""
    if not attributions:  # before the import, because what judges needs SciPy
        return
    from headlight.explaining.trust import trust

    is_read = kind is Format.terminal and output is None
    console = Console(stderr=not is_read, markup=False, emoji=False, highlight=False)
    texts = dict.fromkeys(each.texts for each in attributions)
    for each in attributions:
        found, number = trust(model, each), list(texts).index(each.texts) + 1
        name = each.method if len(texts) == 1 else f"text {number}, {each.method}"
        console.print(f"{name}: {found.sentence} {found.numbers}", soft_wrap=True)


def show_comparison(
    attributions: "Sequence[Attribution]", chosen: Format | None, output: Path | None
) -> None:
    """Print or write attributions of one text, then where the first differs from the others."""
    from headlight.renderers import html, svg
    from headlight.renderers.comparison import differences
    from headlight.renderers.terminal import comparison, difference_maps

    kind = format_of(chosen, output)
    columns = min(len(attributions), 2)
    if output is not None and kind in PICTURES:
        from headlight.plot import text

        drawn = text(attributions, difference=True, columns=columns, width=500.0 * columns)
        draw(drawn, output, kind)
    elif kind is Format.svg:
        deliver(
            svg.svg(attributions, difference=True, columns=columns, width=500.0 * columns), output
        )
    elif kind is Format.html:
        deliver(html.page(attributions, difference=True), output)
    elif kind is Format.terminal and output is None:
        Console().print(comparison(attributions))
        if len(attributions) > 1:
            Console().print(difference_maps(attributions))
    else:
        show([*attributions, *differences(attributions)], kind, output)


def show_layers(
    attributions: "Sequence[Attribution]",
    rollout: "Sequence[Attribution]",
    chosen: Format | None,
    output: Path | None,
) -> None:
    """Print or write the layers of a method: a figure with the rollout, or a heat map for each layer."""
    kind = format_of(chosen, output)
    if output is not None and kind in DRAWN:
        from headlight.plot import layers

        draw(layers(attributions, rollout=next(iter(rollout), None)), output, kind)
    elif kind in (Format.json, Format.jsonl):
        show(attributions, kind, output)
    else:
        named = [replace(a, method=f"{a.method}, layer {a.options['layer']}") for a in attributions]
        show(named, kind, output)


def check_matrix_format(chosen: Format | None, output: Path | None) -> None:
    """Refuse formats that a generated text cannot be written in."""
    kind = format_of(chosen, output)
    is_picture = output is not None and kind in DRAWN
    if (
        not is_picture
        and kind is not Format.html
        and not (kind is Format.terminal and output is None)
    ):
        raise InvalidOption(
            "a generated text cannot be written in this format. Use the terminal, html, png, svg or pdf "
            "(pictures need --output)."
        )


def show_generation(found: "Generation", chosen: Format | None, output: Path | None) -> None:
    """Print or write the matrix of a generated text."""
    from headlight.renderers.html import PAGE

    check_matrix_format(chosen, output)
    kind = format_of(chosen, output)
    if output is not None and kind in DRAWN:
        from headlight.plot import generation

        draw(generation(found), output, kind)
    elif kind is Format.html:
        deliver(PAGE.format(title="headlight", body=found._repr_html_()), output)
    else:
        Console().print(found)


def show_answers(
    found: "Iterable[Sequence[Answer]]", kind: Format, output: Path | None
) -> "list[Answer]":
    """Print or write answers as they come; what there is gets written also if a later one fails or is stopped.

    The terminal and JSON lines take them one by one; other formats are written at the end.
    """
    from headlight.renderers.answers.terminal import comparison

    done: list[Answer] = []
    try:
        for several in found:
            if kind is Format.terminal and output is None:
                Console().print(comparison(several))
            elif kind is Format.jsonl:
                append_lines(several, output, is_first=not done)
            done += several
    finally:
        if done and kind is Format.jsonl and output is not None:
            print(f"wrote {output}", file=sys.stderr)
        elif done and kind is not Format.jsonl and (kind, output) != (Format.terminal, None):
            write_answers(done, kind, output)
    return done


def append_lines(several: "Sequence[Answer]", output: Path | None, *, is_first: bool) -> None:
    """Add answers to a file of JSON lines, or to standard output; the first ones begin the file anew."""
    from headlight.files.storage import write_whole
    from headlight.renderers.json import as_json_lines

    lines = as_json_lines(several)
    if output is None:
        sys.stdout.write(lines)
        sys.stdout.flush()
    elif is_first:
        write_whole(output, lines)
    else:
        with output.open("a", encoding="utf-8") as file:
            file.write(lines)


def write_answers(answers: "Sequence[Answer]", kind: Format, output: Path | None) -> None:
    """Write answers in one piece."""
    from headlight.renderers.answers import render_answers, tables

    if output is not None and kind in PICTURES:
        from headlight.plot import answer_text

        draw(answer_text(answers), output, kind)
    elif kind is Format.parquet:
        deliver(tables.as_parquet(answers), output)
    else:
        deliver(render_answers(answers, kind), output)


def deliver(content: str | bytes, output: Path | None) -> None:
    """Write content to a file, or text to standard output."""
    from headlight.files.storage import write_whole

    if output is None:
        assert isinstance(content, str)
        sys.stdout.write(content)
    else:
        write_whole(output, content)
        print(f"wrote {output}", file=sys.stderr)
