"""`DATASETS`: what each data set is called on the hub, what its columns and labels are, and how it is read."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.data.example import Example
from headlight.data.sources import (
    Record,
    agreement_examples,
    answer_texts,
    hub_records,
    inference_example,
    marked,
    movie_example,
    movie_examples,
    squad_records,
    tree_examples,
)
from headlight.errors import InvalidInput, unknown_name
from headlight.files import TEXT_COLUMNS, existing, is_file, read_records
from headlight.heads.parsers import read_conllu
from headlight.text import Text

SAMPLES = Path(__file__).parent / "samples"
PAIRED = ("hypothesis", "question2", "sentence2", "context", "pair")
LABELLED = (
    "label", "labels", "gold_label", "is_duplicate", "class", "gold", "target", "classification"
)  # fmt: skip
ANSWERED = ("answers", "answer")


@dataclass(frozen=True)
class DataSet:
    """Where a data set is, and how a record of it becomes an example.

    columns: the text, or both texts of a pair; each may have several names. labels: names in the order of
    the data set's own numbers. file_reader: what reads a local copy that is not made of rows; a set without
    a hub name has only that.
    """

    name: str
    about: str
    columns: tuple[tuple[str, ...], ...] = ()
    labels: tuple[str, ...] = ()
    hub: str = ""
    configuration: str | None = None
    split: str = "test"
    revision: str | None = None
    is_questions: bool = False
    convert: Callable[[Record], Example] | None = None
    file_reader: Callable[[Path], Iterable[Example]] | None = None

    def example(self, record: Record, source: str) -> Example:
        """A record as an example."""
        if self.convert is not None:
            return self.convert(record)
        texts = [str(field(record, names, source)) for names in self.columns]
        text: Text = (texts[0], texts[1]) if len(texts) == 2 else texts[0]
        if self.is_questions:
            return Example(text, answers=answer_texts(field(record, ANSWERED, source)))
        label: Any = field(record, LABELLED, source)
        marks = record.get("marks")
        if isinstance(marks, str):
            marks = [marks]
        return Example(text, label, marks=None if marks is None else marked(texts[0], marks))

    def read(self, path: Path | None) -> Iterator[Example]:
        """All examples: of a local copy, of ours, or of the hub; unanswerable questions are passed over."""
        try:
            for example in self.examples(path):
                is_open = self.is_questions and not example.answers
                if str(example.label) not in ("-1", "-") and not is_open:
                    yield example
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                f"'{path or self.hub}' is not in the form of '{self.name}': {type(error).__name__}: {error}."
            ) from error

    def examples(self, path: Path | None) -> Iterator[Example]:
        """All that is stored."""
        if path is not None and self.file_reader is not None:
            yield from self.file_reader(path)
            return
        if path is None and not self.hub:
            raise InvalidInput(
                f"'{self.name}' is on no hub that is known. Give a local copy: {self.name}=FILE."
            )
        if path is None:
            records = hub_records(self.hub, self.configuration, self.split, self.revision)
        else:
            records = squad_records(path) if self.is_questions else read_records(str(path))
        for record in records:
            yield self.example(record, str(path or self.hub))


def field(record: Record, names: tuple[str, ...], source: str) -> object:
    """The value of the first of these columns that a record has."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
    empty = [name for name in names if name in record]
    if empty:
        raise InvalidInput(f"a row of '{source}' has nothing in its column '{empty[0]}': {record}.")
    raise InvalidInput(
        f"'{source}' has no column {' or '.join(map(repr, names))}. Columns: {', '.join(record)}."
    )


SENTIMENT = ("negative", "positive")
INFERENCE = ("entailment", "neutral", "contradiction")
DUPLICATE = ("different", "duplicate")
TOPICS = ("World", "Sports", "Business", "Sci/Tech")
TEXT = (("text", "sentence", "content", "review"),)
PREMISE = (("premise", "sentence1"), ("hypothesis", "sentence2"))
QUESTIONS = (("question1",), ("question2",))
CONTEXT = (("question",), ("context",))

DATASETS = {
    each.name: each
    for each in (
        DataSet("sst2", "sentences of film reviews", TEXT, SENTIMENT, "stanfordnlp/sst2", split="validation"),
        DataSet("imdb", "long film reviews", TEXT, SENTIMENT, "stanfordnlp/imdb"),
        DataSet("yelp_polarity", "reviews", TEXT, SENTIMENT, "fancyzhx/yelp_polarity"),
        DataSet("amazon_polarity", "reviews", TEXT, SENTIMENT, "fancyzhx/amazon_polarity"),
        DataSet("ag_news", "news items of four topics", TEXT, TOPICS, "fancyzhx/ag_news"),
        DataSet("qqp", "pairs of questions", QUESTIONS, DUPLICATE, "nyu-mll/glue", "qqp", "validation"),
        DataSet(
            "mnli", "inference, pairs", PREMISE, INFERENCE, "nyu-mll/glue", "mnli", "validation_matched"
        ),
        DataSet("snli", "inference, pairs", PREMISE, INFERENCE, "stanfordnlp/snli"),
        DataSet("squad", "questions on paragraphs", CONTEXT, hub="rajpurkar/squad", split="validation",
                is_questions=True),
        DataSet("squad_v2", "the same, its answerable questions", CONTEXT, hub="rajpurkar/squad_v2",
                split="validation", is_questions=True),
        DataSet("agreement", "number of a masked verb (Linzen et al. 2016)", labels=("singular", "plural"),
                file_reader=agreement_examples),
        DataSet("eraser_movies", "film reviews with human rationales", TEXT, SENTIMENT,
                "eraser-benchmark/movie_rationales", revision="refs/convert/parquet",
                convert=movie_example, file_reader=movie_examples),
        DataSet("esnli", "inference with human rationales", PREMISE, INFERENCE, "niurl/eraser_esnli",
                convert=inference_example),
        DataSet("sst_trees", "sentences of film reviews with a human label for every word",
                labels=SENTIMENT, file_reader=tree_examples),
    )
}  # fmt: skip

OWN = {
    f"samples/{each.name}": each
    for each in (
        DataSet("sentiment", "140 review sentences with rationales", TEXT, SENTIMENT),
        DataSet("topic", "80 news snippets", TEXT, TOPICS),
        DataSet("nli", "60 pairs of sentences", PREMISE, INFERENCE),
        DataSet("paraphrase", "60 pairs of questions", QUESTIONS, DUPLICATE),
        DataSet("qa", "45 questions on paragraphs", CONTEXT, is_questions=True),
        DataSet("agreement", "70 sentences with a masked verb", TEXT, ("singular", "plural")),
    )
}
"""Small sets of our own, for first steps and tests."""


# ------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Source:
    """What `--data` says: a known set, from its hub, our folder or a file; or any file and its columns."""

    known: DataSet
    path: Path | None = None
    is_conllu: bool = False

    def read(self) -> Iterator[Example]:
        """All its examples."""
        if self.is_conllu and self.path is not None:
            yield from (Example(parse.text) for parse in read_conllu(self.path))
        else:
            yield from self.known.read(self.path)


def describe_source(source: str) -> Source:
    """A source from NAME, NAME=FILE, FILE or FILE:COLUMN,COLUMN."""
    if source in OWN:
        return Source(OWN[source], SAMPLES / f"{OWN[source].name}.jsonl")
    if source in DATASETS:
        return Source(DATASETS[source])
    name, sign, place = source.partition("=")
    if sign and name in DATASETS:
        return Source(DATASETS[name], existing(Path(place)))
    place, _, columns = source.partition(":")
    path = Path(place)
    if not is_file(path):
        unknown = unknown_name("data set", name.lower(), [*DATASETS, *OWN])
        raise InvalidInput(f"{unknown} And there is no file '{place[-80:]}'.")
    if path.suffix.lower() == ".conllu":
        return Source(DataSet(path.name, "parsed sentences"), path, is_conllu=True)
    if path.suffix.lower() == ".json":
        return Source(DataSet(path.name, "questions", CONTEXT, is_questions=True), path)
    return Source(file_set(path, [c.strip() for c in columns.split(",") if c.strip()]), path)


def file_set(path: Path, columns: Sequence[str]) -> DataSet:
    """A description of a file of rows: the text, or both texts of a pair, and then the label.

    Of two columns the second is the label, unless it is called like the second text of a pair.
    """
    records = read_records(str(path))
    present = list(records[0]) if records else []
    if not records:
        raise InvalidInput(f"'{path}' has no rows: there is nothing to evaluate.")
    if not columns:
        texts = [name for name in TEXT_COLUMNS if name in present][:1]
        texts += [name for name in PAIRED if name in present][:1] if texts else []
        known = (*LABELLED, *ANSWERED)
        columns = [*texts, *[n for n in known if n in present][:1]] if texts else []
    for name in columns:
        if name not in present:
            raise InvalidInput(f"'{path}' has no column '{name}'. Columns: {', '.join(present)}.")
    if not columns or len(columns) > 3:
        raise InvalidInput(
            f"say which columns of '{path}' to read, FILE:TEXT,LABEL or FILE:TEXT,TEXT,LABEL: "
            f"{', '.join(present)}."
        )
    has_label = len(columns) == 3 or (len(columns) == 2 and columns[1] not in PAIRED)
    has_answers = has_label and columns[-1] in ANSWERED
    named = list(columns[:-1] if has_label else columns)
    label = columns[-1] if has_label else None

    def convert(record: Record) -> Example:
        values = [str(field(record, (name,), str(path))) for name in named]
        text: Text = (values[0], values[1]) if len(values) == 2 else values[0]
        if has_answers and label is not None:
            return Example(text, answers=answer_texts(record.get(label)))
        return Example(text, None if label is None else record.get(label))

    return DataSet(path.name, "a file of texts", convert=convert, is_questions=has_answers)


def read_examples(
    source: str, *, limit: int | None = None, seed: int = 0
) -> tuple[list[Example], tuple[str, ...]]:
    """Examples and the names of their labels; `limit` draws so many at random, in their order.

    The first rows would not do: some sets are sorted by label.
    """
    described = describe_source(source)
    examples = list(described.read())
    if not examples:
        raise InvalidInput(f"'{source}' has no examples: there is nothing to evaluate.")
    if limit is not None and limit < 1:
        raise InvalidInput(f"limit={limit} leaves nothing to evaluate. Use 1 or more.")
    if limit is not None and limit < len(examples):
        chosen = sorted(random.Random(seed).sample(range(len(examples)), limit))
        examples = [examples[n] for n in chosen]
    return examples, described.known.labels
