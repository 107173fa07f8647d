"""What attention heads do: count it on a corpus, select heads, keep the masks.

The names are loaded when they are first used: reading parses, which other parts do, needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headlight.heads.learning import learn
    from headlight.heads.masks import find_mask
    from headlight.heads.parsers import Parse, load_parser, read_conllu
    from headlight.heads.statistics import HeadStatistics
    from headlight.heads.studies import mask_agreement, sample_sizes, threshold_sweep

__all__ = [
    "HeadStatistics",
    "Parse",
    "find_mask",
    "learn",
    "load_parser",
    "mask_agreement",
    "read_conllu",
    "sample_sizes",
    "threshold_sweep",
]

HOMES = {
    "HeadStatistics": "statistics",
    "Parse": "parsers",
    "find_mask": "masks",
    "learn": "learning",
    "load_parser": "parsers",
    "mask_agreement": "studies",
    "read_conllu": "parsers",
    "sample_sizes": "studies",
    "threshold_sweep": "studies",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'headlight.heads' has no attribute '{name}'")
    return getattr(import_module(f"headlight.heads.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
