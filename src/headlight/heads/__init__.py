"""What attention heads do: dependency parses, head statistics, head masks."""

from headlight.heads.learning import learn
from headlight.heads.parsers import Parse, load_parser, read_conllu
from headlight.heads.statistics import HeadStatistics
from headlight.heads.studies import threshold_sweep

__all__ = ["HeadStatistics", "Parse", "learn", "load_parser", "read_conllu", "threshold_sweep"]
