"""Computes the layout of heat maps: boxes of text with positions, before anything is drawn.

Lengths are in pixels. Lines break between words, or inside a word that is longer than a line. Lines of
right-to-left text start at the right; left-to-right stretches inside them keep their order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Literal

import regex

from headlight.errors import InvalidOption
from headlight.renderers.characters import (
    JOINER,
    Measure,
    clusters,
    direction,
    is_cursive,
    is_wide,
    visible,
    width_of,
)
from headlight.renderers.colours import Palette, Rgb, hue, is_marked, opacity
from headlight.renderers.comparison import Panel
from headlight.renderers.pieces import ColouredText, Piece, coloured_text, headline

SIZE = 16.0
SMALL = 12.0
LEADING = 1.7
"""Distance from one line to the next, in font sizes."""
MARGIN = 16.0
GUTTER = 28.0
NARROWEST = 120.0
"""The smallest width of a column."""
BOLD = 1.15
"""How much wider bold letters are."""
SPACES = regex.compile(r"(\s+)")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
EMPTY = 0.3
"""Width of a token that is nothing but white space, in font sizes."""

Style = Literal["piece", "special", "title", "note"]


@dataclass(frozen=True)
class Box:
    """A stretch of text: x is its left end, y its baseline, `fill` the colour under it."""

    text: str
    x: float
    y: float
    width: float
    size: float
    style: Style
    is_rtl: bool = False
    fill: Rgb | None = None
    strength: float = 0.0
    is_negative: bool = False
    hover: str = ""

    @property
    def is_label(self) -> bool:
        """Whether this is part of a headline, a note, or the words of a legend."""
        return self.style in ("title", "note") and self.fill is None


@dataclass(frozen=True)
class Sheet:
    """All boxes of a drawing."""

    width: float
    height: float
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Item:
    """A box without a position yet. leaning: 'L', 'R', or '' for text that takes its neighbours' direction."""

    box: Box
    leaning: str

    @property
    def is_space(self) -> bool:
        """Whether a line may break here."""
        return self.box.text.isspace() and not self.box.hover


def sheet(
    shown: Sequence[Panel], *, width: float = 720.0, columns: int = 1, measure: Measure = width_of
) -> Sheet:
    """Heat maps one below the other, or in columns side by side."""
    room = (width - 2 * MARGIN - (columns - 1) * GUTTER) / columns if columns > 0 else 0.0
    if room < NARROWEST:
        raise InvalidOption(
            f"{columns} columns do not fit into a width of {width:g}. Use fewer, or more width."
        )
    boxes: list[Box] = []
    top = MARGIN
    for row in rows(shown, columns):
        bottom = top
        for column, panel in enumerate(row):
            left = MARGIN + column * (room + GUTTER)
            added, end = panel_boxes(panel, left, top, room, measure)
            boxes += added
            bottom = max(bottom, end)
        top = bottom + SIZE
    return Sheet(width, top - SIZE + MARGIN, tuple(boxes))


def rows(shown: Sequence[Panel], columns: int) -> Iterator[Sequence[Panel]]:
    """Panels that are side by side; a change of colours starts a new row."""
    for _, alike in groupby(shown, lambda panel: panel.colours):
        group = list(alike)
        for start in range(0, len(group), columns):
            yield group[start : start + columns]


def panel_boxes(
    panel: Panel, left: float, top: float, width: float, measure: Measure
) -> tuple[list[Box], float]:
    """The boxes of one heat map, and where it ends: headline, text, legend, notes."""
    attribution = panel.attribution
    shown = coloured_text(attribution, panel.colours)
    paragraphs = [
        label(headline(attribution), "title", measure),
        *text(shown, measure),
        legend(shown, measure),
        *(label(f"note: {note}", "note", measure) for note in attribution.notes),
    ]
    return stacked(paragraphs, left, top, width, measure)


def column(paragraphs: Iterable[Sequence[Item]], width: float, measure: Measure) -> Sheet:
    """Paragraphs one below the other on a sheet of their own."""
    boxes, bottom = stacked(paragraphs, MARGIN, MARGIN, width - 2 * MARGIN, measure)
    return Sheet(width, bottom + MARGIN, tuple(boxes))


def stacked(
    paragraphs: Iterable[Sequence[Item]], left: float, top: float, width: float, measure: Measure
) -> tuple[list[Box], float]:
    """The boxes of paragraphs, one below the other, and where the last ends."""
    boxes: list[Box] = []
    base = "L"
    for paragraph in paragraphs:
        base = base_direction(paragraph) or base
        for line in broken(paragraph, width, measure):
            size = max((item.box.size for item in line), default=SIZE)
            top += size * LEADING
            boxes += placed(merged(line), base, left, top - size * (LEADING - 1), width)
    return boxes, top


# ------------------------------------------------------------------------------------ items


def label(words: str, style: Style, measure: Measure) -> list[Item]:
    """A line of small text; titles are bold."""
    found: list[Item] = []
    stretch = BOLD if style == "title" else 1.0
    for number, word in enumerate(visible(words).split()):
        for part in (" ", word) if number else (word,):
            width = measure(part, SMALL) * stretch
            found.append(Item(Box(part, 0, 0, width, SMALL, style), "L"))
    return found


def plain(words: str, style: Style, measure: Measure) -> list[Item]:
    """A line of text without colours, word by word, each in its direction."""
    return [
        Item(Box(part, 0, 0, measure(part, SIZE), SIZE, style), direction(part))
        for part in SPACES.split(visible(words))
        if part
    ]


def legend(shown: ColouredText, measure: Measure) -> list[Item]:
    """What the colours mean."""
    found: list[Item] = []
    for word, share in shown.meaning:
        box = Box(word, 0, 0, measure(word, SMALL), SMALL, "note")
        found.append(Item(filled(box, share, shown.is_signed, shown.colours), "L"))
        found.append(Item(Box("  ", 0, 0, measure("  ", SMALL), SMALL, "note"), "L"))
    return [*found, *label(shown.scale, "note", measure)]


def text(shown: ColouredText, measure: Measure) -> list[list[Item]]:
    """The pieces of a text and the gaps between them, by lines of the original text."""
    lines: list[list[Item]] = [[]]
    for piece in joined(shown.pieces):
        for number, gap in enumerate(piece.before.split("\n")):
            if number:
                lines.append([])
            lines[-1] += gap_items(gap, measure)
        lines[-1].append(piece_item(piece, shown.is_signed, shown.colours, measure))
    return lines


def joined(shown: Sequence[Piece]) -> list[Piece]:
    """Pieces with joiners where a cursive word was cut, so that its letters keep their joined shape."""
    found = list(shown)
    for number, (one, other) in enumerate(pairwise(shown)):
        is_cut = not other.before and one.text and other.text
        if is_cut and is_cursive(one.text[-1]) and is_cursive(other.text[0]):
            found[number] = replace(found[number], text=found[number].text + JOINER)
            found[number + 1] = replace(other, text=JOINER + other.text)
    return found


def gap_items(gap: str, measure: Measure) -> Iterator[Item]:
    """The gap between two tokens: spaces, or characters that no token covers."""
    for part in clusters(visible(gap)):
        yield Item(Box(part, 0, 0, measure(part, SIZE), SIZE, "special"), direction(part))


def piece_item(piece: Piece, is_signed: bool, colours: Palette, measure: Measure) -> Item:
    """A piece on its colour; special tokens have no colour and no direction."""
    shown = visible(piece.text)
    width = measure(shown, SIZE) or EMPTY * SIZE
    style: Style = "special" if piece.is_special else "piece"
    hover = visible(f"{piece.text.strip(JOINER)}: {piece.score:+.4g}")
    box = Box(shown, 0, 0, width, SIZE, style, hover=hover)
    if piece.is_special:
        return Item(box, "")
    return Item(filled(box, piece.share, is_signed, colours), direction(shown))


def filled(box: Box, share: float, is_signed: bool, colours: Palette) -> Box:
    """The box with the colour of a share."""
    return replace(
        box,
        fill=hue(share, is_signed, colours),
        strength=opacity(share),
        is_negative=is_marked(share, is_signed),
    )


# ------------------------------------------------------------------------------------ lines


def broken(items: Sequence[Item], width: float, measure: Measure) -> list[list[Item]]:
    """The items in lines of at most this width, without spaces at either end."""
    lines: list[list[Item]] = [[]]
    room = width
    for word in words(items):
        size = sum(item.box.width for item in word)
        if lines[-1] and room < size <= width and not word[0].is_space:
            lines.append([])
            room = width
        for item in word:
            for part in parts(item, width, measure):
                if lines[-1] and part.box.width > room and not part.is_space:
                    lines.append([])
                    room = width
                lines[-1].append(part)
                room -= part.box.width
    return [trimmed(line) for line in lines]


def words(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Groups of items that stay together if a line can hold them."""
    word: list[Item] = []
    for item in items:
        if word and (item.is_space or word[-1].is_space or can_part(word[-1], item)):
            yield word
            word = []
        word.append(item)
    if word:
        yield word


def can_part(one: Item, other: Item) -> bool:
    """Whether a line may break between two neighbours that no space separates."""
    ends = one.box.text[-1:] + other.box.text[:1]
    return any(map(is_wide, ends))


def parts(item: Item, width: float, measure: Measure) -> Iterator[Item]:
    """The item, cut into parts that fit a line if it is too wide."""
    box = item.box
    if box.width <= width:
        yield item
        return
    start = ""
    for cluster in clusters(box.text):
        if start and measure(start + cluster, box.size) > width:
            yield replace(item, box=replace(box, text=start, width=measure(start, box.size)))
            start = ""
        start += cluster
    yield replace(item, box=replace(box, text=start, width=measure(start, box.size)))


def merged(line: Sequence[Item]) -> list[Item]:
    """The line with neighbouring words of a headline or note joined into one box."""
    found: list[Item] = []
    for item in line:
        last = found[-1].box if found else None
        if last and last.is_label and item.box.is_label and not found[-1].is_space:
            whole = last.text + item.box.text
            found[-1] = Item(replace(last, text=whole, width=last.width + item.box.width), "L")
        else:
            found.append(item)
    return found


def trimmed(line: list[Item]) -> list[Item]:
    """The line without spaces at either end."""
    start, end = 0, len(line)
    while start < end and line[start].is_space:
        start += 1
    while end > start and line[end - 1].is_space:
        end -= 1
    return line[start:end]


# -------------------------------------------------------------------------------- direction


def base_direction(items: Iterable[Item]) -> str:
    """The direction of the first item that has one."""
    return next((item.leaning for item in items if item.leaning), "")


def placed(line: Sequence[Item], base: str, left: float, y: float, width: float) -> Iterator[Box]:
    """The boxes of a line in their positions, aligned to the side where its text starts."""
    ordered = visual(line, base)
    x = left if base == "L" else left + width - sum(item.box.width for item in line)
    for item in ordered:
        if not item.is_space:
            is_rtl = item.leaning == "R"
            yield replace(item.box, x=round(x, 2), y=round(y, 2), is_rtl=is_rtl)
        x += item.box.width


def visual(line: Sequence[Item], base: str) -> list[Item]:
    """Items in visual order from left to right (rules N0 to N2 and L2 of Unicode's bidi algorithm)."""
    leanings = resolved(bracketed(line, base), base)
    ordered = [replace(item, leaning=way) for item, way in zip(line, leanings, strict=True)]
    levels = [(1 if way == "R" else 2 if base == "R" else 0) for way in leanings]
    for level in (2, 1):
        start = 0
        while start < len(levels):
            end = start
            while end < len(levels) and levels[end] >= level:
                end += 1
            ordered[start:end] = reversed(ordered[start:end])
            levels[start:end] = reversed(levels[start:end])
            start = max(end, start + 1)
    return ordered


def bracketed(line: Sequence[Item], base: str) -> list[str]:
    """The directions of items, where both brackets of a pair follow what they enclose."""
    leanings = [item.leaning for item in line]
    for start, end in bracket_pairs([item.box.text for item in line]):
        inside = set(leanings[start + 1 : end]) - {""}
        if base in inside:
            leanings[start] = leanings[end] = base
        elif inside:
            before = next((way for way in reversed(leanings[:start]) if way), base)
            leanings[start] = leanings[end] = before
    return leanings


def bracket_pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of opening and closing brackets, in the order of opening."""
    opened: list[int] = []
    found = []
    for place, each in enumerate(texts):
        if each in BRACKETS:
            opened.append(place)
        elif opened and each == BRACKETS[texts[opened[-1]]]:
            found.append((opened.pop(), place))
    return sorted(found)


def resolved(leanings: Sequence[str], base: str) -> list[str]:
    """Items without a direction take that of their neighbours, or of the line if these differ."""
    after, following = base, []
    for way in reversed(leanings):
        after = way or after
        following.append(after)
    before, found = base, []
    for way, next_way in zip(leanings, reversed(following), strict=True):
        before = way or before
        found.append(way or (before if before == next_way else base))
    return found
