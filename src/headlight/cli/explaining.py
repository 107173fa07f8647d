"""Commands that explain: `explain`, `compare`, `mix`, `conservation`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from headlight.cli.options import (
    DEFAULT_MODEL,
    ContrastOption,
    ModelOption,
    PairOption,
    PictureOption,
    SettingsOption,
    TargetOption,
    TextArgument,
    VariantOption,
    WordsOption,
    draw,
    given_texts,
    load_model,
    parsed_options,
    parsed_target,
)
from headlight.cli.writing import (
    FormatOption,
    OutputOption,
    format_of,
    is_drawn,
    show,
    show_comparison,
    show_generation,
    show_layers,
)
from headlight.errors import InvalidOption, UnsupportedModel

if TYPE_CHECKING:
    from headlight.attribution import Attribution
    from headlight.batch import Text
    from headlight.models.model import Model
    from headlight.target import Target

app = typer.Typer()


@app.command(
    epilog="Examples:\n\n"
    'headlight explain "a charming and often affecting journey" --method attcat --words\n\n'
    'headlight explain "Who wrote it?" --pair "It was written by Mary Shelley." --model my-qa-folder\n\n'
    "headlight explain --input reviews.csv --column text --output reviews.jsonl\n\n"
    'headlight explain "not a bad film" --layers --output layers.png\n\n'
    'headlight explain "The keys to the cabinet" --model gpt2 --target are --contrast is'
)
def explain(
    text: TextArgument = None,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    method: Annotated[
        list[str],
        typer.Option(
            "--method", "-a", help="A method; repeat for several (headlight methods lists them)."
        ),
    ] = ["attcat"],  # noqa: B006
    target: TargetOption = None,
    contrast: ContrastOption = None,
    probability: Annotated[
        bool, typer.Option("--probability", help="Explain the probability instead of the logit.")
    ] = False,
    words: WordsOption = False,
    output_format: FormatOption = None,
    output: OutputOption = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            help="A csv, tsv, jsonl, parquet or txt file of texts, or - for standard input.",
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of the texts in --input.")] = None,
    pair_column: Annotated[
        str | None, typer.Option(help="The column of the second texts in --input.")
    ] = None,
    variant: VariantOption = "paper",
    batch_size: Annotated[int, typer.Option("--batch-size", "-b", help="Texts a pass.")] = 32,
    stride: Annotated[
        int | None, typer.Option(help="Explain long texts in windows that share this many tokens.")
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option(help="Let a causal model write this many tokens, and explain each."),
    ] = None,
    layers: Annotated[
        bool, typer.Option("--layers", help="Explain every layer of one method, for one text.")
    ] = False,
    option: SettingsOption = None,
) -> None:
    """Explain one text, a pair of texts, or a file of them."""
    from headlight.explanation import explain as explain_texts
    from headlight.explanation import explain_generation, explain_layers

    format_of(output_format, output)
    texts = given_texts(text, pair, source, column, pair_column)
    loaded = load_model(model)
    options = parsed_options(option)
    wanted = parsed_target(target, contrast, probability)
    if generate is not None:
        only, prompt = single(method, texts, "--generate")
        if not isinstance(prompt, str):
            raise InvalidOption("--generate continues one text, not a pair.")
        generation = explain_generation(
            loaded, prompt, only, max_new_tokens=generate, variant=variant, **options
        )
        show_generation(generation, output_format, output)
        return
    if layers:
        only, given = single(method, texts, "--layers")
        if variant != "paper":
            raise InvalidOption("--layers shows what the paper writes. Leave --variant out.")
        every = explain_layers(loaded, given, only, wanted, **options)
        rollout = rollout_of(loaded, given, wanted) if is_drawn(output_format, output) else []
        found = [a.words() if words else a for a in (*every, *rollout)]
        show_layers(found[: len(every)], found[len(every) :], output_format, output)
        return
    answers = explain_texts(
        loaded,
        texts,
        method,
        wanted,
        variant=variant,
        batch_size=batch_size,
        stride=stride,
        progress=len(texts) > 1 and sys.stderr.isatty(),
        **options,
    )
    in_order = [a for row in zip(*answers.values(), strict=True) for a in row]
    show([a.words() for a in in_order] if words else in_order, output_format, output)


def single(methods: list[str], texts: "list[Text]", option: str) -> "tuple[str, Text]":
    """The one method and the one text that it explains."""
    if len(methods) != 1 or len(texts) != 1:
        raise InvalidOption(
            f"{option} explains one text with one method, not {len(texts)} with {len(methods)}."
        )
    return methods[0], texts[0]


def rollout_of(model: "Model", text: "Text", target: "Target") -> "list[Attribution]":
    """The rollout to hold against the layers of a method, where the model has attention."""
    from headlight.explanation import explain as explain_texts

    try:
        return list(explain_texts(model, [text], "rollout", target))
    except UnsupportedModel:
        return []


@app.command(
    epilog="Examples:\n\n"
    'headlight compare "a charming and often affecting journey" --method attcat --method rollout\n\n'
    'headlight compare "a charming and often affecting journey" --output comparison.svg'
)
def compare(
    text: Annotated[str, typer.Argument(help="The text to explain.")],
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    method: Annotated[
        list[str],
        typer.Option("--method", "-a", help="Methods; the others are compared with the first."),
    ] = ["attcat", "rollout", "gae", "input_x_gradient"],  # noqa: B006
    target: TargetOption = None,
    contrast: ContrastOption = None,
    words: WordsOption = False,
    output_format: FormatOption = None,
    output: OutputOption = None,
    variant: VariantOption = "paper",
    option: SettingsOption = None,
) -> None:
    """Show methods side by side, then where the first gives more (green) or less (red) than the others."""
    from headlight.explanation import explain as explain_texts

    format_of(output_format, output)
    answers = explain_texts(
        load_model(model),
        given_texts(text, pair, None, None, None),
        method,
        parsed_target(target, contrast, False),
        variant=variant,
        **parsed_options(option),
    )
    found = [a.words() if words else a for (a,) in answers.values()]
    show_comparison(found, output_format, output)


@app.command(
    epilog="Example:\n\n"
    'headlight mix "a charming and often affecting journey" --method alti --picture mixing.png'
)
def mix(
    text: Annotated[str, typer.Argument(help="The text to look at.")],
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    method: Annotated[
        str, typer.Option("--method", "-a", help="rollout, alti, alti_ln2, norms or globenc.")
    ] = "alti",
    layer: Annotated[int, typer.Option(help="The layer; -1 is the last.")] = -1,
    single: Annotated[
        bool, typer.Option("--single", help="This layer alone, not the product up to it.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all layers to this JSON file.")
    ] = None,
    picture: PictureOption = None,
    option: SettingsOption = None,
) -> None:
    """Show how much of every token is in every other."""
    from headlight.explanation import mix as mix_tokens
    from headlight.plot import matrix
    from headlight.renderers.matrix import MatrixMap

    given = (text, pair) if pair else text
    found = mix_tokens(load_model(model), given, method, **parsed_options(option))
    Console().print(MatrixMap(found, layer, not single))
    if output is not None:
        found.save(output)
        print(f"wrote {output}", file=sys.stderr)
    if picture is not None:
        draw(matrix(found, layer, accumulated=not single), picture)


@app.command()
def conservation(
    text: Annotated[str, typer.Argument(help="The text to explain.")],
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    target: TargetOption = None,
    preset: Annotated[
        str, typer.Option(help="Rules: chefer, chefer_released, attn_lrp or epsilon.")
    ] = "chefer",
) -> None:
    """Show how much of the relevance is left at every block boundary."""
    from headlight.ledger import conservation as left_over

    given = (text, pair) if pair else text
    sums = left_over(load_model(model), given, parsed_target(target, None, False), preset=preset)
    table = Table(box=None, pad_edge=False)
    table.add_column("boundary")
    table.add_column("relevance", justify="right")
    for below, total in zip(reversed(range(len(sums))), sums, strict=True):
        table.add_row(f"output of block {below - 1}" if below else "embeddings", f"{total:.4f}")
    Console().print(table)
