"""Resolving a target for each task: which logits of a row are explained, and where they are read."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.batch import Row
from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.models.model import Model, Task
from headlight.target import Label, Target

LONGEST_ANSWER = 30
"""Longest answer in tokens when the best span is searched, as in the usual SQuAD scripts."""

NAME_ANOTHER = "the target may name another"


@dataclass(frozen=True)
class Term:
    """One logit of the target: at a token position (0 for pooled heads), of a class, with a sign."""

    position: int
    index: int
    sign: float = 1.0


Places = tuple[tuple[int, float], ...]
"""Token positions that are read, each with its weight."""

FEW_PLACES = 2
"""A head that reads more tokens than this reads the whole text rather than places in it."""


@dataclass(frozen=True)
class ResolvedTarget:
    """The target of one row: its terms, where it is read (None: not known), and its name for people.

    note: what was chosen if the target left a choice open.
    """

    terms: tuple[Term, ...]
    read_at: Places | None
    label: str
    predicted: str
    note: str = ""

    @property
    def positions(self) -> tuple[int, ...] | None:
        """The tokens at which the target is read; None if they are many or not known."""
        if self.read_at is None or len(self.read_at) > FEW_PLACES:
            return None
        return tuple(position for position, _ in self.read_at)


@dataclass(frozen=True, eq=False)
class Unresolved:
    """A target to be resolved, with its model and row and the logits [position, class] of the row.

    read: the positions of the logits, if there are not those of all tokens.
    """

    target: Target
    model: Model
    row: Row
    logits: Tensor
    is_released: bool
    read: tuple[int, ...] | None = None

    def logits_at(self, position: int) -> Tensor:
        """The logits of all classes at a token."""
        return self.logits[position if self.read is None else self.read.index(position)]


# ---------------------------------------------------------------------------- classification


def resolve_class(asked: Unresolved) -> ResolvedTarget:
    """One class of a pooled head."""
    is_value = asked.model.task is Task.REGRESSION
    predicted = 0 if is_value else int(asked.logits[0].argmax())
    resolved = resolved_class(asked, 0, pooled_at(asked.model, asked.row), predicted)
    count = asked.logits.shape[-1]
    if is_value and count > 1 and asked.target.label is None:
        return replace(resolved, note=f"the first of {count} values is explained; {NAME_ANOTHER}")
    return resolved


def resolved_class(
    asked: Unresolved, position: int, read_at: Places | None, predicted: int
) -> ResolvedTarget:
    """The target for a class, or for one class rather than another, at one position."""
    target, model, count = asked.target, asked.model, asked.logits.shape[-1]
    index = predicted if target.label is None else class_index(target.label, model, count)
    terms = [Term(position, index)]
    name = model.labels.get(index, str(index))
    if target.contrast is not None:
        other = class_index(target.contrast, model, count)
        terms.append(Term(position, other, -1.0))
        name = f"{name} − {model.labels.get(other, str(other))}"
    return ResolvedTarget(tuple(terms), read_at, name, model.labels.get(predicted, str(predicted)))


def class_index(label: Label, model: Model, count: int) -> int:
    """The index of a class given by name or index."""
    if isinstance(label, int):
        if not 0 <= label < count:
            raise InvalidOption(
                f"label {label} does not exist: {model.name} has {count} labels, 0 to {count - 1}."
            )
        return label
    exact = [index for index, name in model.labels.items() if name == label]
    alike = [index for index, name in model.labels.items() if name.lower() == label.lower()]
    indices = exact or alike
    if not indices:
        raise unknown_name("label", label, model.labels.values())
    if len(indices) > 1:
        raise InvalidOption(
            f"{len(indices)} labels of {model.name} are called '{label}': {', '.join(map(str, indices))}. "
            "Give the number of one of them."
        )
    return indices[0]


def pooled_at(model: Model, row: Row) -> Places | None:
    """Where a head that decides once reads a row; None if that is not known."""
    if model.readout.refusal:
        return None
    weights = model.readout.weights(row, model.own_pad_id)
    return tuple((position, weight) for position, weight in enumerate(weights) if weight)


def resolve_token_label(asked: Unresolved) -> ResolvedTarget:
    """One class at one token; by default the first mask, else the most certain token not labelled 'O'."""
    position, note = chosen_position(asked.target, asked.row), ""
    if position is None:
        position, note = first_mask(asked) or surest_token(asked)
    predicted = int(asked.logits[position].argmax())
    return replace(resolved_class(asked, position, ((position, 1.0),), predicted), note=note)


def first_mask(asked: Unresolved) -> tuple[int, str] | None:
    """The first mask, with a note if there are others; None without a mask."""
    masks = masked_positions(asked.model, asked.row)
    if not masks:
        return None
    said = f"the first of {len(masks)} masks is explained, token {masks[0]}; {NAME_ANOTHER}"
    return masks[0], said if len(masks) > 1 else ""


def surest_token(asked: Unresolved) -> tuple[int, str]:
    """The token with the most certain label other than 'O', and a note that says how it was chosen."""
    model, row, logits = asked.model, asked.row, asked.logits
    probabilities = logits.softmax(-1).amax(-1)
    outside = [index for index, name in model.labels.items() if name.upper() == "O"]
    plain = torch.tensor([int(p) in outside for p in logits.argmax(-1)], device=logits.device)
    special = torch.tensor(row.is_special, device=logits.device)
    # Probabilities are at most 1, so tokens labelled 'O' rank below all others, and special tokens last.
    rank = probabilities - plain.to(probabilities) - 2 * special.to(probabilities)
    position = int(rank.argmax())
    among = "all are labelled 'O'" if bool(plain[position]) else "the surest that has a label"
    reason = among if outside else "the surest"
    return position, (
        f"token {position}, '{row.tokens[position]}', is explained ({reason}); {NAME_ANOTHER}"
    )


def chosen_position(target: Target, row: Row) -> int | None:
    """The token position that the target names, if it names one."""
    if target.word is not None:
        places = [p for p, word in enumerate(row.word_ids or ()) if word == target.word]
        if not places:
            raise InvalidOption(f"the text has no word number {target.word} (words count from 0).")
        return places[0]
    if target.position is None:
        return None
    if not -len(row) <= target.position < len(row):
        raise InvalidOption(
            f"position {target.position} does not exist: the input has {len(row)} tokens."
        )
    return target.position % len(row)


def masked_positions(model: Model, row: Row) -> list[int]:
    """The positions of the tokenizer's mask token."""
    mask_id = None if model.tokenizer is None else model.tokenizer.mask_token_id
    return [p for p, token in enumerate(row.ids) if mask_id is not None and token == mask_id]


# ------------------------------------------------------------------------ question answering


def resolve_answer(asked: Unresolved) -> ResolvedTarget:
    """Start and end of an answer span, or one of them; by default of the best valid span."""
    target, row = asked.target, asked.row
    part = target.label if target.label in ("start", "end") else target.part
    predicted = best_span(asked.logits, answerable(row, asked.logits))
    start, end = chosen_span(asked, part == "span") or predicted
    ends = {"start": Term(start, 0), "end": Term(end, 1)}
    terms = tuple(ends.values()) if part == "span" else (ends[str(part)],)
    name = answer_name(row, start, end)
    if part != "span":
        name = f"{part} of the answer, '{row.tokens[terms[0].position]}' at {terms[0].position}"
    read_at = tuple((term.position, 1.0) for term in terms)
    return ResolvedTarget(terms, read_at, name, answer_name(row, *predicted))


def chosen_span(asked: Unresolved, is_whole: bool) -> tuple[int, int] | None:
    """The span that the target names, or the best start and end chosen separately; None for the best span."""
    target, row, logits = asked.target, asked.row, asked.logits
    if target.span is not None:
        start, end = (position % len(row) for position in target.span)
        if not -len(row) <= min(target.span) <= max(target.span) < len(row) or start > end:
            raise InvalidOption(
                f"span {target.span} is not a span of the input, which has {len(row)} tokens."
            )
        return start, end
    if target.label is not None and target.label not in ("start", "end"):
        return find_answer(target.label, row)
    if asked.is_released:
        start, end = logits.argmax(0).tolist()
        return start, end
    if is_whole:
        return None
    allowed = answerable(row, logits)[:, None]
    start, end = logits.masked_fill(allowed == 0, -torch.inf).argmax(0).tolist()
    return start, end


def answerable(row: Row, logits: Tensor) -> Tensor:
    """1 where an answer may be: in the second text of a pair, else at every token that is not special."""
    segments = row.segments or (None,) * len(row)
    if 1 in segments:
        return torch.tensor([float(s == 1) for s in segments], device=logits.device)
    allowed = [float(seen and not s) for seen, s in zip(row.attended, row.is_special, strict=True)]
    return torch.tensor(allowed if any(allowed) else [1.0] * len(row), device=logits.device)


def best_span(logits: Tensor, allowed: Tensor) -> tuple[int, int]:
    """The span start ≤ end with the largest sum of logits."""
    count = len(logits)
    sums = logits[:, None, 0] + logits[None, :, 1]
    # The band start ≤ end < start + LONGEST_ANSWER.
    order = torch.ones(count, count, device=logits.device).triu().tril(LONGEST_ANSWER - 1)
    sums = sums.masked_fill((order * allowed[:, None] * allowed[None, :]) == 0, -torch.inf)
    return divmod(int(sums.argmax()), count)


def find_answer(answer: Label, row: Row) -> tuple[int, int]:
    """The tokens of an answer given as text."""
    if not isinstance(answer, str) or not row.texts or not row.offsets or not row.segments:
        raise InvalidOption(
            f"target {answer!r} is not an answer. Give its text, 'start', 'end', or Target(span=(first, last))."
        )
    segment = len(row.texts) - 1
    begin = row.texts[segment].find(answer)
    inside = [
        p
        for p, (start, end) in enumerate(row.offsets)
        if row.segments[p] == segment and begin <= start < end <= begin + len(answer)
    ]
    if begin < 0 or not answer or not inside:
        raise InvalidOption(
            f"the answer {answer!r} is not in the context. Give its text exactly as it stands there."
        )
    return inside[0], inside[-1]


def answer_name(row: Row, start: int, end: int) -> str:
    """The name of an answer for people: its text, or its tokens if there is no text."""
    segments = row.segments or (None,) * len(row)
    is_placed = row.texts and row.offsets and segments[start] is not None
    if row.offsets and is_placed and segments[start] == segments[end]:
        return row.texts[segments[start] or 0][row.offsets[start][0] : row.offsets[end][1]].strip()
    return " ".join(row.tokens[start : end + 1])


# --------------------------------------------------------------------------- language models


def resolve_masked(asked: Unresolved) -> ResolvedTarget:
    """A vocabulary token at the mask."""
    position, note = chosen_position(asked.target, asked.row), ""
    if position is None:
        first = first_mask(asked)
        if first is None:
            tokenizer = asked.model.tokenizer
            mark = f"Write {tokenizer.mask_token} where" if tokenizer else "Say where"
            raise InvalidInput(
                f"the input has no mask token to predict. {mark} the model should fill in a token, "
                "or choose a token with Target(position=…)."
            )
        position, note = first
    return replace(resolved_token(asked, position), note=note)


def resolve_next(asked: Unresolved) -> ResolvedTarget:
    """The token after the last one or after a position that the target names, or tokens of the row itself."""
    places = read_positions(asked.target, asked.row)
    if asked.target.span is None:
        return resolved_token(asked, places[0])
    row, weights = asked.row, asked.target.weights or (1.0,) * len(places)
    terms = (Term(p, row.ids[p + 1], w) for p, w in zip(places, weights, strict=True))
    predicted = int(asked.logits_at(places[0]).argmax())
    name = answer_name(row, places[0] + 1, places[-1] + 1)
    read_at = tuple(zip(places, weights, strict=True))
    return ResolvedTarget(tuple(terms), read_at, name, token_name(predicted, asked.model))


def read_positions(target: Target, row: Row) -> tuple[int, ...]:
    """The tokens after which a causal language model is read."""
    if target.span is not None:
        first, last = target.span
        if not 0 < first <= last < len(row):
            raise InvalidOption(
                f"span {target.span} does not exist: the input has {len(row)} tokens, and nothing comes "
                "before its first, token 0."
            )
        return tuple(range(first - 1, last))
    position = chosen_position(target, row)
    return (
        max(p for p, seen in enumerate(row.attended) if seen) if position is None else position,
    )


def resolved_token(asked: Unresolved, position: int) -> ResolvedTarget:
    """The target for a vocabulary token, or for one rather than another."""
    target, model, logits = asked.target, asked.model, asked.logits_at(position)
    predicted = int(logits.argmax())
    chosen = predicted if target.label is None else token_id(target.label, model, len(logits))
    terms = [Term(position, chosen)]
    name = token_name(chosen, model)
    if target.contrast is not None:
        other = token_id(target.contrast, model, len(logits))
        terms.append(Term(position, other, -1.0))
        name = f"{name} − {token_name(other, model)}"
    return ResolvedTarget(tuple(terms), ((position, 1.0),), name, token_name(predicted, model))


def token_id(token: Label, model: Model, count: int) -> int:
    """The id of a vocabulary token; a word is taken with a space before it if that is one token."""
    if isinstance(token, int):
        if not 0 <= token < count:
            raise InvalidOption(
                f"token id {token} does not exist: the vocabulary has {count} tokens."
            )
        return token
    if model.tokenizer is None:
        raise InvalidOption(
            f"token {token!r} cannot be looked up without a tokenizer. Give its id."
        )
    known = model.tokenizer.convert_tokens_to_ids(token)
    pieces: list[int] = []
    for spelling in (f" {token}", token):
        pieces = model.tokenizer(spelling, add_special_tokens=False)["input_ids"]
        if len(pieces) == 1 and pieces[0] != model.tokenizer.unk_token_id:
            return int(pieces[0])
    if isinstance(known, int) and known != model.tokenizer.unk_token_id:
        return known
    shown = " ".join(model.tokenizer.convert_ids_to_tokens(pieces))
    raise InvalidOption(
        f"'{token}' is not one token of the model's vocabulary (it becomes: {shown}). "
        "Choose a word that is one token, or give a token id."
    )


def token_name(index: int, model: Model) -> str:
    """The text of a vocabulary token, for people."""
    if model.tokenizer is None:
        return str(index)
    text = str(model.tokenizer.decode([index]))
    return text.strip() or repr(text)


RESOLVERS = {
    Task.SEQUENCE: resolve_class,
    Task.REGRESSION: resolve_class,
    Task.TOKEN: resolve_token_label,
    Task.QUESTION: resolve_answer,
    Task.MASKED: resolve_masked,
    Task.CAUSAL: resolve_next,
}
