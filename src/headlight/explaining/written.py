"""A prompt with its answer after it, as one row; and which of its tokens are a part of the answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from types import MappingProxyType

import regex

from headlight.batch import Row, located
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.continuation import Writing, added_ids, continued
from headlight.explaining.prompts import Prompt
from headlight.models.model import Model
from headlight.units import Span, Unit, checked_spans, sentences, unit_numbers, words

Of = str | Sequence[str | Span]
"""Which parts of an answer are explained: 'answer', 'sentences', 'words', 'tokens', or texts or spans in it."""

SPACED = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Devanagari}\p{N}]")
"""Characters of scripts that put spaces between words."""

ACCENTS = regex.compile(r"[\p{M}\p{Cf}]+")

UNLIKELY = 1e-4
"""A part of an answer whose tokens are less probable than this on average gets a note."""
NEVER = 1e-6
"""So does a single token less probable than this, as 6 of 1,000 tokens of ordinary prose are for `llm`."""


@dataclass(frozen=True)
class Written:
    """A prompt and the row of it and its answer."""

    prompt: Prompt
    row: Row

    @property
    def text(self) -> str:
        """Prompt and answer."""
        return self.row.texts[0]

    @property
    def prompt_end(self) -> int:
        """The first character of the answer."""
        return len(self.prompt.text)

    @property
    def answer(self) -> str:
        """The answer alone."""
        return self.text[self.prompt_end :]

    @property
    def first(self) -> int:
        """The first token of the answer."""
        return len(self.prompt.row)

    @property
    def whole(self) -> Span:
        """The first and last token of the answer."""
        return self.first, len(self.row) - 1

    @property
    def offsets(self) -> tuple[Span, ...]:
        """The places of all tokens in the text."""
        assert self.row.offsets is not None
        return self.row.offsets

    def span_of(self, tokens: Span) -> Span:
        """The characters from one token to another, with accents after them that the tokenizer dropped."""
        places = self.offsets[tokens[0] : tokens[1] + 1]
        end = max(place[1] for place in places)
        later = self.offsets[tokens[1] + 1 :]
        bound = max(end, later[0][0]) if later else len(self.text)
        dropped = ACCENTS.match(self.text, end, bound)
        return min(place[0] for place in places), dropped.end() if dropped else end

    def tokens_in(self, spans: Iterable[Span]) -> list[list[int]]:
        """For each stretch of the text, the tokens of the answer that begin in it."""
        units = [Unit("", *span) for span in spans]
        numbers = unit_numbers(units, self.text, self.offsets[self.first :])
        return [
            [self.first + place for place, own in enumerate(numbers) if own == number]
            for number in range(len(units))
        ]


def written(model: Model, prompt: Prompt, given: str | None, writing: Writing) -> Written:
    """The prompt with the given answer, or with what the model writes before it ends its text."""
    assert model.tokenizer is not None
    if given is not None and not given.strip():
        raise InvalidInput("the answer is empty or only white space: there is nothing to explain.")
    added = added_ids(model, prompt.row, given, writing)
    if given is None:
        special = set(model.tokenizer.all_special_ids)
        while added and added[-1] in special:
            added = added[:-1]
        if not added:
            raise InvalidInput(
                "the model ends its text at once, so there is no answer to explain. Give answer=…, or ask "
                "otherwise."
            )
    row = continued(prompt.row, added, model.tokenizer)
    if row.offsets is None:
        raise InvalidInput(
            f"the tokenizer of {model.name} writes the prompt anew when tokens follow it, so the answer has no "
            "place in the text. Use explain_generation, which explains tokens."
        )
    made = Written(prompt, row)
    if given is None and not made.answer.strip():
        raise InvalidInput("the model wrote only white space. Give answer=…, or ask otherwise.")
    return made if given is None else as_given(model, made, given)


def as_given(model: Model, made: Written, given: str) -> Written:
    """An answer that was given, letter by letter, with notes on how the model reads it."""
    assert model.tokenizer is not None
    before, read = made.prompt.text, made.answer
    notes = []
    is_joined = SPACED.match(given) and SPACED.match(before[-1])
    if is_joined and read == given:
        notes.append(
            f"the answer follows the prompt without a space: '{before[-10:]}{given[:10]}'. Begin it with one "
            "if it belongs there"
        )
    row = made.row
    if read != given:
        notes.append(f"the model reads the answer as {read!r}")
    if read != given and model.tokenizer.is_fast:
        encoding = model.tokenizer(
            given, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        places = [(a + len(before), b + len(before)) for a, b in encoding["offset_mapping"]]
        segments = row.segments or ()
        spans = (*made.offsets[: made.first], *places)
        row = located(replace(row, texts=(before + given,)), spans, segments)
    return replace(made, row=row.noted(*notes))


# ------------------------------------------------------------------------ what cannot follow


def improbable_part(
    made: Written, ranges: Sequence[Span], logs: Sequence[float]
) -> tuple[str, ...]:
    """A note on the part of an answer that the model would hardly have written, if there is one.

    logs: the log-probability of each part.
    """
    means = [own / (last - first + 1) for own, (first, last) in zip(logs, ranges, strict=True)]
    least = min(range(len(means)), key=means.__getitem__)
    if means[least] >= log(UNLIKELY):
        return ()
    start, end = made.span_of(ranges[least])
    said = " ".join(made.text[start:end].split())[:40]
    chance = power_of_ten(logs[least])
    return (f"the model would hardly write '{said}' here: its probability is about {chance}",)


def improbable_token(
    made: Written, ranges: Sequence[Span], logs: Sequence[Sequence[float]]
) -> tuple[str, ...]:
    """A note on the least probable token of an answer, if the model would hardly have written it.

    logs: the log-probabilities of the tokens of each part. A long answer hides one such token in its mean.
    """
    by_place = {
        place: value
        for (first, _), own in zip(ranges, logs, strict=True)
        for place, value in enumerate(own, first)
    }
    least = min(by_place, key=by_place.__getitem__)
    if by_place[least] >= log(NEVER):
        return ()
    start, end = made.span_of((least, least))
    said, before = made.text[start:end].strip(), " ".join(made.text[:start].split())[-20:]
    chance = power_of_ten(by_place[least])
    return (
        f"the model would hardly write {said!r} after '…{before}': its probability is about {chance}",
    )


def power_of_ten(logarithm: float) -> str:
    """A probability that may be too small for a number, from its logarithm."""
    return f"10^{logarithm / log(10):.0f}"


# ----------------------------------------------------------------------------- parts of an answer

PARTS: Mapping[str, Callable[[str], Iterable[Span]]] = MappingProxyType(
    {"answer": lambda text: [(0, len(text))], "sentences": sentences, "words": words}
)
"""Parts that can be found in any answer, by name; 'tokens' are those of the model."""


def check_of(of: Of) -> None:
    """Refuse parts of answers that do not exist, before an answer is written."""
    if isinstance(of, str) and of not in (*PARTS, "tokens"):
        known = ", ".join(map(repr, (*PARTS, "tokens")))
        raise InvalidOption(
            f"of={of!r} does not exist. Use {known}, or a list of texts in the answer, such as of=[{of!r}]."
        )
    if not isinstance(of, str | list | tuple):
        raise InvalidOption(f"of={of!r} is not possible. Use a name, or a list of texts or spans.")
    if not of:
        raise InvalidOption("of=[] asks for no part of the answer.")


def ranges_of(made: Written, of: Of, begin: int = 0) -> list[Span]:
    """The first and last token of every explained part; begin: characters of the answer left out before.

    Parts by name hold all tokens: white space between two of them belongs to the first.
    """
    shift = made.prompt_end + begin
    own = list(range(made.first, len(made.row)))
    if begin:
        own = [place for place in own if made.offsets[place][1] > shift]
    if of == "tokens":
        return [(place, place) for place in own]
    said = made.text[shift:]
    spans = (
        list(PARTS[of](said))
        if isinstance(of, str)
        else checked_spans(said, [found_in(said, part) for part in of], "of")
    )
    parts = [(start + shift, end + shift) for start, end in spans]
    inside = made.tokens_in(parts)
    if isinstance(of, str):
        starts = [tokens[0] for tokens in inside if tokens]
        return [(a, b - 1) for a, b in pairwise([own[0], *starts[1:], len(made.row)])]
    for part, tokens in zip(parts, inside, strict=True):
        if not tokens:
            raise InvalidInput(
                f"no token of the answer begins in {made.text[slice(*part)]!r}, which is a part of a longer "
                "token. Choose a longer part."
            )
    return [(tokens[0], tokens[-1]) for tokens in inside]


def found_in(answer: str, part: str | Span) -> Span:
    """The span of a part that is given as text; refused unless it is in the answer once."""
    if not isinstance(part, str):
        return part
    count = answer.count(part) if part else 0
    if count != 1:
        where = "is not in the answer" if not count else f"is in the answer {count} times"
        raise InvalidInput(
            f"of: {part!r} {where}, {answer!r}. Give a text that is in it once, or the numbers of its first "
            "character and of the one after its last."
        )
    start = answer.index(part)
    return start, start + len(part)
