"""Labelled texts: `DATASETS` by name, from the hub, from a file, or the small sets that headlight contains."""

from headlight.data.datasets import DATASETS, DataSet, describe_source, drawn, read_examples
from headlight.data.example import Example, gold_class
from headlight.data.needles import needles

__all__ = [
    "DATASETS",
    "DataSet",
    "Example",
    "describe_source",
    "drawn",
    "gold_class",
    "needles",
    "read_examples",
]
