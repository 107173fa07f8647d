"""`serve`: the web page."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from headlight.cli.checking import check_models, check_run
from headlight.errors import missing_extra

app = typer.Typer()

LEFT_OUT = "decoder"
"""An embedded model that helps others; served only if asked for."""


@app.command(
    epilog="Examples:\n\n"
    "headlight serve\n\n"
    "headlight serve --model sentiment --model ./my-model --run runs/sst2 --port 8080\n\n"
    "HEADLIGHT_TOKEN=… headlight serve --host 0.0.0.0"
)
def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="A model; repeat for several. Default: the embedded ones that are here.",
        ),
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="The folder of an evaluation run, for the results page."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; other machines need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any free one.")] = 8000,
    characters: Annotated[int, typer.Option(help="Longest text.", min=1)] = 20_000,
    seconds: Annotated[float, typer.Option(help="Longest time for an answer.", min=0.1)] = 60.0,
    waiting: Annotated[int, typer.Option(help="Most requests in the queue.", min=1)] = 64,
) -> None:
    """Open a web page that explains texts as you type, and shows evaluation runs.

    The token for other addresses is taken from HEADLIGHT_TOKEN, or made up and printed.
    """
    for folder in run or []:
        check_run(folder)
    check_models(*(model or []))
    try:
        from headlight.web.address import Address, listening

        address = Address(host, port, os.environ.get("HEADLIGHT_TOKEN") or None)
        listening(address).close()

        from headlight.web.limits import Limits
        from headlight.web.server import serve as serve_page
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "web", "headlight serve") from error
    from headlight.cli.options import DEFAULT_MODEL, quiet_libraries
    from headlight.loading.catalogue import CATALOGUE, is_here

    quiet_libraries()
    present = [name for name, entry in CATALOGUE.items() if name != LEFT_OUT and is_here(entry)]
    serve_page(
        model or present or [DEFAULT_MODEL],
        run or [],
        address,
        Limits(characters=characters, seconds=seconds, waiting=waiting),
        lambda line: print(line, file=sys.stderr, flush=True),
    )
