"""Text as tokens: `Row` is one input, `Batch` is several, `Inputs` is the tensors a network receives."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Protocol, Self

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from headlight.errors import InvalidInput
from headlight.shapes import Ids, TokenMask
from headlight.text import Text as Text
from headlight.text import as_tuple as as_tuple
from headlight.text import check_text
from headlight.units import words


@dataclass(frozen=True)
class Row:
    """One input as tokens, every field position by position.

    `offsets` are character spans into the text of the token's segment (0 first text, 1 second, None
    for special tokens); `word_ids` count words through both texts; `attended` is the attention mask.
    Rows made from bare ids have no text, offsets or words. `units`: if a caller asks about units larger than
    tokens, the number of the one that each token is in (None: in none).
    """

    ids: tuple[int, ...]
    attended: tuple[bool, ...]
    tokens: tuple[str, ...]
    is_special: tuple[bool, ...]
    types: tuple[int, ...] | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    segments: tuple[int | None, ...] | None = None
    word_ids: tuple[int | None, ...] | None = None
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[int | None, ...] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, positions: Sequence[int]) -> Self:
        """The row with only these positions; the text stays whole, so offsets stay valid."""

        def pick(values: tuple[Any, ...] | None) -> Any:
            return None if values is None else tuple(values[p] for p in positions)

        fields = (
            "ids",
            "attended",
            "tokens",
            "is_special",
            "types",
            "offsets",
            "segments",
            "word_ids",
            "units",
        )
        return replace(self, **{name: pick(getattr(self, name)) for name in fields})

    def noted(self, *notes: str) -> Self:
        """The row with further notes for the reader of its attribution."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True)
class Batch:
    """Several rows, in the caller's order; padding is added when they meet a network."""

    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def from_ids(
        cls, input_ids: Any, attention_mask: Any = None, token_type_ids: Any = None
    ) -> Self:
        """A batch of token ids: one sequence or several, as lists, arrays or tensors.

        A token that the mask hides stays a token with a score. Only masked pad tokens at the ends of a row
        count as padding. They are removed later, when the model, and so the pad token, is known.
        """
        ids = number_rows(input_ids, "input_ids")
        masks = [[1] * len(row) for row in ids]
        if attention_mask is not None:
            masks = mask_rows(attention_mask)
        types = None if token_type_ids is None else number_rows(token_type_ids, "token_type_ids")
        for name, other in (("attention_mask", masks), ("token_type_ids", types)):
            if other is not None and [len(row) for row in other] != [len(row) for row in ids]:
                raise InvalidInput(
                    f"{name} and input_ids differ in shape: rows of {[len(row) for row in other]} "
                    f"against {[len(row) for row in ids]} tokens. Give one {name} value per id."
                )
        return cls(
            tuple(
                Row(
                    ids=tuple(row),
                    attended=tuple(bool(m) for m in masks[number]),
                    tokens=tuple(str(i) for i in row),
                    is_special=(False,) * len(row),
                    types=None if types is None else tuple(types[number]),
                )
                for number, row in enumerate(ids)
            )
        )


def number_rows(values: Any, name: str) -> list[list[int]]:
    """Rows of whole numbers from 0 on, given as one sequence or several."""
    rows = plain_rows(values, name)
    for number, row in enumerate(rows):
        for value in row:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidInput(
                    f"{name} must hold whole numbers from 0 on; row {number} has {value!r}."
                )
    return rows


def mask_rows(values: Any) -> list[list[int]]:
    """Rows of zeros and ones, given as numbers or booleans."""
    rows = plain_rows(values, "attention_mask")
    for number, row in enumerate(rows):
        for value in row:
            if not isinstance(value, int | float) or value not in (0, 1):
                raise InvalidInput(
                    f"attention_mask must hold 1 where the model may see a token and 0 elsewhere; "
                    f"row {number} has {value!r}."
                )
        if not any(row):
            raise InvalidInput(
                f"row {number} has no token the model may see: its attention_mask is all zeros. "
                "Leave the row out, or unmask at least one token."
            )
    return rows


def plain_rows(values: Any, name: str) -> list[list[Any]]:
    """Lists of plain values from one sequence or several: lists, arrays or tensors, at any depth."""
    rows = plain(values)
    if isinstance(rows, list) and rows and not isinstance(rows[0], list):
        rows = [rows]
    if not isinstance(rows, list) or any(not isinstance(row, list) for row in rows):
        raise InvalidInput(
            f"{name} must be one sequence of numbers or several, not {str(values)[:80]}."
        )
    if not rows or not all(rows):
        raise InvalidInput(f"{name} has a row without tokens. Give every row at least one id.")
    if any(isinstance(value, list) for row in rows for value in row):
        raise InvalidInput(f"{name} has more than two dimensions. Give [row, token].")
    return rows


def plain(values: Any) -> Any:
    """Arrays, tensors and tuples as lists of Python numbers."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return [plain(value) for value in values] if isinstance(values, list | tuple) else values


def trimmed(row: Row, pad_id: int | None) -> Row:
    """The row without the masked pad tokens at its ends."""
    is_pad = [i == pad_id and not seen for i, seen in zip(row.ids, row.attended, strict=True)]
    if not (is_pad[0] or is_pad[-1]):
        return row
    kept = [p for p, pad in enumerate(is_pad) if not pad]
    return row.take(range(kept[0], kept[-1] + 1))


def with_token_names(row: Row, tokenizer: PreTrainedTokenizerBase) -> Row:
    """A row of bare ids with the token strings and special tokens that a tokenizer knows."""
    tokens = tokenizer.convert_ids_to_tokens(list(row.ids))
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    return replace(
        row,
        tokens=tuple(str(token) for token in tokens),
        is_special=tuple(i in special for i in row.ids),
    )


# ---------------------------------------------------------------------------------- encoding


def encode(
    texts: Sequence[Text], tokenizer: PreTrainedTokenizerBase, *, adds_special: bool = True
) -> list[Row]:
    """Rows of the whole texts, however long, in the order given.

    adds_special: whether the tokenizer adds its special tokens; a chat template has written them already.
    """
    for number, text in enumerate(texts):
        check_text(text, number)
    rows: list[Row | None] = [None] * len(texts)
    for is_pair in (False, True):
        chosen = [n for n, text in enumerate(texts) if isinstance(text, tuple) == is_pair]
        if chosen:
            # Tokenizers refuse subclasses of str, such as a member of a StrEnum.
            exact = [tuple(map(str.__str__, as_tuple(texts[n]))) for n in chosen]
            alike = encode_alike(exact, tokenizer, adds_special)
            for n, row in zip(chosen, alike, strict=True):
                rows[n] = row
    return [row for row in rows if row is not None]


def encode_alike(
    texts: list[tuple[str, ...]], tokenizer: PreTrainedTokenizerBase, adds_special: bool
) -> list[Row]:
    """Rows of texts that are all single or all pairs."""
    encoding = tokenizer(
        *(list(column) for column in zip(*texts, strict=True)),
        add_special_tokens=adds_special,
        return_special_tokens_mask=True,
        return_offsets_mapping=tokenizer.is_fast,
        return_token_type_ids="token_type_ids" in tokenizer.model_input_names,
        verbose=False,
    )
    return [encoded_row(encoding, number, text, tokenizer) for number, text in enumerate(texts)]


def encoded_row(
    encoding: Any, number: int, texts: tuple[str, ...], tokenizer: PreTrainedTokenizerBase
) -> Row:
    """One row of what a tokenizer returned."""
    ids = tuple(encoding["input_ids"][number])
    is_special = tuple(bool(flag) for flag in encoding["special_tokens_mask"][number])
    if all(is_special):
        raise InvalidInput(
            f"the tokenizer finds no token in {texts[0][:40]!r}: there is nothing to explain."
        )
    row = Row(
        ids=ids,
        attended=(True,) * len(ids),
        tokens=tuple(tokenizer.convert_ids_to_tokens(list(ids))),
        is_special=is_special,
        types=tuple(encoding["token_type_ids"][number]) if "token_type_ids" in encoding else None,
        texts=texts,
    )
    if tokenizer.is_fast:
        row = located(row, encoding["offset_mapping"][number], encoding.sequence_ids(number))
    unknown = ids.count(tokenizer.unk_token_id)
    if unknown:
        row = row.noted(f"{unknown} of {len(ids)} tokens are unknown to the model's vocabulary")
    return row


def located(row: Row, offsets: Iterable[tuple[int, int]], segments: Iterable[int | None]) -> Row:
    """The row with the place of every token in its text, and the word it belongs to.

    Words are found in the text, not guessed from marks on tokens, so they are the same for every
    tokenizer: runs of letters and digits, runs of punctuation, single ideographs. A token belongs to
    the word that holds its first character that is not a space.
    """
    offsets, segments = tuple((start, end) for start, end in offsets), tuple(segments)
    words = [WordPlaces(text) for text in row.texts]
    first = (0, *accumulate(len(each.starts) for each in words))
    word_ids: list[int | None] = []
    for (start, end), segment in zip(offsets, segments, strict=True):
        number = None if segment is None else words[segment].first_in(start, end)
        word_ids.append(None if number is None or segment is None else first[segment] + number)
    return replace(row, offsets=offsets, segments=segments, word_ids=tuple(word_ids))


class WordPlaces:
    """Where the words of a text begin and end: two numbers per word, however long the words are."""

    def __init__(self, text: str) -> None:
        self.starts, self.ends = array("q"), array("q")
        for start, end in words(text):
            self.starts.append(start)
            self.ends.append(end)

    def first_in(self, start: int, end: int) -> int | None:
        """The number of the word that holds the first character of a span that is not a space."""
        number = bisect_right(self.ends, start)
        is_word = number < len(self.starts) and self.starts[number] < end and start < end
        return number if is_word else None


# ------------------------------------------------------------------------------- long inputs


def shortened(
    row: Row, limit: int, *, keep_first_text: bool, advice: str = "; stride= explains all of it"
) -> Row:
    """The row cut to `limit` tokens, with a note; special tokens are kept.

    The longer text of a pair loses tokens first; with `keep_first_text` (the question of a
    question-answering pair) only the second does. The note ends with the advice.
    """
    if len(row) <= limit:
        return row
    segments = row.segments or tuple(None if s else 0 for s in row.is_special)
    content = {s: [p for p, q in enumerate(segments) if q == s] for s in (0, 1)}
    cut = surplus_of(len(content[0]), len(content[1]), len(row) - limit, keep_first_text)
    if any(cut[s] and cut[s] >= len(content[s]) for s in (0, 1)):
        raise InvalidInput(
            f"the input has {len(row)} tokens and the model takes {limit}: "
            "no token of the text to be cut would be left. Shorten the first text."
        )
    dropped = {p for s in (0, 1) for p in content[s][len(content[s]) - cut[s] :]}
    kept = [p for p in range(len(row)) if p not in dropped]
    return row.take(kept).noted(
        f"cut to the first {limit} of {len(row)} tokens, the model's limit{advice}"
    )


def surplus_of(first: int, second: int, surplus: int, keep_first_text: bool) -> tuple[int, int]:
    """How many tokens each of two texts loses: the longer one first, until both are equally long."""
    if not second:
        return surplus, 0
    if keep_first_text:
        return 0, surplus
    longer = min(surplus, abs(first - second))
    rest = surplus - longer
    # If both are equally long, the second loses the odd token.
    cuts = [rest // 2, rest - rest // 2]
    cuts[0 if first > second else 1] += longer
    return cuts[0], cuts[1]


def windows(row: Row, limit: int, stride: int) -> list[list[int]]:
    """Positions of overlapping windows over the last text of a row, each with all special tokens.

    Neighbouring windows share `stride` tokens of text.
    """
    if len(row) <= limit:
        return [list(range(len(row)))]
    segments = row.segments or tuple(None if s else 0 for s in row.is_special)
    last = 1 if 1 in segments else 0
    content = [p for p, segment in enumerate(segments) if segment == last]
    room = limit - (len(row) - len(content))
    if room <= stride:
        raise InvalidInput(
            f"a window has room for {max(room, 0)} tokens of text beside the rest, and stride={stride} "
            "of them would be shared: the windows would not advance. Use a smaller stride."
        )
    result = []
    for start in range(0, len(content), room - stride):
        part = content[start : start + room]
        result.append([*range(content[0]), *part, *range(content[-1] + 1, len(row))])
        if start + room >= len(content):
            break
    return result


# ----------------------------------------------------------------------------------- padding


@dataclass(frozen=True, eq=False)
class Inputs:
    """The tensors a network receives, padded on the right.

    attended: the attention mask. present: which positions are tokens of the row, not padding; they
    include tokens that the caller's mask hides. read: the positions whose logits are wanted, in order;
    None for all of them.
    """

    ids: Ids
    attended: TokenMask
    present: TokenMask
    types: Tensor | None
    read: tuple[int, ...] | None = None

    @property
    def lengths(self) -> Tensor:
        """Number of tokens of each row, padding left out."""
        return self.present.sum(dim=1)

    def repeated(self, count: int) -> Self:
        """The whole batch repeated this many times, one copy after the other."""
        types = None if self.types is None else self.types.repeat(count, 1)
        return replace(
            self,
            ids=self.ids.repeat(count, 1),
            attended=self.attended.repeat(count, 1),
            present=self.present.repeat(count, 1),
            types=types,
        )

    def row(self, number: int) -> Self:
        """One row on its own, without its padding, and with all its logits."""
        alone = self.part((slice(number, number + 1), slice(int(self.lengths[number]))))
        return replace(alone, read=None)

    def columns(self, positions: Tensor) -> Tensor:
        """Where the logits of these positions are among those that are wanted."""
        if self.read is None:
            return positions
        return torch.searchsorted(torch.tensor(self.read, device=positions.device), positions)

    def part(self, place: slice | tuple[slice, slice]) -> Self:
        """Some of the rows, or of their tokens."""
        types = None if self.types is None else self.types[place]
        return replace(
            self,
            ids=self.ids[place],
            attended=self.attended[place],
            present=self.present[place],
            types=types,
        )


class Tokens(Protocol):
    """What a network can read: a row, or a probe of one."""

    @property
    def ids(self) -> Sequence[int]: ...
    @property
    def attended(self) -> Sequence[bool]: ...
    @property
    def types(self) -> Sequence[int] | None: ...
    def __len__(self) -> int: ...


def collate(rows: Sequence[Tokens], pad_id: int, device: torch.device | str = "cpu") -> Inputs:
    """Rows of different lengths as tensors, padded on the right.

    This also suits causal models: no token sees what comes after it, and positions count from the
    first real token.
    """
    width = max(len(row) for row in rows)

    def padded(values: Iterable[Sequence[int]], fill: int) -> Tensor:
        return torch.tensor([[*v, *[fill] * (width - len(v))] for v in values], device=device)

    present = padded([[1] * len(row) for row in rows], 0).bool()
    types = None
    if any(row.types is not None for row in rows):
        types = padded([row.types or [0] * len(row) for row in rows], 0)
    return Inputs(
        ids=padded([row.ids for row in rows], pad_id),
        attended=padded([row.attended for row in rows], 0).bool(),
        present=present,
        types=types,
    )
