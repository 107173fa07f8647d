"""Files as data sets are kept in them, written on the spot."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet
from hypothesis import settings

Row = dict[str, object]
few = settings(max_examples=40, deadline=None, derandomize=True)


def write(path: Path, content: bytes | str | Sequence[Row]) -> Path:
    """The path, with this content, or with these rows in the form that its suffix names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(content), path)
    elif path.suffix in (".jsonl", ".ndjson"):
        path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(
                file, list(content[0]), delimiter="\t" if path.suffix == ".tsv" else ","
            )
            table.writeheader()
            table.writerows(content)
    return path
