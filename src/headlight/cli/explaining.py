"""Commands that explain: `explain`, `compare`, `mix`, `conservation`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from headlight.amounts import bytes_of
from headlight.cli.checking import (
    check_labels,
    check_layer,
    check_methods,
    check_mixing,
    check_models,
    check_output,
    check_picture,
    check_task,
)
from headlight.cli.options import (
    DEFAULT_MODEL,
    ContrastOption,
    DeviceOption,
    DtypeOption,
    ModelOption,
    OneTextArgument,
    PairOption,
    PictureOption,
    SettingsOption,
    StrictOption,
    TargetOption,
    TextArgument,
    VariantOption,
    WordsOption,
    draw,
    given_texts,
    load_model,
    one_text,
    parsed_options,
    parsed_target,
    with_pair,
)
from headlight.cli.writing import (
    FormatOption,
    OutputOption,
    check_matrix_format,
    format_of,
    is_drawn,
    show,
    show_comparison,
    show_generation,
    show_layers,
    show_trust,
)
from headlight.errors import InvalidOption, UnsupportedModel
from headlight.loading.placement import DEFAULT_DTYPE
from headlight.registry.entries import FALLBACK, PREFERRED

if TYPE_CHECKING:
    from headlight.attribution import Attribution
    from headlight.models.model import Model
    from headlight.target import Target
    from headlight.text import Text

app = typer.Typer()
LAYERED = "attcat"
"""The default method of --layers."""
COMPARED = ("rollout", "gae", "input_x_gradient")
"""The methods that `compare` adds to the default method."""


class Preset(StrEnum):
    """Sets of rules by which relevance is sent."""

    chefer = "chefer"
    chefer_released = "chefer_released"
    attn_lrp = "attn_lrp"
    epsilon = "epsilon"


@app.command(
    epilog="Examples:\n\n"
    'headlight explain "a charming and often affecting journey" --words\n\n'
    'headlight explain "Who wrote it?" --pair "It was written by Mary Shelley." --model my-qa-folder\n\n'
    "headlight explain --input reviews.csv --column text --output reviews.jsonl\n\n"
    'headlight explain "not a bad film" --method attn_lrp --method rollout --trust\n\n'
    'headlight explain "not a bad film" --layers --output layers.png\n\n'
    'headlight explain "The keys to the cabinet" --model gpt2 --target are --contrast is\n\n'
    'headlight explain "The capital of France is" --model llm --generate 5\n\n'
    'headlight explain "a charming journey" --model ./my-model --device cuda:1 --dtype bfloat16'
)
def explain(
    text: TextArgument = None,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-a",
            help="A method; `headlight methods` lists them. Repeatable. Default: attn_lrp if the network "
            "supports relevance, else integrated_gradients.",
        ),
    ] = None,
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
            help="A file of texts (csv, tsv, jsonl, parquet or txt), or - for standard input.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column with the texts in --input.")
    ] = None,
    pair_column: Annotated[
        str | None, typer.Option(help="The column with the second texts in --input.")
    ] = None,
    strict: StrictOption = False,
    variant: VariantOption = "paper",
    batch_size: Annotated[
        int, typer.Option("--batch-size", "-b", min=1, help="Texts per forward pass.")
    ] = 32,
    memory: Annotated[
        str | None,
        typer.Option(help="Most memory that a pass may take above the weights, such as 3GB."),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(min=0, help="Explain long texts in windows that overlap by this many tokens."),
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option(min=1, help="Let a causal model generate this many tokens, and explain each."),
    ] = None,
    layers: Annotated[
        bool, typer.Option("--layers", help="Explain one text with one method, layer by layer.")
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Say how far each map can be trusted, beside random orders."),
    ] = False,
    option: SettingsOption = None,
) -> None:
    """Explain one text, a pair of texts, or a file of them."""
    check_output(output)
    format_of(output_format, output)
    options = parsed_options(option)
    wanted = parsed_target(target, contrast, probability)
    check_together(generate, layers, stride, wanted, trust=trust)
    usual = [LAYERED] if layers else [PREFERRED, FALLBACK]
    if generate is not None:
        check_matrix_format(output_format, output)
    check_methods(method or usual, options, variant)
    options |= {} if memory is None else {"memory": bytes_of(memory)}
    check_models(model)
    check_labels(model, wanted.label, wanted.contrast)
    texts = given_texts(text, pair, source, column, pair_column, strict=strict)
    check_task(model, texts, is_generation=generate is not None)

    from headlight.explaining.explain import explain as explain_texts
    from headlight.explaining.generation import explain_generation
    from headlight.explaining.layers import explain_layers

    loaded = load_model(model, device, dtype)
    if generate is not None:
        _, prompt = single(method or ["the default"], texts, "--generate")
        if not isinstance(prompt, str):
            raise InvalidOption("--generate continues one text, not a pair. Leave --pair out.")
        generation = explain_generation(
            loaded,
            prompt,
            method[0] if method else None,
            max_new_tokens=generate,
            variant=variant,
            batch_size=batch_size,
            progress=True,
            **options,
        )
        show_generation(generation.words() if words else generation, output_format, output)
        return
    if layers:
        only, given = single(method or usual, texts, "--layers")
        if variant != "paper":
            raise InvalidOption("--layers follows the paper only. Leave --variant out.")
        every = explain_layers(loaded, given, only, wanted, **options)
        rollout = rollout_of(loaded, given, wanted) if is_drawn(output_format, output) else []
        found = [a.words() if words else a for a in (*every, *rollout)]
        show_layers(found[: len(every)], found[len(every) :], output_format, output)
        return
    answers = explain_texts(
        loaded,
        texts,
        method or None,
        wanted,
        variant=variant,
        batch_size=batch_size,
        stride=stride,
        progress=True,
        **options,
    )
    by_method = list(answers.values()) if isinstance(answers, dict) else [answers]
    in_order = [a for row in zip(*by_method, strict=True) for a in row]
    show([a.words() for a in in_order] if words else in_order, output_format, output)
    show_trust(loaded, in_order if trust else [], format_of(output_format, output), output)


def check_together(
    generate: int | None, layers: bool, stride: int | None, target: "Target", *, trust: bool
) -> None:
    """Refuse pairs of options of which one would be ignored."""
    from headlight.target import Target

    given = {
        "--generate": generate is not None,
        "--layers": layers,
        "--stride": stride is not None,
        "--target, --contrast or --probability": target != Target(),
        "--trust": trust,
        "--contrast": target.contrast is not None,
    }
    apart = {
        "--generate": list(given)[1:],
        "--layers": ["--stride"],
        "--trust": ["--layers", "--stride", "--contrast"],
    }
    for option, others in apart.items():
        for other in others:
            if given[option] and given[other]:
                raise InvalidOption(f"{option} does not go with {other}. Leave one of them out.")


def single(methods: list[str], texts: "list[Text]", option: str) -> "tuple[str, Text]":
    """The one method and the one text; several are refused."""
    if len(methods) != 1 or len(texts) != 1:
        raise InvalidOption(
            f"{option} explains one text with one method, not {len(texts)} with {len(methods)}."
        )
    return methods[0], texts[0]


def rollout_of(model: "Model", text: "Text", target: "Target") -> "list[Attribution]":
    """The rollout to compare with the layers of a method; none if the model has no attention to follow."""
    from headlight.explaining.explain import explain as explain_texts

    try:
        return list(explain_texts(model, [text], "rollout", target))
    except UnsupportedModel:
        return []


@app.command(
    epilog="Examples:\n\n"
    'headlight compare "a charming and often affecting journey" --method attn_lrp --method rollout\n\n'
    'headlight compare "a charming and often affecting journey" --output comparison.svg'
)
def compare(
    text: OneTextArgument,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-a",
            help="A method; the first is compared with the others. Repeatable. Default: the default of "
            f"explain, {', '.join(COMPARED)}.",
        ),
    ] = None,
    target: TargetOption = None,
    contrast: ContrastOption = None,
    words: WordsOption = False,
    output_format: FormatOption = None,
    output: OutputOption = None,
    variant: VariantOption = "paper",
    option: SettingsOption = None,
) -> None:
    """Compare methods on one text.

    Shows a heat map for each method, then where the first gives more (green) or less (orange) than the others.
    """
    check_output(output)
    format_of(output_format, output)
    options = parsed_options(option)
    check_methods(method or [PREFERRED, FALLBACK, *COMPARED], options, variant)
    wanted = parsed_target(target, contrast, False)
    check_models(model)
    check_labels(model, wanted.label, wanted.contrast)
    texts = given_texts(text, pair, None, None, None)
    check_task(model, texts)

    from headlight.explaining.explain import explain as explain_texts
    from headlight.explaining.plan import default_method

    loaded = load_model(model, device, dtype)
    answers = explain_texts(
        loaded,
        texts,
        method or [default_method(loaded)[0], *COMPARED],
        wanted,
        variant=variant,
        **options,
    )
    found = [a.words() if words else a for (a,) in answers.values()]
    show_comparison(found, output_format, output)


@app.command(
    epilog="Example:\n\n"
    'headlight mix "a charming and often affecting journey" --method alti --picture mixing.png'
)
def mix(
    text: OneTextArgument,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    method: Annotated[
        str, typer.Option("--method", "-a", help="rollout, alti, alti_ln2, norms or globenc.")
    ] = "alti",
    layer: Annotated[int, typer.Option(help="The layer, counted from 1; -1 is the last.")] = -1,
    single: Annotated[
        bool, typer.Option("--single", help="Show this layer alone, not the product up to it.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all layers to this JSON file.")
    ] = None,
    picture: PictureOption = None,
    option: SettingsOption = None,
) -> None:
    """Show how much of every input token is in every token after a layer."""
    options = parsed_options(option)
    check_output(output)
    check_picture(picture)
    check_mixing(method, options)
    check_models(model)
    check_layer(model, layer)
    given = with_pair(one_text(text), pair)
    check_task(model, [given])

    from headlight.explaining.mix import mix as mix_tokens
    from headlight.plot import matrix
    from headlight.renderers.matrix import MatrixMap

    found = mix_tokens(load_model(model, device, dtype), given, method, **options)
    Console().print(MatrixMap(found, layer, not single))
    if output is not None:
        found.save(output)
        print(f"wrote {output}", file=sys.stderr)
    if picture is not None:
        draw(matrix(found, layer, accumulated=not single), picture)


@app.command(
    epilog="Example:\n\n"
    'headlight conservation "a charming and often affecting journey" --preset attn_lrp'
)
def conservation(
    text: OneTextArgument,
    pair: PairOption = None,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    target: TargetOption = None,
    preset: Annotated[
        Preset, typer.Option(help="The set of rules for sending relevance.")
    ] = Preset.chefer,
) -> None:
    """Show how much relevance is left at every block boundary; 1 everywhere means that none is lost."""
    check_models(model)
    given = with_pair(one_text(text), pair)
    check_task(model, [given])

    from headlight.explaining.conservation import conservation as left_over

    sums = left_over(
        load_model(model, device, dtype),
        given,
        parsed_target(target, None, False),
        preset=preset.value,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("boundary")
    table.add_column("relevance", justify="right")
    for below, total in zip(reversed(range(len(sums))), sums, strict=True):
        table.add_row(f"output of block {below}" if below else "embeddings", f"{total:.4f}")
    Console().print(table)
