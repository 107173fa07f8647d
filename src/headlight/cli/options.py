"""Arguments that several commands share, and how they are read."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headlight.errors import InvalidInput, InvalidOption
from headlight.files import is_file, read_texts
from headlight.loading.placement import DEFAULT_DTYPE, DTYPES, check_device_name, check_dtype_name
from headlight.registry.entries import parse_option
from headlight.text import check_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headlight.models.model import Model
    from headlight.target import Target
    from headlight.text import Text

DEFAULT_MODEL = "sentiment"

TextArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT", help="The text to explain, in quotes; - reads texts from standard input."
    ),
]
OneTextArgument = Annotated[list[str], typer.Argument(metavar="TEXT", help="The text, in quotes.")]
PairOption = Annotated[
    str | None,
    typer.Option("--pair", "-p", help="The second text of a pair, or the context of a question."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="An embedded model, a folder, or a hub name; `headlight models` lists them.",
    ),
]


def checked_device(name: str | None) -> str | None:
    """The name of a device, as it was given."""
    check_device_name(name)
    return name


def checked_dtype(name: str) -> str:
    """The name of a type, as it was given."""
    check_dtype_name(name)
    return name


DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",
        callback=checked_device,
        help="Where to run the model, such as cuda, cuda:1 or mps. Default: the CPU.",
    ),
]
DtypeOption = Annotated[
    str,
    typer.Option(
        "--dtype",
        callback=checked_dtype,
        help=f"The type of the weights: {', '.join(DTYPES)}. bfloat16 takes half the memory of float32; auto "
        "is the type in which they were saved.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="The label (by name or index) or token to explain. Default: the model's prediction.",
    ),
]
ContrastOption = Annotated[
    str | None,
    typer.Option("--contrast", help="Explain why the target rather than this label or token."),
]
WordsOption = Annotated[
    bool, typer.Option("--words", "-w", help="Show whole words instead of tokens.")
]
VariantOption = Annotated[
    str,
    typer.Option(
        "--variant",
        help="'paper' follows the paper, 'released' the code that its authors released. A name may say it "
        "for itself: mask_lrp:variant=released.",
    ),
]

StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", help="Stop at a row without a text instead of skipping it with a note."
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        help="An option of the methods, as NAME=VALUE, such as first_layer=3 or mask=auto. Repeatable.",
    ),
]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", help="Also draw it to this .png, .svg or .pdf file."),
]


def one_text(words: list[str]) -> str:
    """The one text of a command line; a text without quotes arrives as several words."""
    if len(words) > 1:
        raise InvalidOption(
            f"{len(words)} texts were given. Put a text of several words in quotes: "
            f'"{" ".join(words)}".'
        )
    if is_file(Path(words[0])) and Path(words[0]).suffix:
        raise InvalidInput(
            f"'{words[0]}' is a file. To explain the texts in it: headlight explain --input {words[0]}."
        )
    return words[0]


def with_pair(text: str, pair: str | None) -> "Text":
    """A text, or a pair of texts."""
    explained = text if pair is None else (text, pair)
    check_text(explained, 0)
    return explained


def given_texts(
    words: list[str] | None,
    pair: str | None,
    source: str | None,
    column: str | None,
    pair_column: str | None,
    *,
    strict: bool = False,
) -> "list[Text]":
    """The texts given on the command line or in a file."""
    if words == ["-"] and source is None:
        words, source = None, "-"
    if not words and source is None:
        raise InvalidOption(
            "there is nothing to explain. Give a text in quotes, or --input with a file of texts."
        )
    if words and source is not None:
        raise InvalidOption("a text and --input were both given. Give one of the two.")
    if words:
        if column or pair_column:
            raise InvalidOption("--column and --pair-column are for --input. Leave them out.")
        return [with_pair(one_text(words), pair)]
    if pair is not None:
        raise InvalidOption("--pair is for one text. For the pairs of a file use --pair-column.")
    return read_texts(str(source), column, pair_column, strict=strict, tell=note)


def note(said: str) -> None:
    """Print a note, which is not an error, to standard error."""
    print(f"note: {said}", file=sys.stderr)


def parsed_target(target: str | None, contrast: str | None, probability: bool) -> "Target":
    """A target from command-line arguments; digits are an index."""
    from headlight.target import Target

    label, other = (int(t) if t is not None and t.isdigit() else t for t in (target, contrast))
    return Target(label=label, contrast=other, output="probability" if probability else "logit")


def parsed_options(given: list[str] | None) -> dict[str, Any]:
    """Options of methods from NAME=VALUE; numbers, true and false are converted."""
    options: dict[str, Any] = {}
    for argument in given or []:
        parsed = parse_option(argument)
        if parsed is None:
            raise InvalidOption(f"--option {argument} is not understood. Write NAME=VALUE.")
        if parsed[0] in options:
            raise InvalidOption(f"--option {parsed[0]} is given twice. Give it once.")
        options.update([parsed])
    return options


def load_model(name: str, device: str | None = None, dtype: str = DEFAULT_DTYPE) -> "Model":
    """Load a model, without messages from its libraries."""
    from headlight.loading.load import load

    quiet_libraries()
    return load(name, device=device, dtype=dtype)


def quiet_libraries() -> None:
    """Turn off the progress bars and warnings of transformers."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def draw(figure: "Figure", path: Path, kind: str | None = None) -> None:
    """Write a figure and say so; the suffix of the file decides the kind unless it is given."""
    from headlight.plot import save

    save(figure, path, kind)
    print(f"wrote {path}", file=sys.stderr)
