"""What attention heads do: dependency parses, head statistics, head masks."""

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
