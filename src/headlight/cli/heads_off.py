"""The command that switches attention heads off: `headlight heads off`."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headlight.cli.checking import (
    check_labels,
    check_models,
    check_output,
    check_picture,
    check_task,
    check_tensors,
)
from headlight.cli.options import (
    DEFAULT_MODEL,
    DeviceOption,
    DtypeOption,
    ModelOption,
    PairOption,
    PictureOption,
    StrictOption,
    TargetOption,
    TextArgument,
    draw,
    given_texts,
    load_model,
    parsed_target,
)
from headlight.errors import InvalidOption
from headlight.loading.placement import DEFAULT_DTYPE

if TYPE_CHECKING:
    from headlight.ablated import Ablated, HeadEffects

app = typer.Typer()


@app.command(
    epilog="Examples:\n\n"
    'headlight heads off "a charming and often affecting journey" --heads 6.6,4.10\n\n'
    'headlight heads off "a charming and often affecting journey" --mask syntactic --others\n\n'
    'headlight heads off "a charming and often affecting journey" --each --picture effects.png\n\n'
    "headlight heads off --input reviews.csv --column text --mask both --output effect.json"
)
def off(
    text: TextArgument = None,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    heads: Annotated[
        str | None,
        typer.Option("--heads", help="The heads to switch off, LAYER.HEAD from 1 on: 3.4,5.1."),
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(
            "--mask",
            help="Switch off the heads of a mask: syntactic, positional or both for those of the model's own, "
            "or a mask file.",
        ),
    ] = None,
    others: Annotated[
        bool, typer.Option("--others", help="Switch off all others instead of these heads.")
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="Switch off every head of the network, one at a time.")
    ] = False,
    target: TargetOption = None,
    source: Annotated[
        str | None, typer.Option("--input", "-i", help="A file of texts, or - for standard input.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The column with the texts in --input.")
    ] = None,
    pair_column: Annotated[
        str | None,
        typer.Option("--pair-column", help="The column with the second texts in --input."),
    ] = None,
    strict: StrictOption = False,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write everything to this JSON file.")
    ] = None,
    picture: PictureOption = None,
) -> None:
    """Switch attention heads off while the model runs, and see how its answer moves."""
    check_output(output)
    check_picture(picture)
    chosen = checked_heads(heads, mask, others=others, each=each)
    if picture is not None and not each:
        raise InvalidOption("--picture draws the effects of all heads. Add --each.")
    check_models(model)
    wanted = parsed_target(target, None, False)
    check_labels(model, wanted.label)
    texts = given_texts(text, pair, source, column, pair_column, strict=strict)
    check_task(model, texts)

    from headlight.explaining.heads_off import ablate, ablate_each, chosen_heads
    from headlight.plot import head_effects

    loaded = load_model(model, device, dtype)
    if each:
        effects = ablate_each(loaded, texts, wanted, progress=True)
        effects.show()
        if picture is not None:
            draw(head_effects(effects), picture)
        write_json(effects, output)
        return
    switched = chosen_heads(loaded, chosen)
    found = ablate(loaded, texts, ~switched if others else switched, wanted)
    found.show()
    write_json(found, output)


def checked_heads(
    heads: str | None, mask: str | None, *, others: bool, each: bool
) -> "str | list[tuple[int, int]]":
    """The heads that a command names, [] if each is tried; refused unless they are named in one way."""
    if sum((heads is not None, mask is not None, each)) != 1:
        raise InvalidOption(
            "say which heads to switch off in one way: --heads 3.4,5.1, --mask syntactic, or --each."
        )
    if each and others:
        raise InvalidOption("--others is for --heads and --mask. Leave it out with --each.")
    if mask is not None and Path(mask).suffix:
        check_tensors(Path(mask))
    return [] if each else mask or parsed_heads(heads or "")


def parsed_heads(given: str) -> list[tuple[int, int]]:
    """Heads from LAYER.HEAD,LAYER.HEAD."""
    found = [re.fullmatch(r"(\d+)\.(\d+)", each.strip()) for each in given.split(",")]
    if not all(found):
        raise InvalidOption(
            f"--heads {given} is not understood. Write LAYER.HEAD, counted from 1, such as 3.4,5.1."
        )
    return [(int(match[1]), int(match[2])) for match in found if match]


def write_json(found: "Ablated | HeadEffects", output: Path | None) -> None:
    """Write a result to a file, if one is named, and say so."""
    if output is not None:
        found.save(output, overwrite=True)
        print(f"wrote {output}", file=sys.stderr)
