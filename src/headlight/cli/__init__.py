"""The command line: parse, call one library function, print. Torch is loaded only when it is needed."""

import os
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from headlight.cli import evaluating, explaining, heads, listing, serving
from headlight.errors import HeadlightError

app = typer.Typer(
    help="Why a Transformer decided what it decided: which tokens, and how far to trust the answer.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(explaining.app)
app.add_typer(evaluating.app)
app.add_typer(serving.app)
app.add_typer(listing.app)
app.add_typer(heads.app, name="heads")


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


def main(run: Callable[..., Any] = app) -> None:
    """Run the command line; a user's mistake is one sentence and exit code 1."""
    try:
        run()
        sys.stdout.flush()
    except HeadlightError as error:
        said = Text.assemble(("error:", "bold red"), f" {type(error).__name__}: {error}")
        Console(stderr=True).print(said)
        raise SystemExit(1) from None
    except SystemExit as ended:
        if ended.code == 2 and (text := dashed_text(sys.argv[1:])) is not None:
            print(
                f'A text that begins with a dash comes last, after --: -- "{text}"', file=sys.stderr
            )
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None


def dashed_text(arguments: list[str]) -> str | None:
    """What was read as an option but looks like a text: a dash with a digit, or with spaces."""
    return next((each for each in arguments if re.match(r"-\d|-[^=]*\s", each)), None)
