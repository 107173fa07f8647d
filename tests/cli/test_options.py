"""Options of methods, as text."""

import json

from tests.cli.commands import run


def test_options_of_methods_are_read() -> None:
    text = "a charming film"
    whole = run("explain", text, "-a", "mask_lrp", "-f", "json")
    part = run(
        "explain",
        text,
        "-a",
        "mask_lrp",
        "-O",
        "mask=positional",
        "-O",
        "first_layer=2",
        "-f",
        "json",
    )
    assert json.loads(whole)["options"]["mask"] != json.loads(part)["options"]["mask"]
    assert json.loads(part)["options"]["first_layer"] == 2
