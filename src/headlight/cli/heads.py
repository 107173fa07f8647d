"""Commands about attention heads: `headlight heads …`."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from headlight.cli.checking import (
    check_masks,
    check_models,
    check_output,
    check_parser,
    check_picture,
    check_tensors,
)
from headlight.cli.head_learning import (
    MEASURES,
    SEARCHED,
    By,
    Within,
    bare_texts,
    check_belong,
    counted,
    searched,
    tell_held_out,
    weighed,
    write_counts,
)
from headlight.cli.options import (
    DEFAULT_MODEL,
    DeviceOption,
    DtypeOption,
    ModelOption,
    PictureOption,
    StrictOption,
    draw,
    load_model,
    note,
)
from headlight.loading.placement import DEFAULT_DTYPE

if TYPE_CHECKING:
    from headlight.text import Text

app = typer.Typer(
    help="Attention heads: learn, show and compare the masks that mask_lrp follows; switch heads off.",
    no_args_is_help=True,
)

DataOption = Annotated[
    str,
    typer.Option(
        "--data",
        "-d",
        help="A file of texts (csv, tsv, jsonl, parquet or txt) or of parses (conllu).",
    ),
]
ColumnOption = Annotated[
    str | None, typer.Option("--column", help="The column with the texts in --data.")
]
PairColumnOption = Annotated[
    str | None, typer.Option("--pair-column", help="The column with the second texts in --data.")
]
ParserOption = Annotated[
    str,
    typer.Option(
        "--parser", help="A spaCy pipeline, by name or folder; the default is in headlight-models."
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="Use only the first texts, this many. Default: all."),
]
SyntacticOption = Annotated[
    float,
    typer.Option(
        "--syntactic",
        help="A head is syntactic if it finds a relation this much more often than its most frequent "
        "distance would.",
    ),
]
PositionalOption = Annotated[
    float,
    typer.Option(
        "--positional",
        help="A head is positional if one relative position has more than this share of its strongest "
        "attention.",
    ),
]
CountsArgument = Annotated[
    Path, typer.Argument(help="A statistics file written by `heads learn --statistics`.")
]


KeepOption = Annotated[
    float,
    typer.Option(
        "--keep",
        help="The share of heads that is kept, of those that matter most for the decision.",
    ),
]


@app.command(
    epilog="Examples:\n\n"
    "headlight heads learn --data reviews.csv --column text --limit 2000 --output mask.safetensors\n\n"
    "headlight heads learn --model my-folder --data en_ewt-ud-dev.conllu\n\n"
    "headlight heads learn --by importance --keep 0.5 --data reviews.csv --limit 500\n\n"
    "headlight heads learn --by faithful --data reviews.csv --output mask.safetensors"
)
def learn(
    context: typer.Context,
    data: DataOption,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    column: ColumnOption = None,
    pair_column: PairColumnOption = None,
    strict: StrictOption = False,
    by: Annotated[
        By,
        typer.Option(
            help="Which heads to keep. syntax: syntactic and positional ones. gradient (or importance), "
            "relevance: those that matter for the decision, by their gradient or their share of relevance. "
            "faithful: search for those that make mask_lrp most faithful. Only syntax needs parses; none "
            "needs labels.",
        ),
    ] = By.SYNTAX,
    parser: ParserOption = "headlight",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Use only the first texts, this many. Default: all, or "
            f"{SEARCHED} with --by faithful.",
        ),
    ] = None,
    syntactic: SyntacticOption = 0.1,
    positional: PositionalOption = 0.8,
    keep: KeepOption = 0.25,
    within: Annotated[
        Within, typer.Option(help="Compare all heads, or those of each layer apart.")
    ] = Within.NETWORK,
    steps: Annotated[
        int, typer.Option(min=1, help="With --by faithful: how many times the mask is changed.")
    ] = 4,
    draws: Annotated[
        int, typer.Option(min=1, help="With --by faithful: random masks tried in every step.")
    ] = 16,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the mask to this file.")
    ] = None,
    statistics: Annotated[
        Path | None,
        typer.Option(
            help="Also write the counts, or the importance, to this file, to select other heads later."
        ),
    ] = None,
    picture: PictureOption = None,
) -> None:
    """Learn a head mask: which attention heads mask_lrp follows.

    By default it counts what every head does on a corpus, and keeps syntactic and positional heads.
    """
    check_belong(context, by)
    for written in (output, statistics):
        check_output(written)
    check_picture(picture)
    check_models(model)
    texts = corpus(data, column, pair_column, strict=strict)
    if by is By.SYNTAX:
        check_parser(parser, data)

    from headlight.plot import head_map
    from headlight.renderers.heads import HeadMap

    loaded, name = load_model(model, device, dtype), Path(data).name
    if by is By.SYNTAX:
        counts = counted(loaded, texts, parser, limit, name)
        write_counts(counts, statistics)
        mask = counts.mask(syntactic=syntactic, positional=positional)
    elif by is By.FAITHFUL:
        mask = searched(loaded, bare_texts(texts, limit or SEARCHED), steps, draws, name)
    else:
        measured = weighed(loaded, bare_texts(texts, limit), MEASURES[by], name)
        write_counts(measured, statistics)
        mask = measured.mask(keep=keep, within=within.value)
    if output is not None:
        mask.save(output)
        print(f"wrote {output}", file=sys.stderr)
    Console().print(HeadMap(mask))
    tell_held_out(mask)
    if picture is not None:
        draw(head_map(mask), picture)


@app.command(
    "show",
    epilog="Examples:\n\nheadlight heads show sentiment\n\n"
    "headlight heads show counts.safetensors --syntactic 0.2 --picture map.png",
)
def show_heads(
    source: Annotated[
        str,
        typer.Argument(
            help="An embedded model, or a file of a mask, of statistics or of importance."
        ),
    ] = DEFAULT_MODEL,
    syntactic: SyntacticOption = 0.1,
    positional: PositionalOption = 0.8,
    keep: KeepOption = 0.25,
    picture: PictureOption = None,
) -> None:
    """Show a head mask, what its heads do, and what it was learned from.

    From a statistics file, the mask is made with --syntactic and --positional first; from a file of
    importance, with --keep.
    """
    check_picture(picture)
    check_masks(source)

    from headlight.heads import find_mask
    from headlight.plot import head_map
    from headlight.renderers.heads import HeadMap

    mask = find_mask(source, syntactic=syntactic, positional=positional, keep=keep)
    console = Console(markup=False, emoji=False)
    console.print(HeadMap(mask))
    for name in ("model", "corpus", "parser", "by", "texts", "tokens"):
        if name in mask.facts:
            console.print(f"{name}: {mask.facts[name]}", highlight=False)
    tell_held_out(mask)
    if picture is not None:
        draw(head_map(mask), picture)


@app.command(
    epilog="Example:\n\nheadlight heads relations counts.safetensors --picture relations.svg"
)
def relations(statistics: CountsArgument, picture: PictureOption = None) -> None:
    """Show the distances of grammatical relations in a corpus, and which attention head follows each best."""
    check_picture(picture)
    check_tensors(statistics)

    from headlight.heads import HeadStatistics
    from headlight.heads.statistics import FARTHEST
    from headlight.plot import relative_positions
    from headlight.renderers.heads import NEAR, bars

    counts = HeadStatistics.load(statistics)
    rows = []
    for relation, pairs in zip(counts.relations, counts.pairs.tolist(), strict=True):
        shares = counts.distance_shares(relation)
        peak = int(shares.argmax()) - FARTHEST
        best = counts.frequency(relation)
        place = divmod(int(best.argmax()), best.shape[1])
        near = shares[FARTHEST - NEAR : FARTHEST + NEAR + 1].tolist()
        usual = f"{float(shares.max()):.2f} at {peak:+d}"
        follows = f"{float(best.max()):.2f} by {place[0] + 1}.{place[1] + 1}"
        rows.append((relation, str(pairs), bars(near), usual, follows))
    headings = (f"−{NEAR} … +{NEAR} words", "most frequent", "best head")
    show(("relation", "pairs", *headings), rows)
    if picture is not None:
        draw(relative_positions(counts), picture)


@app.command(epilog="Example:\n\nheadlight heads sweep counts.safetensors")
def sweep(statistics: CountsArgument, picture: PictureOption = None) -> None:
    """Show how many heads other thresholds would keep; the corpus is not read again."""
    check_picture(picture)
    check_tensors(statistics)

    from headlight.heads import HeadStatistics, threshold_sweep
    from headlight.plot import thresholds

    found = threshold_sweep(HeadStatistics.load(statistics))
    rows = []
    for each in found:
        sizes = [str(int(each.mask.parts[name].sum())) for name in ("syntactic", "positional")]
        rows.append((f"{each.syntactic:g}", f"{each.positional:g}", *sizes, f"{each.overlap:.2f}"))
    overlap = "overlap with 0.1, 0.8"
    show(("syntactic >", "positional >", "syntactic", "positional", overlap), rows)
    if picture is not None:
        draw(thresholds(found), picture)


@app.command(
    epilog="Example:\n\n"
    "headlight heads compare sentiment reviews-mask.safetensors news-counts.safetensors"
)
def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Two or more embedded models, or files of masks, statistics or importance."
        ),
    ],
    syntactic: SyntacticOption = 0.1,
    positional: PositionalOption = 0.8,
    picture: PictureOption = None,
) -> None:
    """Show how far head masks agree (Jaccard overlap), such as masks learned on different corpora."""
    check_picture(picture)
    check_masks(*sources)

    from headlight.heads import find_mask, mask_agreement
    from headlight.plot import agreement

    found = mask_agreement(
        {each: find_mask(each, syntactic=syntactic, positional=positional) for each in sources}
    )
    parts = ("syntactic", "positional")
    rows = [
        (
            each.first,
            each.second,
            *(f"{each.parts[part]:.2f}" if part in each.parts else "" for part in parts),
            f"{each.overlap:.2f}",
        )
        for each in found
    ]
    show(("mask", "and mask", *parts, "all heads"), rows)
    if picture is not None:
        draw(agreement(found), picture)


@app.command(
    epilog="Example:\n\nheadlight heads sizes --data reviews.csv --column text --limit 2000"
)
def sizes(
    data: DataOption,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    column: ColumnOption = None,
    pair_column: PairColumnOption = None,
    strict: StrictOption = False,
    parser: ParserOption = "headlight",
    limit: LimitOption = None,
    parts: Annotated[
        int, typer.Option(min=2, help="How many parts the corpus is divided into.")
    ] = 32,
    draws: Annotated[int, typer.Option(min=1, help="How many random samples per size.")] = 10,
    picture: PictureOption = None,
) -> None:
    """Show how many texts a head mask needs, by comparing masks of growing samples."""
    check_picture(picture)
    check_models(model)
    texts = corpus(data, column, pair_column, strict=strict)
    check_parser(parser, data)

    from headlight.heads import sample_sizes
    from headlight.plot import sample_sizes as sizes_picture

    found = sample_sizes(
        load_model(model, device, dtype),
        texts,
        parser=parser,
        limit=limit,
        parts=parts,
        draws=draws,
        progress=True,
    )
    rows = [
        (str(each.texts), f"{median(each.heads):g}", spread(each.whole), spread(each.apart))
        for each in found
    ]
    show(("texts", "heads", "overlap with all texts", "with as many other texts"), rows)
    if picture is not None:
        draw(sizes_picture(found), picture)


def spread(values: Sequence[float]) -> str:
    """The median and the range."""
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})" if values else ""


def corpus(
    data: str, column: str | None, pair_column: str | None, *, strict: bool
) -> "str | list[Text]":
    """The texts in a file, or the path of a file of parses."""
    from headlight.files import existing, read_texts

    if data.endswith(".conllu"):
        existing(Path(data))
        return data
    return read_texts(data, column, pair_column, strict=strict, tell=note)


def show(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of figures."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
