"""What each catalogue entry is trained on, and how."""

from dataclasses import dataclass, replace

from headlight.loading.bases import BGE, MINILM, Base

BASES: dict[str, Base] = {"minilm": MINILM, "bge": BGE}


@dataclass(frozen=True)
class Recipe:
    """One model: data, labels and the settings that worked.

    train: (source, split) pairs; shown: the held-out split that is reported. frozen: matrices of
    the base that do not change. trust: the weight of a teacher's probabilities beside the labels.
    base: a name of `BASES`. half: products of the training pass are in bfloat16, three times as fast where the
    processor has it; weights and their updates stay in 32 bits.
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
    base: str = "minilm"
    half: bool = False


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
SIX_LAYERS = {
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


def twelve_layers(recipe: Recipe) -> Recipe:
    """The recipe for the base of twelve layers."""
    return replace(recipe, base="bge", half=True)


TWELVE_LAYERS = {
    "sentiment-12": twelve_layers(replace(SENTIMENT, rate=8e-5)),
    "topic-12": twelve_layers(replace(SIX_LAYERS["topic"], megabytes=4.0)),
    "nli-12": twelve_layers(replace(SIX_LAYERS["nli"], epochs=3.0, megabytes=4.0)),
    "paraphrase-12": twelve_layers(replace(SIX_LAYERS["paraphrase"], megabytes=4.0)),
    "qa-12": twelve_layers(SIX_LAYERS["qa"]),
}
RECIPES = SIX_LAYERS | TWELVE_LAYERS
SENTIMENT_TEACHER = Teacher(
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
TEACHERS = {
    "sentiment": SENTIMENT_TEACHER,
    "sentiment-12": replace(
        SENTIMENT_TEACHER, recipe=replace(SENTIMENT_TEACHER.recipe, half=True), rows=24_000
    ),
}
