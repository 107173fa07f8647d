"""The command line: parse, call one library function, print. Torch is loaded only when it is needed."""

import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from headlight.errors import HeadlightError, InvalidOption

if TYPE_CHECKING:
    from headlight.attribution import Attribution
    from headlight.batch import Text
    from headlight.models.model import Model
    from headlight.target import Target

DEFAULT_MODEL = "sentiment"

app = typer.Typer(
    help="Why a Transformer decided what it decided: which tokens, and how far to trust the answer.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How attributions are written."""

    terminal = "terminal"
    html = "html"
    json = "json"
    latex = "latex"


SUFFIXES = {".html": Format.html, ".json": Format.json, ".jsonl": Format.json, ".tex": Format.latex}

TextArgument = Annotated[
    str | None, typer.Argument(help="The text to explain; - reads texts from standard input.")
]
PairOption = Annotated[
    str | None,
    typer.Option("--pair", "-p", help="The second text of a pair, or the context of a question."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="An embedded model, a folder, or a hub name (see: headlight models).",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="A label by name or index, or a vocabulary token; default: what the model predicts.",
    ),
]
ContrastOption = Annotated[
    str | None, typer.Option("--contrast", help="Why the target rather than this label or token.")
]
WordsOption = Annotated[bool, typer.Option("--words", "-w", help="Whole words instead of tokens.")]
VariantOption = Annotated[
    str,
    typer.Option("--variant", help="'paper', or 'released' for what the authors' code computes."),
]

SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        help="An option of the methods as NAME=VALUE, such as start_layer=2 or mask=auto; repeat for several.",
    ),
]


@app.command(
    epilog="Examples:\n\n"
    'headlight explain "a charming and often affecting journey" --method attcat --words\n\n'
    'headlight explain "Who wrote it?" --pair "It was written by Mary Shelley." --model my-qa-folder\n\n'
    "headlight explain --input reviews.csv --column text --output reviews.jsonl\n\n"
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
    output_format: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="Default: by the suffix of --output, else terminal."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of the terminal."),
    ] = None,
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
    option: SettingsOption = None,
) -> None:
    """Explain one text, a pair of texts, or a file of them."""
    from headlight.explanation import explain as explain_texts
    from headlight.explanation import explain_generation

    texts = given_texts(text, pair, source, column, pair_column)
    loaded = load_model(model)
    if generate is not None:
        if not isinstance(text, str) or len(method) != 1 or output is not None:
            raise InvalidOption("--generate explains one text with one method, to the terminal.")
        Console().print(
            explain_generation(
                loaded,
                text,
                method[0],
                max_new_tokens=generate,
                variant=variant,
                **parsed_options(option),
            )
        )
        return
    answers = explain_texts(
        loaded,
        texts,
        method,
        parsed_target(target, contrast, probability),
        variant=variant,
        batch_size=batch_size,
        stride=stride,
        progress=len(texts) > 1 and sys.stderr.isatty(),
        **parsed_options(option),
    )
    in_order = [a for row in zip(*answers.values(), strict=True) for a in row]
    show([a.words() for a in in_order] if words else in_order, output_format, output)


@app.command(
    epilog="Example:\n\n"
    'headlight compare "a charming and often affecting journey" --method attcat --method rollout'
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
    variant: VariantOption = "paper",
    option: SettingsOption = None,
) -> None:
    """Show methods side by side, then where the first gives more (green) or less (red) than the others."""
    from headlight.explanation import explain as explain_texts
    from headlight.renderers.terminal import comparison, differences

    answers = explain_texts(
        load_model(model),
        given_texts(text, pair, None, None, None),
        method,
        parsed_target(target, contrast, False),
        variant=variant,
        **parsed_options(option),
    )
    found = [a.words() if words else a for (a,) in answers.values()]
    console = Console()
    console.print(comparison(found))
    if len(found) > 1:
        console.print(differences(found[0], found[1:]))


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="Show everything about one method.")] = None,
) -> None:
    """List the methods, or tell all about one."""
    from headlight.methods import METHODS

    console = Console()
    if name is not None:
        entry = METHODS[name]
        console.print(f"[bold]{entry.name}[/]  {entry.paper}", highlight=False)
        console.print((entry.function.__doc__ or "").strip(), markup=False, highlight=False)
        if entry.difference:
            console.print(
                f"\nvariant='released': {entry.difference}", markup=False, highlight=False
            )
        console.print(f"\noptions: {', '.join(['variant', *entry.options])}", highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("method", "signed", "released differs", "what it is"):
        table.add_column(heading, no_wrap=heading == "method")
    for known in METHODS:
        entry = METHODS[known]
        marks = ("yes" if entry.signed else "", "yes" if entry.released else "")
        table.add_row(entry.name, *marks, entry.summary)
    console.print(table)


@app.command()
def models() -> None:
    """List the embedded models, the families that are known, and the models in the local hub cache."""
    from headlight.loading import cached_models
    from headlight.models.architectures import ARCHITECTURES
    from headlight.models.bases import whereabouts
    from headlight.models.catalogue import CATALOGUE

    table = Table(box=None, pad_edge=False)
    for heading in ("embedded", "decides", "labels", "measured"):
        table.add_column(heading)
    for entry in CATALOGUE.values():
        measured = f"{entry.measure} {entry.score}" if entry.rows else entry.also
        table.add_row(entry.name, entry.decides, ", ".join(entry.labels), measured)
    console = Console()
    console.print(table)
    for base in dict.fromkeys(entry.base for entry in CATALOGUE.values()):
        users = ", ".join(entry.name for entry in CATALOGUE.values() if entry.base is base)
        console.print(f"\n[bold]{base.name}[/], for {users}: {whereabouts(base)}", highlight=False)
    console.print(f"\n[bold]families:[/] {', '.join(sorted(ARCHITECTURES))}", highlight=False)
    cached = ", ".join(cached_models()) or "none"
    console.print(f"[bold]in the local hub cache:[/] {cached}", highlight=False)
    console.print(
        "--model takes a name from here, a folder saved by save_pretrained, or a hub name."
    )


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


heads = typer.Typer(
    help="Learn and show which attention heads relevance may enter.", no_args_is_help=True
)
app.add_typer(heads, name="heads")


@heads.command(
    epilog="Examples:\n\n"
    "headlight heads learn --data reviews.csv --column text --limit 2000 --output mask.safetensors\n\n"
    "headlight heads learn --model my-folder --data en_ewt-ud-dev.conllu"
)
def learn(
    data: Annotated[
        str,
        typer.Option(
            "--data", "-d", help="Texts (csv, tsv, jsonl, parquet, txt) or CoNLL-U parses."
        ),
    ],
    model: ModelOption = DEFAULT_MODEL,
    column: Annotated[str | None, typer.Option(help="The column of the texts in --data.")] = None,
    parser: Annotated[
        str, typer.Option(help="A spaCy pipeline, by name or folder; the default comes with us.")
    ] = "headlight",
    limit: Annotated[int | None, typer.Option(help="Read this many texts.")] = None,
    syntactic: Annotated[
        float, typer.Option(help="How far above the corpus's own regularity a head must be.")
    ] = 0.1,
    positional: Annotated[
        float,
        typer.Option(help="The share of one relative position from which a head is positional."),
    ] = 0.8,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the mask to this file.")
    ] = None,
    statistics: Annotated[
        Path | None,
        typer.Option(help="Write the counts too, to select with other thresholds later."),
    ] = None,
) -> None:
    """Count what every head does on a corpus, select heads, and show them."""
    from headlight.files import read_texts
    from headlight.heads import learn as learn_heads
    from headlight.renderers.heads import HeadMap

    is_parsed = data.endswith(".conllu")
    texts = (
        data if is_parsed else [text for text in read_texts(data, column) if isinstance(text, str)]
    )
    found = learn_heads(
        load_model(model),
        texts,
        parser=parser,
        limit=limit,
        name=Path(data).name,
        progress=sys.stderr.isatty(),
    )
    if statistics is not None:
        found.save(statistics)
        print(f"wrote {statistics}", file=sys.stderr)
    mask = found.mask(syntactic=syntactic, positional=positional)
    if output is not None:
        mask.save(output)
        print(f"wrote {output}", file=sys.stderr)
    Console().print(HeadMap(mask))


@heads.command("show")
def show_heads(
    source: Annotated[
        str, typer.Argument(help="An embedded model, a mask file, or a statistics file.")
    ] = DEFAULT_MODEL,
    syntactic: Annotated[
        float, typer.Option(help="For statistics: the syntactic threshold.")
    ] = 0.1,
    positional: Annotated[
        float, typer.Option(help="For statistics: the positional threshold.")
    ] = 0.8,
) -> None:
    """Show a mask, and what it was learned from; statistics are selected from first."""
    from headlight.errors import InvalidInput
    from headlight.headmask import HeadMask
    from headlight.heads import HeadStatistics
    from headlight.heads.masks import MASKS
    from headlight.renderers.heads import HeadMap

    own = MASKS / f"{source}.safetensors"
    try:
        mask = HeadMask.load(own if own.exists() else source)
    except InvalidInput:
        mask = HeadStatistics.load(source).mask(syntactic=syntactic, positional=positional)
    console = Console()
    console.print(HeadMap(mask))
    for name in ("model", "corpus", "parser", "texts", "tokens"):
        if name in mask.facts:
            console.print(f"{name}: {mask.facts[name]}", highlight=False)


@heads.command()
def sweep(
    statistics: Annotated[
        Path, typer.Argument(help="Counts written by: heads learn --statistics.")
    ],
) -> None:
    """Show how many heads other thresholds would select; no pass over the corpus is needed."""
    from headlight.heads import HeadStatistics, threshold_sweep

    table = Table(box=None, pad_edge=False)
    for heading in (
        "syntactic >",
        "positional >",
        "syntactic",
        "positional",
        "overlap with 0.1, 0.8",
    ):
        table.add_column(heading, justify="right")
    for each in threshold_sweep(HeadStatistics.load(statistics)):
        sizes = [str(int(each.mask.parts[name].sum())) for name in ("syntactic", "positional")]
        table.add_row(f"{each.syntactic:g}", f"{each.positional:g}", *sizes, f"{each.overlap:.2f}")
    Console().print(table)


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True)
    ] = False,
) -> None:
    """Why a Transformer decided what it decided: which tokens, and how far to trust the answer."""
    if show_version:
        from headlight import __version__

        print(__version__)
        raise typer.Exit


def given_texts(
    text: str | None,
    pair: str | None,
    source: str | None,
    column: str | None,
    pair_column: str | None,
) -> "list[Text]":
    """The texts of the command line or of a file."""
    from headlight.files import read_texts

    if text == "-" and source is None:
        text, source = None, "-"
    if (text is None) == (source is None):
        raise InvalidOption(
            "give a text to explain, or --input with a file of texts: one of the two."
        )
    if text is not None:
        return [(text, pair) if pair else text]
    return read_texts(str(source), column, pair_column)


def parsed_target(target: str | None, contrast: str | None, probability: bool) -> "Target":
    """A target from command-line words; digits are an index."""
    from headlight.target import Target

    label, other = (int(t) if t is not None and t.isdigit() else t for t in (target, contrast))
    return Target(label=label, contrast=other, output="probability" if probability else "logit")


def parsed_options(given: list[str] | None) -> dict[str, Any]:
    """Options of methods from NAME=VALUE; numbers and true or false become what they say."""
    found: dict[str, Any] = {}
    for each in given or []:
        name, sign, value = each.partition("=")
        if not sign:
            raise InvalidOption(f"--option {each} is not understood. Write NAME=VALUE.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def load_model(name: str) -> "Model":
    """The model, without the chatter of its libraries."""
    from transformers.utils import logging

    from headlight.loading import load

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return load(name)


def show(attributions: "list[Attribution]", chosen: Format | None, output: Path | None) -> None:
    """Print attributions, or write them to a file, whole or not at all."""
    from headlight.attribution import write_whole
    from headlight.renderers import RENDERERS
    from headlight.renderers.terminal import comparison

    kind = chosen or (SUFFIXES.get(output.suffix.lower()) if output else None) or Format.terminal
    if output is not None:
        write_whole(output, RENDERERS[kind].function(attributions))
        print(f"wrote {output}", file=sys.stderr)
    elif kind is Format.terminal:
        Console().print(comparison(attributions))
    else:
        sys.stdout.write(RENDERERS[kind].function(attributions))


def main(run: Callable[..., Any] = app) -> None:
    """Run the command line; a user's mistake is one sentence and exit code 1."""
    try:
        run()
        sys.stdout.flush()
    except HeadlightError as error:
        Console(stderr=True).print(
            f"[bold red]error:[/] {type(error).__name__}:", str(error), markup=True, highlight=False
        )
        raise SystemExit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
