"""Arguments that several commands share, and what they mean."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headlight.errors import InvalidInput, InvalidOption
from headlight.files import is_file, read_texts
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
        metavar="[TEXT]", help="The text to explain, in quotes; - reads texts from standard input."
    ),
]
OneTextArgument = Annotated[
    list[str], typer.Argument(metavar="TEXT", help="The text to look at, in quotes.")
]
PairOption = Annotated[
    str | None,
    typer.Option("--pair", "-p", help="The second text of a pair, or the context of a question."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="An embedded model, a folder, or a hub name (see: headlight models).",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="A label by name or index, or a vocabulary token; default: what the model predicts.",
    ),
]
ContrastOption = Annotated[
    str | None, typer.Option("--contrast", help="Why the target rather than this label or token.")
]
WordsOption = Annotated[bool, typer.Option("--words", "-w", help="Whole words instead of tokens.")]
VariantOption = Annotated[
    str,
    typer.Option("--variant", help="'paper', or 'released' for what the authors' code computes."),
]

StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", help="Stop at a row without a text, instead of skipping it with a note."
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        help="An option of the methods as NAME=VALUE, such as first_layer=3 or mask=auto; repeat for several.",
    ),
]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", help="Draw it too: a .png, .svg or .pdf file."),
]


def one_text(words: list[str]) -> str:
    """The text of a command line; one without quotes comes as several words."""
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
    given = text if pair is None else (text, pair)
    check_text(given, 0)
    return given


def given_texts(
    words: list[str] | None,
    pair: str | None,
    source: str | None,
    column: str | None,
    pair_column: str | None,
    *,
    strict: bool = False,
) -> "list[Text]":
    """The texts of the command line or of a file."""
    if words == ["-"] and source is None:
        words, source = None, "-"
    if not words and source is None:
        raise InvalidOption(
            "there is nothing to explain. Give a text in quotes, or --input with a file of texts."
        )
    if words and source is not None:
        raise InvalidOption("a text and --input were given. Give one of the two.")
    if words:
        if column or pair_column:
            raise InvalidOption("--column and --pair-column are for --input. Leave them out.")
        return [with_pair(one_text(words), pair)]
    if pair is not None:
        raise InvalidOption("--pair is for one text. For the pairs of a file use --pair-column.")
    return read_texts(str(source), column, pair_column, strict=strict, tell=note)


def note(said: str) -> None:
    """A remark that is no error, on standard error."""
    print(f"note: {said}", file=sys.stderr)


def parsed_target(target: str | None, contrast: str | None, probability: bool) -> "Target":
    """A target from command-line words; digits are an index."""
    from headlight.target import Target

    label, other = (int(t) if t is not None and t.isdigit() else t for t in (target, contrast))
    return Target(label=label, contrast=other, output="probability" if probability else "logit")


def parsed_options(given: list[str] | None) -> dict[str, Any]:
    """Options of methods from NAME=VALUE; numbers and true or false become what they say."""
    found: dict[str, Any] = {}
    for each in given or []:
        parsed = parse_option(each)
        if parsed is None:
            raise InvalidOption(f"--option {each} is not understood. Write NAME=VALUE.")
        if parsed[0] in found:
            raise InvalidOption(f"--option {parsed[0]} is given twice. Give it once.")
        found.update([parsed])
    return found


def load_model(name: str) -> "Model":
    """The model, without the chatter of its libraries."""
    from headlight.loading.load import load

    quiet_libraries()
    return load(name)


def quiet_libraries() -> None:
    """No progress bars and warnings but ours."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def draw(figure: "Figure", path: Path, kind: str | None = None) -> None:
    """Write a figure, by the suffix of the file if its kind is not said, and say so."""
    from headlight.plot import save

    save(figure, path, kind)
    print(f"wrote {path}", file=sys.stderr)
