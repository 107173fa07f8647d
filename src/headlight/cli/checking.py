"""Checks before torch is imported: names, options, files and folders that cannot work are refused at once."""

import tempfile
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from headlight.errors import InvalidInput, InvalidOption, missing_extra, unknown_name
from headlight.evaluation import MANIFEST
from headlight.files import existing
from headlight.registry.declarations import declared
from headlight.registry.entries import Functions, check_given, parse_specification

if TYPE_CHECKING:
    from headlight.text import Text

LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
"""The names of the number of blocks in the config.json of different families."""
PICTURES = (".png", ".svg", ".pdf")
OF_ANSWERS = ("ablation", "method")
"""What can explain an answer; `leave_one_out` is an ablation there, and elsewhere another name of occlusion."""


def check_models(*names: str) -> None:
    """Refuse names that cannot be models, and models that are neither on this machine nor on the hub."""
    from headlight.loading.names import check_name, entry_of, is_only_cached
    from headlight.loading.shipped import required_folder

    for name in names:
        check_name(name)
        entry = entry_of(name)
        if entry is not None and entry.is_shipped:
            required_folder()
        if entry is None and not Path(name).expanduser().is_dir():
            is_only_cached(name)


def check_methods(
    names: Sequence[str],
    options: Mapping[str, Any],
    variant: str,
    kinds: Sequence[str] = ("method",),
) -> None:
    """Refuse methods and options that do not exist, and values that an option does not take.

    kinds: of what may be named; of several that have a name, the first.
    """
    entries = [known_to(kinds, name).specified(name).in_variant(variant) for name in names]
    if entries:
        check_given(entries, options)
    for given in (options, *(entry.settled for entry in entries)):
        if isinstance(given.get("decoder"), str):
            check_models(given["decoder"])


def known_to(kinds: Sequence[str], name: str) -> Functions:
    """The first registry that has a name, which may settle options; else the last."""
    registries = [declared(kind) for kind in kinds]
    bare = parse_specification(name)[0]
    return next((each for each in registries if bare in each), registries[-1])


def check_mixing(method: str, options: Mapping[str, Any]) -> None:
    """Refuse a method that has no token-to-token matrices."""
    check_methods([method], options, "paper")
    known = declared("method")
    entry = known[parse_specification(method)[0]]
    if entry.mixing is None:
        have = ", ".join(name for name in known if known[name].mixing)
        raise InvalidOption(f"method '{entry.name}' has no token-to-token matrices. Use {have}.")


def check_task(model: str, texts: "Sequence[Text]", *, is_generation: bool = False) -> None:
    """Refuse texts that a model cannot take, if its name or config.json shows what it decides."""
    from headlight.loading.names import entry_of, known_task
    from headlight.models.task import Task

    task = known_task(model)
    if is_generation and task not in (Task.CAUSAL, None):
        raise InvalidOption(
            f"--generate needs a causal language model, such as llm; {model} is for {task}."
        )
    if task is Task.QUESTION and any(isinstance(text, str) for text in texts):
        raise InvalidOption(
            f"{model} answers questions. Give a question, and the text with the answer as --pair."
        )
    entry = entry_of(model)
    reads_pairs = entry is not None and entry.reads == "pair"
    if reads_pairs and any(isinstance(text, str) for text in texts):
        raise InvalidOption(
            f"{model} decides about two texts, and one was given. Give the second with --pair, "
            "or its column in a file with --pair-column."
        )


def check_writer(model: str) -> None:
    """Refuse a model that does not write text, if its name or config.json shows what it decides."""
    from headlight.loading.names import known_task
    from headlight.models.task import Task

    task = known_task(model)
    if task not in (Task.CAUSAL, None):
        raise InvalidOption(
            f"an answer is written by a causal language model, such as llm; {model} is for {task}."
        )


def check_labels(model: str, *labels: str | int | None) -> None:
    """Refuse labels that a classifier does not have, where its name or config.json tells which it has."""
    from headlight.loading.names import known_labels

    known = known_labels(model)
    for label in labels:
        is_unknown = isinstance(label, str) and label.lower() not in map(str.lower, known)
        if known and is_unknown:
            raise unknown_name("label", label, known)


def check_layer(model: str, layer: int) -> None:
    """Refuse a layer that a model does not have, if its config.json shows how many it has."""
    from headlight.loading.names import known_config

    config = known_config(model)
    count = next((config[name] for name in LAYER_COUNTS if isinstance(config.get(name), int)), None)
    if layer == 0 or (count is not None and not -count <= layer <= count):
        shown = "" if count is None else f": there are {count}, from 1 to {count}"
        raise InvalidOption(
            f"layer {layer} does not exist{shown}. Layers count from 1; -1 is the last."
        )


# --------------------------------------------------------------------------------- where to write


def check_output(path: Path | None) -> None:
    """Refuse a file that cannot be written, before hours of work are lost."""
    if path is None or is_special(path):
        return
    if path.is_dir():
        raise InvalidOption(
            f"'{path}' is a folder. Give the name of a file, such as {path / 'explained.html'}."
        )
    if not path.parent.is_dir():
        raise InvalidOption(
            f"there is no folder '{path.parent}' to write '{path.name}' into. Create it first."
        )
    check_writable(path.parent, path)


def is_special(path: Path) -> bool:
    """Whether a path is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_folder(path: Path | None) -> None:
    """Refuse a folder that can neither be used nor created."""
    if path is None:
        return
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        raise InvalidOption(
            f"'{nearest}' is a file, so '{path}' cannot be a folder. Choose another name."
        )
    check_writable(nearest, path)


def check_writable(folder: Path, asked: Path) -> None:
    """Refuse a folder that cannot be written to; the attempt leaves no file."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise InvalidInput(f"'{asked}' cannot be written: {error.strerror}.") from error


def check_picture(path: Path | None) -> None:
    """Refuse a picture of an unknown kind, or one that cannot be drawn or written."""
    if path is None:
        return
    if path.suffix.lower() not in PICTURES:
        raise InvalidOption(
            f"'{path}' does not say what kind of picture it is. Use the suffix .png, .svg or .pdf."
        )
    check_drawing()
    check_output(path)


def check_drawing() -> None:
    """Refuse to draw without matplotlib."""
    if find_spec("matplotlib") is None:
        raise missing_extra("matplotlib", "plot", "headlight.plot")


# ---------------------------------------------------------------------------- attention heads


def check_masks(*sources: str) -> None:
    """Refuse names that are neither an embedded model with a mask nor a file of tensors."""
    from headlight.loading.shipped import required_folder, shipped_names

    known = shipped_names("masks")
    for source in sources:
        if source in known:
            required_folder()
            continue
        if not Path(source).exists():
            near = get_close_matches(source.lower(), known, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise InvalidInput(
                f"there is no file '{source}', and no embedded model of that name with a mask.{hint} "
                f"Models with a mask: {', '.join(known)}."
            )
        check_tensors(Path(source))


def check_tensors(path: Path) -> None:
    """Refuse a file that is not in the safetensors format."""
    existing(path)
    try:
        with safe_open(path, "numpy"):
            return
    except (OSError, SafetensorError) as error:
        raise InvalidInput(
            f"'{path}' holds neither a head mask nor head statistics or importance: {error}. Make one: "
            "headlight heads learn."
        ) from error


def check_parser(name: str, data: str) -> None:
    """Refuse to parse without spaCy or without our pipeline; a file of parses needs neither."""
    if data.endswith(".conllu"):
        return
    from headlight.heads.parsers import OWN, load_parser
    from headlight.loading.shipped import required_folder

    if find_spec("spacy") is None:
        load_parser(name)
    if name == OWN:
        required_folder()


# ------------------------------------------------------------------------------- evaluations


def check_metrics(names: Sequence[str], options: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse metrics, protocols and options of metrics that do not exist."""
    known = declared("metric")
    for name in names:
        entry = known[name.partition("@")[0]]
        if "@" in name and "protocol" not in entry.options:
            raise InvalidOption(
                f"metric '{entry.name}' has no protocols. Write '{entry.name}' alone."
            )
    for name, settings in options.items():
        entry = known[name.partition("@")[0]]
        for option in settings:
            if option not in entry.options:
                has = ", ".join(entry.options) or "none"
                raise InvalidOption(
                    f"metric '{entry.name}' has no option '{option}'. It has: {has}."
                )


def check_run(path: Path) -> None:
    """Refuse a folder that holds no run."""
    if path.is_file():
        raise InvalidInput(f"'{path}' is a file. Give the folder of a run.")
    if not (path / MANIFEST).is_file():
        raise InvalidInput(
            f"there is no run in '{path}'. Make one with: headlight evaluate --out {path}."
        )


def check_sources(data: str | None, attributions: Sequence[Path], *, strict: bool) -> None:
    """Refuse files of a run that do not exist, and a run without examples."""
    for path in attributions:
        existing(path)
    if data is not None:
        check_data(data, strict=strict)
    elif not attributions:
        raise InvalidOption(
            "there is no data to evaluate on. Give --data, or --attributions, whose texts are then the data."
        )


def check_data(source: str, *, strict: bool = False) -> None:
    """Refuse an unknown data set and a file without data; with strict, also a file with an empty row."""
    from headlight.data.datasets import describe_source, read_examples

    if describe_source(source).path is not None and strict:
        read_examples(source, strict=True, tell=lambda _: None)


def check_engine(engine: str, address: str | None) -> None:
    """Refuse a cluster if Ray is not installed, and an address without a cluster."""
    if engine == "ray" and find_spec("ray") is None:
        raise missing_extra("ray", "cluster", "--engine ray")
    if engine != "ray" and address is not None:
        raise InvalidOption("--address is the address of a Ray cluster. Add --engine ray.")
