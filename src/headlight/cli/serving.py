"""`serve`: the web page."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from headlight.cli.checking import check_models, check_run
from headlight.cli.options import DEFAULT_MODEL, DeviceOption, DtypeOption, quiet_libraries
from headlight.errors import missing_extra
from headlight.loading.placement import DEFAULT_DTYPE

app = typer.Typer()

LEFT_OUT = "decoder"
"""An embedded model that serves other models; it has no page unless --model names it."""


@app.command(
    epilog="Examples:\n\n"
    "headlight serve\n\n"
    "headlight serve --model sentiment --model ./my-model --run runs/sst2 --port 8080\n\n"
    "headlight serve --model ./my-model --device cuda --dtype bfloat16\n\n"
    "HEADLIGHT_TOKEN=… headlight serve --host 0.0.0.0"
)
def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="A model to serve. Repeatable. Default: the embedded models that are installed.",
        ),
    ] = None,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="The folder of an evaluation run to show. Repeatable."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; other than this machine needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any free port.")] = 8000,
    characters: Annotated[
        int, typer.Option(help="The longest text to accept, in characters.", min=1)
    ] = 20_000,
    seconds: Annotated[
        float, typer.Option(help="The longest time per answer, in seconds.", min=0.1)
    ] = 60.0,
    waiting: Annotated[
        int, typer.Option(help="The longest queue of requests; more are refused.", min=1)
    ] = 64,
) -> None:
    """Serve a web page that explains texts as you type, and shows evaluation runs.

    The token for --host is read from HEADLIGHT_TOKEN, or generated and printed.
    """
    for folder in run or []:
        check_run(folder)
    check_models(*(model or []))
    try:
        from headlight.web.address import Address, listening

        address = Address(host, port, os.environ.get("HEADLIGHT_TOKEN") or None)
        listening(address).close()

        from headlight.web.limits import Limits
        from headlight.web.loaded_models import LoadedModels
        from headlight.web.server import serve as serve_page
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "web", "headlight serve") from error
    from headlight.loading.catalogue import CATALOGUE, is_here

    quiet_libraries()
    present = [name for name, entry in CATALOGUE.items() if name != LEFT_OUT and is_here(entry)]
    names = dict.fromkeys(model or present or [DEFAULT_MODEL])
    serve_page(
        LoadedModels(tuple(names), device, dtype),
        run or [],
        address,
        Limits(characters=characters, seconds=seconds, waiting=waiting),
        lambda line: print(line, file=sys.stderr, flush=True),
    )
