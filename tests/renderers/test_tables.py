"""Tables of attributions: a row for each token, numbered by input and method."""

import csv
import io

import pandas

from headlight.renderers.tables import COLUMNS, as_csv, as_parquet, as_tsv
from tests.test_attribution import made


def test_inputs_are_counted_for_each_method() -> None:
    several = [made(method=name) for name in ("gae", "rollout", "gae", "rollout")]
    read = list(csv.DictReader(io.StringIO(as_csv(several))))
    first = [(row["input"], row["method"]) for row in read if row["position"] == "0"]
    assert first == [("0", "gae"), ("0", "rollout"), ("1", "gae"), ("1", "rollout")]
    assert len(read) == 4 * len(made())


def test_bare_ids_have_empty_places() -> None:
    bare = made(offsets=None, segments=None, word_ids=None, texts=(), notes=("cut", "short"))
    frame = pandas.read_parquet(io.BytesIO(as_parquet([bare])))
    assert list(frame.columns) == list(COLUMNS)
    assert frame[["word", "segment", "start", "end"]].isna().all().all()
    assert frame["notes"].unique().tolist() == ["cut; short"]
    assert frame["score"].tolist() == bare.scores.tolist()


def test_tokens_of_commas_quotes_and_line_breaks_come_back() -> None:
    tokens = (",", '"', "\n", "a\r\nb", "null", "=1", "🎬", "")
    (frame,) = [pandas.read_parquet(io.BytesIO(as_parquet([made(tokens=tokens)])))]
    assert tuple(frame["token"]) == tokens
    read = csv.DictReader(io.StringIO(as_csv([made(tokens=tokens)]), newline=""))
    assert tuple(row["token"] for row in read) == tokens


def test_tabs_separate_the_same_values() -> None:
    read = csv.DictReader(io.StringIO(as_tsv([made()])), delimiter="\t")
    assert list(read) == list(csv.DictReader(io.StringIO(as_csv([made()]))))
