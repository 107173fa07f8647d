"""What `headlight heads learn` does for each choice of --by."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headlight.cli.options import note
from headlight.errors import InvalidOption

if TYPE_CHECKING:
    from headlight.headmask import HeadMask
    from headlight.heads import HeadImportance, HeadStatistics
    from headlight.models.model import Model
    from headlight.text import Text


class Within(StrEnum):
    """Among which heads the most important ones are sought."""

    NETWORK = "network"
    LAYER = "layer"


class By(StrEnum):
    """What heads are chosen by."""

    SYNTAX = "syntax"
    IMPORTANCE = "importance"
    GRADIENT = "gradient"
    RELEVANCE = "relevance"
    FAITHFUL = "faithful"


MEASURES = {By.IMPORTANCE: "gradient", By.GRADIENT: "gradient", By.RELEVANCE: "relevance"}
"""The measure of importance that each choice asks for."""
OPTIONS_OF = {
    By.SYNTAX: {"parser", "syntactic", "positional", "statistics"},
    **{by: {"keep", "within", "statistics"} for by in MEASURES},
    By.FAITHFUL: {"steps", "draws"},
}
"""The options that mean something for each choice, of those that not all have."""
SEARCHED = 400
"""Texts that a search reads if --limit does not say how many; each is explained about a hundred times."""


def check_belong(context: typer.Context, by: By) -> None:
    """Refuse an option that means nothing for what heads are chosen by."""
    for name in sorted(set().union(*OPTIONS_OF.values()) - OPTIONS_OF[by]):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            others = [each.value for each, known in OPTIONS_OF.items() if name in known]
            raise InvalidOption(
                f"--{name} means nothing with --by {by.value}. Leave it out, or use --by "
                f"{' or '.join(others)}."
            )


def counted(
    model: "Model", texts: "str | list[Text]", parser: str, limit: int | None, name: str
) -> "HeadStatistics":
    """What every head does on a corpus."""
    from headlight.heads import learn as learn_heads

    return learn_heads(model, texts, parser=parser, limit=limit, name=name, progress=True)


def weighed(model: "Model", texts: "list[Text]", by: str, name: str) -> "HeadImportance":
    """How much every head matters for the decisions on texts."""
    from headlight.heads import importance

    return importance(model, texts, by=by, name=name, progress=True)


def searched(model: "Model", texts: "list[Text]", steps: int, draws: int, name: str) -> "HeadMask":
    """The heads whose mask is most faithful, after a note on what the search costs."""
    from headlight.heads import Search, select

    search = Search(steps, draws)
    note(
        f"searching on {len(texts):,} texts takes up to {search.explanations(len(texts)):,} explanations, each "
        "measured on up to ten shortened texts. --limit, --steps and --draws make it shorter."
    )
    return select(model, texts, search=search, name=name, progress=True)


def bare_texts(texts: "str | list[Text]", limit: int | None) -> "list[Text]":
    """The first texts, also those of a file of parses."""
    from headlight.files.conllu import read_conllu

    found = [p.text for p in read_conllu(Path(texts))] if isinstance(texts, str) else texts
    return list(found[:limit])


def write_counts(found: "HeadStatistics | HeadImportance", path: Path | None) -> None:
    """Write what masks are selected from, if a file was asked for."""
    if path is not None:
        found.save(path)
        print(f"wrote {path}", file=sys.stderr)


def tell_held_out(mask: "HeadMask") -> None:
    """Print what a mask is worth on texts that it was not chosen on, if it was searched for."""
    found = mask.facts.get("held_out")
    if found is not None:
        print(
            f"AOPC of mask_lrp on {found['texts']} other texts: {found['aopc']:.3f}, without a mask "
            f"{found['no_mask']:.3f}; gain {found['gain']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f}, "
            f"p = {found['p_value']:.2g})"
        )
