"""`DATASETS`: what each data set is called on the hub, what its columns and labels are, and how it is read."""

import math
import random
from array import array
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headlight.data.agreement import agreement_choice_rows
from headlight.data.example import Example
from headlight.data.questions import squad_source_rows
from headlight.data.sources import (
    agreement_rows,
    answer_texts,
    converted,
    hub_records,
    inference_example,
    marked,
    movie_example,
    movie_rows,
    squad_rows,
    tree_rows,
)
from headlight.errors import InvalidInput, unknown_name
from headlight.files import (
    EMPTY,
    TABLES,
    TEXT_COLUMNS,
    Record,
    Say,
    Skipped,
    Table,
    existing,
    is_file,
    is_folder,
    listed,
    open_table,
    say,
    text_in,
)
from headlight.files.conllu import read_conllu
from headlight.registry.entries import Registry
from headlight.text import Text, as_tuple, is_blank

SAMPLES = Path(__file__).parent / "samples"
PAIRED = ("hypothesis", "question2", "sentence2", "context", "pair")
LABELLED = (
    "label", "labels", "gold_label", "is_duplicate", "class", "gold", "target", "classification"
)  # fmt: skip
ANSWERED = ("answers", "answer")
UNDECIDED = ("-1", "-", "None")
"""How data sets write that people did not agree on a label, or that it is not published."""


@dataclass(frozen=True)
class DataSet:
    """Where a data set is, and how its records become examples.

    columns: the text, or both texts of a pair; each may have several names. labels: names in the order of
    the data set's own numbers. wanted: the columns that `convert` reads, by default all. file_reader: reads a
    local copy that does not consist of rows; a set without a hub name can only be read this way.
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
    wanted: tuple[str, ...] = ()
    file_reader: Callable[[Path], Iterator[tuple[str, Example]]] | None = None
    aliases: tuple[str, ...] = ()

    def example(self, record: Record) -> Example:
        """A record as an example."""
        if self.convert is not None:
            return self.convert(record)
        texts = [text_in(record, column_of(record, names)) for names in self.columns]
        text: Text = (texts[0], texts[1]) if len(texts) == 2 else texts[0]
        if self.is_questions:
            return Example(text, answers=answer_texts(record[column_of(record, ANSWERED)]))
        label = label_in(record, column_of(record, LABELLED))
        marks = record.get("marks")
        if isinstance(marks, str):
            marks = [marks]
        return Example(text, label, marks=None if marks is None else marked(texts[0], marks))

    def read(
        self, path: Path | None, skipped: Skipped, only: Container[int] | None = None
    ) -> Iterator[tuple[int, Example]]:
        """The examples that can be used, by the number of their row; the others are counted.

        path: a local copy; None for the hub. only: the rows to look at, by default all.
        """
        for number, place, example in self.stored(path, only):
            if is_blank(example.text):
                skipped.skip(place, EMPTY)
            elif self.labels and str(example.label) in UNDECIDED:
                skipped.pass_over("no label")
            elif not self.is_questions:
                skipped.read += 1
                yield number, example
            elif not example.answers:
                skipped.pass_over("no answer")
            elif not answers_of(example):
                skipped.skip(place, "no answer that is in its context")
            else:
                skipped.read += 1
                yield number, replace(example, answers=answers_of(example))

    def stored(
        self, path: Path | None, only: Container[int] | None
    ) -> Iterator[tuple[int, str, Example]]:
        """The examples in these rows, each with its number and place."""
        if path is not None and self.file_reader is not None:
            for number, (place, example) in enumerate(self.file_reader(path)):
                if only is None or number in only:
                    yield number, place, example
            return
        source = path or self.hub
        for number, place, record in self.rows(path, only):
            yield number, place, converted(self.example, record, place, source)

    def rows(
        self, path: Path | None, only: Container[int] | None
    ) -> Iterator[tuple[int, str, Record]]:
        """These rows of a file or of the hub, each with its number and place."""
        if path is None and not self.hub:
            raise InvalidInput(
                f"'{self.name}' is not on the hub. Give a local copy: {self.name}=FILE."
            )
        if path is None:
            records = hub_records(self.hub, self.configuration, self.split, self.revision)
            rows: Iterator[tuple[str, Record]] = (
                (f"row {number}", record) for number, record in enumerate(records, 1)
            )
        elif self.is_questions and path.suffix.lower() == ".json":
            rows = squad_rows(path)
        else:
            table = open_table(path)
            wanted = self.wanted_of(table)
            if table.parquet is not None:
                for number, record in table.parquet.rows(wanted, only):
                    yield number, f"row {number + 1}", record
                return
            rows = table.rows(wanted)
        for number, (place, record) in enumerate(rows):
            if only is None or number in only:
                yield number, place, record

    def wanted_of(self, table: Table) -> list[str] | None:
        """The columns of a table that are read; None for all."""
        wanted = self.wanted
        if self.convert is None:
            texts = (name for names in self.columns for name in names)
            wanted = (*texts, *LABELLED, *ANSWERED, "marks")
        return [name for name in wanted if name in table.columns] or None

    def usable(self, path: Path | None, skipped: Skipped) -> Sequence[int]:
        """The numbers of the rows that can be used; in Parquet files, only doubtful rows are looked at."""
        doubtful, count = None, 0
        if path is not None and self.file_reader is None and not self.is_questions:
            table = open_table(path)
            if table.parquet is not None and (count := table.parquet.count()):
                doubtful = table.parquet.doubtful(self.wanted_of(table), UNDECIDED)
        good = array("q", (number for number, _ in self.read(path, skipped, doubtful)))
        if doubtful is None:
            return good
        skipped.read += count - len(doubtful)
        bad = doubtful.difference(good)
        return array("q", (number for number in range(count) if number not in bad))


def column_of(record: Record, names: tuple[str, ...]) -> str:
    """The first of these columns that a record has; one that is not empty is preferred."""
    present = [name for name in names if name in record]
    if not present:
        wanted = " or ".join(map(repr, names))
        raise InvalidInput(f"there is no column {wanted}. Columns: {', '.join(record)}.")
    return next((name for name in present if record[name] is not None), present[0])


def label_in(record: Record, name: str) -> str | int | None:
    """The label in a column of a row; None if there is none."""
    if name not in record:
        raise InvalidInput(f"there is no column '{name}'. Columns: {', '.join(record)}.")
    label = record[name]
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return None
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        raise InvalidInput(
            f"the label in column '{name}' is {type(label).__name__} {str(label)[:40]}, "
            "not a name or a number."
        )
    if isinstance(label, float):
        return int(label) if label.is_integer() else str(label)
    return label


def answers_of(example: Example) -> tuple[str, ...]:
    """The answers that are in the context of a question."""
    context = as_tuple(example.text)[-1]
    return tuple(answer for answer in example.answers if answer and answer in context)


SENTIMENT = ("negative", "positive")
INFERENCE = ("entailment", "neutral", "contradiction")
DUPLICATE = ("different", "duplicate")
TOPICS = ("World", "Sports", "Business", "Sci/Tech")
TEXT = (("text", "sentence", "content", "review"),)
PREMISE = (("premise", "sentence1"), ("hypothesis", "sentence2"))
QUESTIONS = (("question1",), ("question2",))
CONTEXT = (("question",), ("context",))

DATASETS: Registry[DataSet] = Registry("data set")
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
    DataSet("squad_sources", "questions with five passages, one of which holds the answer; made from a file "
            "in the form of SQuAD", file_reader=squad_source_rows),
    DataSet("agreement", "number of a masked verb (Linzen et al. 2016)", labels=("singular", "plural"),
            file_reader=agreement_rows),
    DataSet("agreement_choice", "the right form of a verb rather than the other, and the word that decides; "
            "from pairs of sentences, or sentences with [MASK] and their subject",
            file_reader=agreement_choice_rows),
    DataSet("eraser_movies", "film reviews with human rationales", TEXT, SENTIMENT,
            "eraser-benchmark/movie_rationales", revision="refs/convert/parquet",
            convert=movie_example, file_reader=movie_rows),
    DataSet("esnli", "inference with human rationales", PREMISE, INFERENCE, "niurl/eraser_esnli",
            convert=inference_example),
    DataSet("sst_trees", "sentences of film reviews with a human label for every word",
            labels=SENTIMENT, file_reader=tree_rows),
):  # fmt: skip
    DATASETS.add(each)

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
OWN["samples/agreement_choice"] = DataSet(
    "agreement",
    "70 sentences up to their verb, is or are, with the subject",
    file_reader=agreement_choice_rows,
)
OWN["samples/sources"] = DataSet(
    "qa",
    "40 questions with five passages, one of which holds the answer",
    file_reader=squad_source_rows,
)
"""Small sets that headlight contains, for first steps and tests."""


# ------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Source:
    """What `--data` names: a known set from the hub, our samples or a file, or any file and its columns."""

    known: DataSet
    path: Path | None = None
    is_conllu: bool = False
    notes: tuple[str, ...] = ()

    def read(
        self, skipped: Skipped, only: Container[int] | None = None
    ) -> Iterator[tuple[int, Example]]:
        """The examples that can be used, by the number of their row; with `only`, those of certain rows."""
        if self.is_conllu and self.path is not None:
            for number, parse in enumerate(read_conllu(self.path)):
                if only is None or number in only:
                    yield number, Example(parse.text)
        else:
            yield from self.known.read(self.path, skipped, only)

    def usable(self, skipped: Skipped) -> Sequence[int]:
        """The numbers of the rows that can be used."""
        if self.is_conllu:
            return array("q", (number for number, _ in self.read(skipped)))
        return self.known.usable(self.path, skipped)


def describe_source(source: str) -> Source:
    """A source from NAME, NAME=FILE, FILE or FILE:COLUMN,COLUMN."""
    if source in OWN:
        return Source(OWN[source], SAMPLES / f"{OWN[source].name}.jsonl")
    # Names must match exactly here, because './sst2' is a file and not another spelling of 'sst2'.
    names = list(DATASETS)
    if source in names:
        return Source(DATASETS[source])
    name, sign, place = source.partition("=")
    if sign and name in names:
        path = existing(Path(place))
        is_table = path.suffix.lower() in TABLES and DATASETS[name].file_reader is None
        return Source(DATASETS[name], path, notes=open_table(path).notes if is_table else ())
    place, _, columns = (source, "", "") if is_file(Path(source)) else source.partition(":")
    path = Path(place)
    if place and is_folder(path):
        raise InvalidInput(f"'{place}' is a folder. Give one of its files.")
    if not is_file(path):
        unknown = unknown_name("data set", name.lower(), [*DATASETS, *OWN])
        raise InvalidInput(f"{unknown} And there is no file '{place[-80:]}'.")
    if path.suffix.lower() == ".conllu":
        return Source(DataSet(path.name, "parsed sentences"), path, is_conllu=True)
    if path.suffix.lower() == ".json":
        return Source(DataSet(path.name, "questions", CONTEXT, is_questions=True), path)
    table = open_table(path)
    known = file_set(path, table, [c.strip() for c in columns.split(",") if c.strip()])
    return Source(known, path, notes=table.notes)


def chosen_columns(path: Path, present: Sequence[str], columns: Sequence[str]) -> Sequence[str]:
    """The columns to read: those asked for, or those with the usual names of texts and labels."""
    if not present:
        raise InvalidInput(f"'{path}' has no rows: there is nothing to evaluate.")
    if not columns:
        texts = [name for name in TEXT_COLUMNS if name in present][:1]
        texts += [name for name in PAIRED if name in present][:1] if texts else []
        known = (*LABELLED, *ANSWERED)
        columns = [*texts, *[n for n in known if n in present][:1]] if texts else []
    for name in columns:
        if name not in present:
            raise InvalidInput(f"'{path}' has no column '{name}'. Columns: {listed(present)}.")
    if not columns or len(columns) > 3:
        raise InvalidInput(
            f"say which columns of '{path}' to read, FILE:TEXT,LABEL or FILE:TEXT,TEXT,LABEL: "
            f"{listed(present)}."
        )
    return columns


def file_set(path: Path, table: Table, asked: Sequence[str]) -> DataSet:
    """A data set from a file of rows: the text, or both texts of a pair, and then the label.

    If there are two columns, the second is the label, unless it has a usual name of a pair's second text.
    """
    columns = chosen_columns(path, table.columns, asked)
    has_label = len(columns) == 3 or (len(columns) == 2 and columns[1] not in PAIRED)
    has_answers = has_label and columns[-1] in ANSWERED
    named = list(columns[:-1] if has_label else columns)
    label = columns[-1] if has_label else None

    def convert(record: Record) -> Example:
        values = [text_in(record, name) for name in named]
        text: Text = (values[0], values[1]) if len(values) == 2 else values[0]
        if label is None:
            return Example(text)
        if has_answers:
            return Example(text, answers=answer_texts(record.get(label)))
        return Example(text, label_in(record, label))

    return DataSet(
        path.name,
        "a file of texts",
        convert=convert,
        wanted=tuple(columns),
        is_questions=has_answers,
    )


def read_examples(
    source: str,
    *,
    limit: int | None = None,
    seed: int = 0,
    strict: bool = False,
    tell: Say = say,
) -> tuple[list[Example], tuple[str, ...]]:
    """Examples and the names of their labels; `limit` draws this many at random and keeps their order.

    A row without a text is skipped, and `tell` is called with a note that names it; with strict it is refused.
    With a limit the source is read twice, and only the drawn examples are kept in memory.
    """
    check_limit(limit)
    described = describe_source(source)
    for note in described.notes:
        tell(note)
    skipped = Skipped(source, strict)
    if limit is None:
        examples = [example for _, example in described.read(skipped)]
    else:
        rows = described.usable(skipped)
        only = {rows[n] for n in drawn(len(rows), limit, seed)}
        examples = [example for _, example in described.read(Skipped(source), only)]
    for note in skipped.notes():
        tell(note)
    if not examples:
        raise InvalidInput(f"'{source}' has no examples: there is nothing to evaluate.")
    return examples, described.known.labels


def check_limit(limit: int | None) -> None:
    """Refuse a limit that leaves nothing."""
    if limit is not None and limit < 1:
        raise InvalidInput(f"limit={limit} leaves nothing to evaluate. Use 1 or more.")


def drawn(count: int, limit: int | None, seed: int) -> Sequence[int]:
    """The numbers of `limit` examples, drawn at random, in their order.

    Not simply the first ones, because some sets are sorted by label.
    """
    check_limit(limit)
    if limit is None or limit >= count:
        return range(count)
    return sorted(random.Random(seed).sample(range(count), limit))
