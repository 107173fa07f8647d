"""The command line: parse, call one library function, print. Torch is imported only when a command needs it."""

import os
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from headlight.cli import answering, evaluating, explaining, heads, heads_off, listing, serving
from headlight.errors import HeadlightError

app = typer.Typer(
    help="Explain the decisions of Hugging Face Transformers, and measure how far to trust the explanations.",
    epilog='Example:\n\nheadlight explain "a charming and often affecting journey" --words',
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(explaining.app)
app.add_typer(answering.app)
app.add_typer(evaluating.app)
app.add_typer(serving.app)
app.add_typer(listing.app)
heads.app.add_typer(heads_off.app)
app.add_typer(heads.app, name="heads")


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Explain the decisions of Hugging Face Transformers, and measure how far to trust the explanations."""
    if show_version:
        from headlight import __version__

        print(__version__)
        raise typer.Exit


def main(run: Callable[..., Any] = app) -> None:
    """Run the command line; a user's mistake gives one sentence and exit code 1."""
    try:
        run()
        sys.stdout.flush()
    except HeadlightError as error:
        message = Text.assemble(("error:", "bold red"), f" {type(error).__name__}: {error}")
        Console(stderr=True).print(message)
        raise SystemExit(1) from None
    except SystemExit as ended:
        if ended.code == 2 and (text := dashed_text(sys.argv[1:])) is not None:
            print(
                f'Put a text that begins with a dash last, after --: -- "{text}"', file=sys.stderr
            )
        raise
    except BrokenPipeError:
        # A reader such as `head` has closed the pipe; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None


def dashed_text(arguments: list[str]) -> str | None:
    """The argument that starts with a dash but looks like a text: it has a digit next, or spaces."""
    return next((argument for argument in arguments if re.match(r"-\d|-[^=]*\s", argument)), None)
