"""Runs the command line: `python -m headlight`."""

from headlight.cli import main

main()
