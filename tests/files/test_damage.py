"""Damaged files of every kind: read, or refused in a sentence; never anything else."""

import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from headlight import HeadlightError
from headlight.data import read_examples
from headlight.files import read_texts
from headlight.metrics.words import read_frequencies
from tests.data import write

CONLLU = (
    "# text = She don't.\n1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2-3\tdon't" + "\t_" * 8 + "\n"
    "2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\tSpaceAfter=No\n\n"
    "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"
)
SQUAD = (
    '{"data": [{"paragraphs": [{"context": "Ann Lee did it.", "qas": [{"question": "Who?", '
    '"answers": [{"text": "Ann", "answer_start": 0}]}]}]}]}'
)
ESNLI = (
    '{"premise": ["A", "man"], "hypothesis": ["He", "runs"], "premise_evidence_span": [[0, 1]], '
    '"hypothesis_evidence_span": [[1, 2]], "classification": "neutral"}\n'
)
MOVIE = (
    '{"annotation_id": "a.txt", "classification": "POS", '
    '"evidences": [[{"start_token": 1, "end_token": 2}]]}\n'
)
SEEDS: dict[str, tuple[str, str]] = {
    "{}/a.csv": ("a.csv", 'text,label\n"a ""good"" film",1\nbad,0\n"two\nlines",1\n'),
    "{}/a.tsv": ("a.tsv", 'text\tlabel\n"a good"\t1\nbad "one\t0\nmore\t1\n'),
    "sst2={}/b.jsonl": ("b.jsonl", '{"text": "a film", "label": 1, "marks": ["film"]}\n' * 2),
    "mnli={}/c.csv": ("c.csv", "premise;hypothesis;label\na;b;neutral\nc;d;0\n"),
    "squad={}/d.json": ("d.json", SQUAD),
    "esnli={}/e.jsonl": ("e.jsonl", ESNLI),
    "eraser_movies={}/f.jsonl": ("f.jsonl", MOVIE),
    "sst_trees={}/g.txt": ("g.txt", "(3 (2 A) (4 (3 -LRB-) (4 treat)))\n(0 (0 Dull) (2 .))\n"),
    "agreement={}/h.text": ("h.gold", "1\tare\tis\t0\n"),
    "{}/i.conllu": ("i.conllu", CONLLU),
    "{}/j.parquet": ("j.parquet", ""),
}
"""What is read, by the file that is damaged and what was in it."""
PIECES = [
    b"", b"\0", b"\n", b"\r", b"\t", b",", b'"', b"\\", b"{", b"[", b"-", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    "²".encode(), "\u2028".encode(), b"null", b"NaN", b"1e999", b"-1", b"true", b"99999999999999999999",
    b"1-30000000", b'"text": ', b"[[[[[[[[", b"\\ud800", b"PK\x03\x04", b"text",
]  # fmt: skip
"""What is put into files."""


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with a few changes: cut, doubled, flipped, or with something put in."""
    for _ in range(chance.randint(1, 4)):
        place, end = sorted(chance.choices(range(len(content) + 1), k=2))
        change = chance.randrange(5)
        if change == 0:
            content = content[:place] + chance.choice(PIECES) + content[place:]
        elif change == 1:
            content = content[:place] + chance.choice(PIECES) + content[min(end, place + 8) :]
        elif change == 2:
            content = content[:place] + content[end:]
        elif change == 3:
            content = content[:end] + content[place:]
        elif content:
            spot = chance.randrange(len(content))
            flipped = content[spot] ^ (1 << chance.randrange(8))
            content = content[:spot] + bytes([flipped]) + content[spot + 1 :]
    return content


def readers(source: str, path: Path) -> list[Callable[[], object]]:
    """Everything that may be asked to read this file."""
    return [
        lambda: read_examples(source, tell=lambda _: None),
        lambda: read_examples(source, limit=1, strict=True, tell=lambda _: None),
        lambda: read_texts(str(path), tell=lambda _: None),
        lambda: read_frequencies.__wrapped__(str(path)),
    ]


def read_damaged(folder: Path, source: str, seed: int, count: int) -> None:
    """Damage the file of a source again and again, and read what is left."""
    name, content = SEEDS[source]
    path = folder / name
    write(folder / "docs" / "a.txt", "a bright film")
    write(folder / "h.text", "they are here <eos>\n")
    write(path, [{"text": "a film", "label": 1}] * 3 if path.suffix == ".parquet" else content)
    whole, chance = path.read_bytes(), random.Random(f"{seed} {source}")
    for _ in range(count):
        path.write_bytes(damaged(whole, chance))
        for read in readers(source.format(folder), path):
            with suppress(HeadlightError):
                read()


@pytest.mark.parametrize("source", SEEDS)
def test_damage_is_read_or_refused_in_a_sentence(tmp_path: Path, source: str) -> None:
    read_damaged(tmp_path, source, seed=0, count=40)


BOUNDED = """
import faulthandler, resource, sys
from pathlib import Path
import pyarrow.compute, pyarrow.parquet  # their own threads and libraries are no part of the bound
from tests.files.test_damage import SEEDS, read_damaged

in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**29,) * 2)
for number, source in enumerate(SEEDS):
    faulthandler.dump_traceback_later(60, exit=True)
    folder = Path(sys.argv[1]) / str(number)
    read_damaged(folder, source, seed=1, count=150)
print("all were read or refused")
"""
"""Another damage, with half a gigabyte to spare and a minute of patience for each kind of file."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by the kernel of Linux")
def test_damage_takes_neither_all_memory_nor_for_ever(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BOUNDED, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout == "all were read or refused\n", ended.stderr[-2000:]
