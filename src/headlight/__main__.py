"""Python -m headlight."""

from headlight.cli import main

main()
