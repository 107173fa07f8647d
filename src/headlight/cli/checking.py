"""What a command refuses before torch is imported: names, options, files and folders that cannot work."""

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
from headlight.registry.entries import check_given, parse_specification

if TYPE_CHECKING:
    from headlight.text import Text

LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
"""How families call the number of their blocks in config.json."""
PICTURES = (".png", ".svg", ".pdf")


def check_models(*names: str) -> None:
    """Refuse names that cannot be models, and models that are neither here nor on the hub."""
    from headlight.loading.names import check_name, entry_of, is_only_cached
    from headlight.loading.shipped import required_folder

    for name in names:
        check_name(name)
        entry = entry_of(name)
        if entry is not None and entry.is_shipped:
            required_folder()
        if entry is None and not Path(name).expanduser().is_dir():
            is_only_cached(name)


def check_methods(names: Sequence[str], options: Mapping[str, Any], variant: str) -> None:
    """Refuse methods and options that do not exist, and values that no option takes."""
    entries = [declared("method").specified(name) for name in names]
    for entry in entries:
        entry.variant(variant)
    if entries:
        check_given(entries, options)
    for given in (options, *(entry.settled for entry in entries)):
        if isinstance(given.get("decoder"), str):
            check_models(given["decoder"])


def check_mixing(method: str, options: Mapping[str, Any]) -> None:
    """Refuse a method that is not made of token-to-token matrices."""
    check_methods([method], options, "paper")
    known = declared("method")
    entry = known[parse_specification(method)[0]]
    if entry.mixing is None:
        have = ", ".join(name for name in known if known[name].mixing)
        raise InvalidOption(f"method '{entry.name}' has no token-to-token matrices. Use {have}.")


def check_task(model: str, texts: "Sequence[Text]", *, is_generation: bool = False) -> None:
    """Refuse texts that a model cannot take, where its name or config.json tells what it decides."""
    from headlight.loading.names import entry_of, known_task
    from headlight.models.task import Task

    task = known_task(model)
    if is_generation and task not in (Task.CAUSAL, None):
        raise InvalidOption(
            f"--generate needs a causal language model, such as llm; {model} does {task}."
        )
    if task is Task.QUESTION and any(isinstance(text, str) for text in texts):
        raise InvalidOption(
            f"{model} answers questions: give a question, and with --pair the text that has the answer."
        )
    entry = entry_of(model)
    reads_pairs = entry is not None and entry.reads == "pair"
    if reads_pairs and any(isinstance(text, str) for text in texts):
        raise InvalidOption(
            f"{model} decides about two texts, and one was given. Give the second with --pair, "
            "or its column in a file with --pair-column."
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
    """Refuse a layer that a model does not have, where its config.json tells."""
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
    """Refuse a file that cannot be written, before the work of hours goes into it."""
    if path is None or is_special(path):
        return
    if path.is_dir():
        raise InvalidOption(
            f"'{path}' is a folder. Give the name of a file, such as {path / 'explained.html'}."
        )
    if not path.parent.is_dir():
        raise InvalidOption(
            f"there is no folder '{path.parent}' to write '{path.name}' into. Make it first."
        )
    check_writable(path.parent, path)


def is_special(path: Path) -> bool:
    """Whether a name is that of a device or pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_folder(path: Path | None) -> None:
    """Refuse a folder that can neither be used nor made."""
    if path is None:
        return
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir():
        raise InvalidOption(f"'{nearest}' is a file, so '{path}' cannot be a folder.")
    check_writable(nearest, path)


def check_writable(folder: Path, asked: Path) -> None:
    """Try to write into a folder; nothing is left there."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise InvalidInput(f"'{asked}' cannot be written: {error.strerror}.") from error


def check_picture(path: Path | None) -> None:
    """Refuse a picture of no known kind, or that cannot be written or drawn."""
    if path is None:
        return
    if path.suffix.lower() not in PICTURES:
        raise InvalidOption(
            f"'{path}' does not say what kind of picture it is. Use the suffix .png, .svg or .pdf."
        )
    check_drawing()
    check_output(path)


def check_drawing() -> None:
    """Refuse to draw without what draws."""
    if find_spec("matplotlib") is None:
        raise missing_extra("matplotlib", "plot", "headlight.plot")


# ---------------------------------------------------------------------------- attention heads


def check_masks(*sources: str) -> None:
    """Refuse what is neither an embedded model with a mask nor a file of tensors."""
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
                f"there is no file '{source}', nor an embedded model of that name with a mask.{hint} "
                f"Those with one: {', '.join(known)}."
            )
        check_tensors(Path(source))


def check_tensors(path: Path) -> None:
    """Refuse a file that holds no tensors."""
    existing(path)
    try:
        with safe_open(path, "numpy"):
            return
    except (OSError, SafetensorError) as error:
        raise InvalidInput(
            f"'{path}' is neither a mask nor counts of heads: {error}. Make one with: headlight heads learn."
        ) from error


def check_parser(name: str, data: str) -> None:
    """Refuse to parse without spaCy, or without the pipeline of ours; a file of parses needs neither."""
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
    for name, own in options.items():
        entry = known[name.partition("@")[0]]
        for option in own:
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


def check_data(source: str, *, strict: bool = False) -> None:
    """Refuse a data set that is not known, and a file that is none; with strict, one with an empty row too."""
    from headlight.data.datasets import describe_source, read_examples

    if describe_source(source).path is not None and strict:
        read_examples(source, strict=True, tell=lambda _: None)


def check_engine(engine: str, address: str | None) -> None:
    """Refuse a cluster without what runs it, and its address without it."""
    if engine == "ray" and find_spec("ray") is None:
        raise missing_extra("ray", "cluster", "--engine ray")
    if engine != "ray" and address is not None:
        raise InvalidOption("--address is that of a Ray cluster. Add --engine ray.")
