"""Commands as they are typed, in this process or in a shell."""

import os
import subprocess

from typer.testing import CliRunner

from headlight.cli import app

TEXT = "a charming and often affecting journey"


def run(*arguments: str, text: str | None = None) -> str:
    """Standard output of a command that must succeed."""
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == 0, result.output or result.exception
    return result.stdout


MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<"}


def in_shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning", **environment},
        check=False,
    )
