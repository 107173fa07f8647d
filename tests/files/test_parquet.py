"""Rows of Parquet: drawn without making the others, and the same as from any other file."""

import json
import random
import sys
from pathlib import Path

import pytest

from headlight import InvalidInput
from headlight.data import datasets, read_examples
from headlight.files.parquet import BLANKS, ParquetRows
from headlight.files.texts import text_in
from tests.data import write

TEXTS = [
    "a good film",
    None,
    "",
    " \x1c\u3000",
    "None",
    "-1",
    "悪い",
    "\u200b",
    "bad \x85",
    "\ufeff",
    "\u0301\ufffd",
    "☺",
]
LABELS: list[list[int | float | str | None]] = [
    [0, 1, -1, None],
    [0.0, 1.0, -1.0, None],
    ["negative", "1", "-", None, "-1", "None"],
]


def test_blanks_are_those_of_python() -> None:
    assert {c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()} == set(BLANKS)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("source", ["{}", "sst2={}"])
def test_a_limit_draws_from_parquet_what_it_draws_from_json_lines(
    tmp_path: Path, source: str, labels: list[int | float | str | None]
) -> None:
    chance = random.Random(1)
    rows: list[dict[str, object]] = [
        {"text": "a good film", "label": labels[0]} for _ in range(600)
    ]
    for number in chance.sample(range(600), 40):
        rows[number] = {"text": chance.choice(TEXTS), "label": chance.choice(labels)}
    lines = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    told: dict[Path, list[str]] = {lines: [], write(tmp_path / "a.parquet", rows): []}
    drawn = [
        read_examples(source.format(path), limit=300, seed=2, tell=notes.append)
        for path, notes in told.items()
    ]
    assert drawn[0] == drawn[1]
    line_notes, row_notes = ("".join(notes) for notes in told.values())
    assert "with no text: " in row_notes
    assert row_notes == line_notes.replace("a.jsonl", "a.parquet").replace("line ", "row ")


def test_rows_that_are_not_drawn_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(
        datasets,
        "text_in",
        lambda *given: made.append(1) or text_in(*given),  # type: ignore[func-returns-value]
    )
    path = write(
        tmp_path / "a.parquet", [{"text": f"film {n}", "label": n % 2} for n in range(999)]
    )
    assert len(read_examples(str(path), limit=10)[0]) == 10
    assert len(made) == 11


def test_a_column_that_holds_no_texts_is_refused_with_a_limit_too(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"text": n, "label": 1} for n in range(50)])
    with pytest.raises(InvalidInput, match=r"row 1 of '.*' ?:? has int 0 in its column 'text'"):
        read_examples(str(path), limit=3)


def test_rows_in_doubt_are_given_up_where_they_are_most(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": None, "label": 1}] * 12_000
    rows.append({"text": "a"})
    path = write(tmp_path / "a.parquet", rows)
    assert ParquetRows(path).doubtful(["text"], ()) is None
    assert len(read_examples(str(path), limit=3, tell=lambda _: None)[0]) == 1
