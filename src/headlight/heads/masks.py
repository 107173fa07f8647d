"""Which head mask an explanation uses: the model's own, a part of it, one from the caller, or a file."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.files.cache import cache_folder
from headlight.files.storage import kind_in
from headlight.headmask import HeadMask
from headlight.heads.important import KEEP, KIND, HeadImportance
from headlight.heads.learning import learn
from headlight.heads.statistics import KIND as COUNTS
from headlight.heads.statistics import HeadStatistics
from headlight.heads.synthetic_corpus import made_up_corpus
from headlight.loading.names import entry_of
from headlight.loading.shipped import shipped, shipped_names
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model

PARTS = ("syntactic", "positional", "both")


def chosen_mask(model: Model, mask: Any) -> HeadMask:
    """The mask for a model: one from the caller or a file, parts of the model's own, or 'auto' to learn one."""
    if isinstance(mask, HeadMask):
        return checked_mask(model, mask)
    if isinstance(mask, str) and mask == "auto":
        return learned_mask(model)
    if isinstance(mask, str) and mask in PARTS:
        own = own_mask(model)
        return own if mask == "both" else own.part(mask)
    if isinstance(mask, str | Path):
        return checked_mask(model, HeadMask.load(mask))
    return HeadMask.of(mask)


def own_mask(model: Model) -> HeadMask:
    """The mask that comes with an embedded model, or that lies beside an adapter file."""
    path = mask_file(model.name)
    if path is None:
        raise InvalidOption(
            f"{model.name} comes without a head mask. Learn one with headlight.heads.learn(model, corpus) "
            "or `headlight heads learn` and pass it as mask=, or let mask='auto' learn one on made-up "
            "sentences."
        )
    return checked_mask(model, read_mask(path, path.stat().st_mtime_ns))


def mask_file(name: str) -> Path | None:
    """The file of a model's mask: shipped, after a check, or NAME.mask.safetensors beside an adapter file."""
    if name in shipped_names("masks"):
        return shipped(f"masks/{name}.safetensors")
    entry = entry_of(name)
    if entry is None or entry.file is None:
        return None
    beside = entry.file.with_suffix(".mask.safetensors")
    return beside if beside.is_file() else None


@lru_cache(maxsize=32)
def read_mask(path: Path, _changed: int) -> HeadMask:
    """The mask in a file, kept in memory until the file changes."""
    return HeadMask.load(path)


def find_mask(
    source: str | Path, *, syntactic: float = 0.1, positional: float = 0.8, keep: float = KEEP
) -> HeadMask:
    """The mask of an embedded model, from a mask file, or selected from a file of statistics or importance.

    syntactic, positional: thresholds for statistics. keep: the share of heads for importance.
    """
    known = shipped_names("masks")
    if source in known:
        return HeadMask.load(shipped(f"masks/{source}.safetensors"))
    if not Path(source).is_file():
        raise InvalidInput(
            f"there is no file '{source}', nor an embedded model of that name with a mask "
            f"({', '.join(known)})."
        )
    kind = kind_in(source)
    if kind == KIND:
        return HeadImportance.load(source).mask(keep=keep)
    if kind == COUNTS:
        return HeadStatistics.load(source).mask(syntactic=syntactic, positional=positional)
    return HeadMask.load(source)


def learned_mask(model: Model) -> HeadMask:
    """A mask learned on made-up English sentences, kept in the cache."""
    path = cache_folder() / "masks" / f"{fingerprint(model)}.safetensors"
    if not path.exists():
        mask = learn(model, made_up_corpus(), name="made-up sentences").mask()
        path.parent.mkdir(parents=True, exist_ok=True)
        mask.save(path)
    return HeadMask.load(path)


def checked_mask(model: Model, mask: HeadMask) -> HeadMask:
    """The mask; refused if it says that it was learned on another model."""
    made_for = mask.facts.get("fingerprint")
    if made_for is not None and made_for != fingerprint(model):
        raise InvalidInput(
            f"the head mask was learned on '{mask.facts.get('model')}' (fingerprint {made_for}), not on "
            f"{model.name} (fingerprint {fingerprint(model)}). Learn one for this model."
        )
    return mask
