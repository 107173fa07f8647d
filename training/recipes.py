"""What each catalogue entry is trained on, and how."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Recipe:
    """One model: data, labels and the settings that worked.

    train: (source, split) pairs; shown: the held-out split that is reported. frozen: matrices of
    the base that do not change. trust: the weight of a teacher's probabilities beside the labels.
    """

    labels: tuple[str, ...]
    train: tuple[tuple[str, str], ...]
    shown: tuple[str, str]
    task: str = "classify"
    epochs: float = 3.0
    batch: int = 32
    rate: float = 8e-5
    head_rate: float = 3e-4
    warmup: float = 0.06
    decay: float = 0.01
    average: float = 0.999
    longest: int = 128
    megabytes: float = 7.9
    frozen: tuple[str, ...] = ("embeddings.",)
    trust: float = 0.0


@dataclass(frozen=True)
class Teacher:
    """A larger network that is fine-tuned first: on `rows` texts of at least `words` words.

    It then gives probabilities for all texts and for `sentences` of the unlabelled source.
    """

    recipe: Recipe
    rows: int
    words: int
    unlabelled: tuple[str, str]
    sentences: int


SENTIMENT = Recipe(
    ("negative", "positive"),
    (("sst2", "train"),),
    ("sst2", "dev"),
    epochs=2.0,
    rate=1e-4,
    decay=0.0,
    frozen=(),
    trust=0.7,
)
RECIPES = {
    "sentiment": SENTIMENT,
    "topic": Recipe(
        ("World", "Sports", "Business", "Sci/Tech"),
        (("ag_news", "train"),),
        ("ag_news", "test"),
        megabytes=2.0,
    ),
    "nli": Recipe(
        ("entailment", "neutral", "contradiction"),
        (("snli", "train"), ("mnli", "train")),
        ("snli", "test"),
        epochs=2.0,
        megabytes=2.0,
    ),
    "paraphrase": Recipe(
        ("different", "duplicate"),
        (("qqp", "train"),),
        ("qqp", "test"),
        epochs=4.0,
        megabytes=2.5,
    ),
    "qa": Recipe(
        (),
        (("squad", "train"),),
        ("squad", "dev"),
        task="answer",
        batch=16,
        rate=1e-4,
        longest=192,
        megabytes=6.0,
    ),
    "agreement": Recipe(
        ("singular", "plural"),
        (("agreement", "train"), ("agreement_text", "train"), ("agreement_parsed", "train")),
        ("agreement", "test"),
        task="tag",
        epochs=1.5,
        longest=96,
        megabytes=2.5,
    ),
    "decoder": Recipe(
        (),
        (("wikitext", "train"),),
        ("wikitext", "test"),
        task="fill",
        epochs=0.5,
        batch=16,
        rate=3e-4,
        head_rate=1e-3,
        megabytes=4.0,
    ),
}
TEACHERS = {
    "sentiment": Teacher(
        replace(
            SENTIMENT,
            epochs=1.0,
            batch=16,
            rate=3e-5,
            head_rate=1e-4,
            frozen=("embeddings.", *(f"encoder.layer.{k}." for k in range(4))),
        ),
        rows=10_000,
        words=8,
        unlabelled=("imdb", "train"),
        sentences=26_000,
    )
}
