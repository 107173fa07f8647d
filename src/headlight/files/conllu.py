"""Gold parses from CoNLL-U files, one sentence at a time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headlight.errors import InvalidInput
from headlight.files.opening import lines_of

WORD = re.compile(r"[1-9][0-9]{0,8}")
HEAD = re.compile(r"0|[1-9][0-9]{0,8}")
RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
EMPTY_NODE = re.compile(r"[0-9]{1,9}\.[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Parse:
    """The words of a text and the tree over them.

    places: the characters of the text that each word takes. heads: the number of the word that governs
    each word; a root governs itself.
    """

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """A line of a sentence, and its number in the file."""

    number: int
    columns: Sequence[str]

    @property
    def has_space(self) -> bool:
        """Whether a space follows the word."""
        return "SpaceAfter=No" not in self.columns[9].split("|")


def read_conllu(path: Path) -> Iterator[Parse]:
    """The parses of a CoNLL-U file, one per sentence.

    Words inside a contraction (2-3 do n't) follow each other without a space; empty nodes are left out.
    """
    lines: list[Line] = []
    for number, line in enumerate(lines_of(path), 1):
        if line.strip() and line[0] != "#":
            lines.append(checked(Line(number, line.rstrip("\r\n").split("\t")), path))
        elif lines and not line.strip():
            yield sentence(lines, path)
            lines = []
    if lines:
        yield sentence(lines, path)


def checked(line: Line, path: Path) -> Line:
    """The line; refused unless it is a word, a contraction or an empty node."""
    name = line.columns[0]
    if len(line.columns) != 10:
        raise wrong(path, line, f"it has {len(line.columns)} columns, not ten")
    if not (WORD.fullmatch(name) or RANGE.fullmatch(name) or EMPTY_NODE.fullmatch(name)):
        raise wrong(path, line, f"'{name[:40]}' is not the number of a word")
    return line


def wrong(path: Path, line: Line, what: str) -> InvalidInput:
    """The error for a line that cannot be right."""
    return InvalidInput(
        f"'{path}' is not a CoNLL-U file with parses: in line {line.number} {what}. Each word needs ten "
        "columns with tabs, its number in the first and that of the word that governs it in the seventh."
    )


def sentence(lines: list[Line], path: Path) -> Parse:
    """One sentence from its lines."""
    rows = [line for line in lines if WORD.fullmatch(line.columns[0])]
    if not rows:
        raise wrong(path, lines[0], "a sentence begins that has no words")
    heads = heads_of(rows, path)
    glued = contracted(lines, len(rows), path)
    pieces, places, spot = [], [], 0
    for number, row in enumerate(rows, 1):
        word = row.columns[1]
        if not word.strip():
            raise wrong(path, row, "the word has no letters")
        after = " " if row.has_space and number not in glued else ""
        places.append((spot, spot + len(word)))
        pieces += [word, after]
        spot += len(word) + len(after)
    return Parse(
        text="".join(pieces).rstrip(),
        words=tuple(row.columns[1] for row in rows),
        places=tuple(places),
        heads=heads,
        relations=tuple(row.columns[7] for row in rows),
        tags=tuple(row.columns[4] for row in rows),
    )


def heads_of(rows: Sequence[Line], path: Path) -> tuple[int, ...]:
    """The heads of words that are numbered 1, 2, 3 …; refused unless they form trees."""
    heads = []
    for number, row in enumerate(rows, 1):
        name, head = row.columns[0], row.columns[6]
        if int(name) != number:
            raise wrong(path, row, f"word {name} stands where word {number} is due")
        if not HEAD.fullmatch(head) or int(head) > len(rows):
            raise wrong(path, row, f"the head '{head[:40]}' is no word of the sentence")
        heads.append(int(head) - 1 if head != "0" else number - 1)
        if head == name:
            raise wrong(path, row, "a word governs itself")
    reaches_root = [head == word for word, head in enumerate(heads)]
    for start, row in enumerate(rows):
        seen, word = set(), start
        while not reaches_root[word]:
            if word in seen:
                raise wrong(path, row, "words govern each other in a circle")
            seen.add(word)
            word = heads[word]
        for word in seen:
            reaches_root[word] = True
    return tuple(heads)


def contracted(lines: Sequence[Line], count: int, path: Path) -> set[int]:
    """Numbers of the words without a space after them: within a contraction, or at its end if it says so."""
    glued: set[int] = set()
    before = 0
    for line in lines:
        match = RANGE.fullmatch(line.columns[0])
        if match:
            first, last = int(match[1]), int(match[2])
            if not before < first <= last <= count:
                raise wrong(path, line, f"'{match[0]}' are not words of the sentence")
            glued |= set(range(first, last if line.has_space else last + 1))
            before = last
    return glued
