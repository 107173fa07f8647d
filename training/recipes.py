"""What each catalogue entry is trained on, and how."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """One entry: data, labels and the settings that reached its aim.

    train: (source, split) pairs; shown: the held-out split that is reported.
    """

    labels: tuple[str, ...]
    train: tuple[tuple[str, str], ...]
    shown: tuple[str, str]
    epochs: float = 3.0
    batch: int = 32
    rate: float = 8e-5
    head_rate: float = 3e-4
    warmup: float = 0.06
    decay: float = 0.01
    average: float = 0.999
    smoothing: float = 0.0
    longest: int = 128
    megabytes: float = 7.9


RECIPES = {
    "sentiment": Recipe(("negative", "positive"), (("sst2", "train"),), ("sst2", "dev")),
    "topic": Recipe(
        ("World", "Sports", "Business", "Sci/Tech"), (("ag_news", "train"),), ("ag_news", "test")
    ),
    "nli": Recipe(
        ("entailment", "neutral", "contradiction"),
        (("snli", "train"), ("mnli", "train")),
        ("snli", "test"),
        epochs=2.0,
    ),
    "paraphrase": Recipe(
        ("different", "duplicate"), (("qqp", "train"),), ("qqp", "test"), epochs=4.0
    ),
}
