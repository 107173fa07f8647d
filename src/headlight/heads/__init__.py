"""What attention heads do: counting it on a corpus, selecting heads, and keeping the masks.

The names are loaded when they are first used, because reading parses needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headlight.files.conllu import Parse, read_conllu
    from headlight.heads.important import HeadImportance, importance
    from headlight.heads.learning import learn
    from headlight.heads.masks import find_mask
    from headlight.heads.parsers import load_parser
    from headlight.heads.selecting import Search, select
    from headlight.heads.statistics import HeadStatistics
    from headlight.heads.studies import mask_agreement, sample_sizes, threshold_sweep

__all__ = [
    "HeadImportance",
    "HeadStatistics",
    "Parse",
    "Search",
    "find_mask",
    "importance",
    "learn",
    "load_parser",
    "mask_agreement",
    "read_conllu",
    "sample_sizes",
    "select",
    "threshold_sweep",
]

HOMES = {
    "HeadImportance": "heads.important",
    "HeadStatistics": "heads.statistics",
    "Parse": "files.conllu",
    "Search": "heads.selecting",
    "find_mask": "heads.masks",
    "importance": "heads.important",
    "learn": "heads.learning",
    "load_parser": "heads.parsers",
    "mask_agreement": "heads.studies",
    "read_conllu": "files.conllu",
    "sample_sizes": "heads.studies",
    "select": "heads.selecting",
    "threshold_sweep": "heads.studies",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'headlight.heads' has no attribute '{name}'")
    return getattr(import_module(f"headlight.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
