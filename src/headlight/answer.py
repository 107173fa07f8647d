"""`Answer`: why a language model wrote an answer, as scores of what it read for each explained part of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from headlight.answer_fields import FIELDS, FORMAT_VERSION, PART_FIELDS, UNIT_FIELDS, is_object
from headlight.attribution import Attribution, Explained, frozen
from headlight.display import html_of, show, terminal_form
from headlight.errors import InvalidInput, InvalidOption, missing_extra
from headlight.files.fields import check_fields, list_of
from headlight.files.storage import read_json, save_json
from headlight.frozen import FrozenMapping
from headlight.tokens import in_scale
from headlight.units import Unit, Units, prompt_units, sentences, unit_numbers, units_of, words

if TYPE_CHECKING:
    import pandas
    from rich.console import Console, ConsoleOptions, RenderResult

REMOVED = "removed"
"""The option that names the units of a method that removes whole units; its tokens are these units."""

Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Part:
    """An explained part of an answer, as characters of the whole text.

    value: the number that the scores explain. log_probability: that the model writes this part after all that
    comes before it.
    """

    start: int
    end: int
    value: float
    log_probability: float

    @property
    def probability(self) -> float:
        """How probable this part is after all that comes before it."""
        return float(np.exp(self.log_probability))


@dataclass(frozen=True)
class Citation:
    """A source that carries a sentence of an answer.

    share: of the positive scores of all sources. strength: of the magnitudes of all scores, those of the
    question, the instructions and the answer's own words included.
    """

    sentence: str
    source: str
    number: int
    score: float
    share: float
    strength: float


@dataclass(frozen=True)
class Other:
    """The answer with which one is compared, whose own tokens are not in its text.

    tokens: from the first one on in which the two differ. scores: of these tokens in the difference, that is,
    with their sign turned round.
    """

    text: str
    tokens: tuple[str, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.scores):
            raise InvalidInput(f"{len(self.tokens)} tokens of another answer need as many scores.")


@dataclass(frozen=True, eq=False)
class Answer:
    """Scores [part, token] of everything the model had read, for each explained part of its answer.

    text: the prompt and, from `prompt_end` on, the answer. offsets: characters of the text. units: the
    stretches of the prompt into which `matrix` adds up tokens; `by` chooses others. known: units that came with
    the prompt, such as its sources or turns. through_thoughts: the part of the scores that came to the prompt
    by way of the model's thoughts, if it was asked for. other: what the scores of a contrast (rather_than)
    leave out, because it is not in the text.
    """

    text: str
    prompt_end: int
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    is_special: tuple[bool, ...]
    is_sink: tuple[bool, ...]
    parts: tuple[Part, ...]
    scores: Numbers
    units: tuple[Unit, ...]
    unit: str
    method: str
    model: str
    signed: bool
    known: Mapping[str, tuple[Unit, ...]] = field(default_factory=dict)
    through_thoughts: Numbers | None = None
    other: Other | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("scores", "through_thoughts"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self.checked_scores(name))
        for name in ("known", "options", "versions"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))
        for name in ("offsets", "is_special", "is_sink"):
            if len(getattr(self, name)) != len(self.tokens):
                raise InvalidInput(f"{len(self.tokens)} tokens need as many values of '{name}'.")
        known = [(unit.start, unit.end) for units in self.known.values() for unit in units]
        units = [(unit.start, unit.end) for unit in self.units]
        own = [(part.start, part.end) for part in self.parts]
        check_places((0, len(self.text)), "its text", [(0, self.prompt_end), *self.offsets])
        check_places((0, self.prompt_end), "its prompt", (*units, *known))
        check_places((self.prompt_end, len(self.text)), "the answer itself", own)

    def checked_scores(self, name: str) -> Numbers:
        """Scores that cannot be changed; refused if they are not one finite number per part and token."""
        values: Numbers = np.array(getattr(self, name), copy=True)
        values.flags.writeable = False
        if values.shape != (len(self.parts), len(self.tokens)):
            raise InvalidInput(
                f"'{name}' of an answer has one number per part and token, "
                f"{(len(self.parts), len(self.tokens))}; these are {values.shape}."
            )
        if not np.isfinite(values).all():
            raise InvalidInput(f"'{name}' of an answer must be finite numbers.")
        return values

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # arrays come back from a pickle writable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        best = ", ".join(
            f"{' '.join(name.split())[:40]!r} {score:+.3g}" for name, score, _ in self.top(3)
        )
        return f"<Answer {self.answer[:60]!r} by {self.model}, {self.method}: {best}>"

    # ------------------------------------------------------------------------------ the texts

    @property
    def prompt(self) -> str:
        """What the model was given, as it read it."""
        return self.text[: self.prompt_end]

    @property
    def answer(self) -> str:
        """What the model wrote."""
        return self.text[self.prompt_end :]

    @property
    def part_texts(self) -> tuple[str, ...]:
        """The explained parts of the answer."""
        return tuple(self.text[part.start : part.end].strip() for part in self.parts)

    @property
    def log_probability(self) -> float:
        """That of all explained parts together."""
        return sum(part.log_probability for part in self.parts)

    # ----------------------------------------------------------------------------- the scores

    @property
    def groups(self) -> list[int | None]:
        """The unit of each token, None for those in no unit: special ones, and the answer's own."""
        numbers = unit_numbers(self.units, self.prompt, self.offsets)
        return [None if s else n for n, s in zip(numbers, self.is_special, strict=True)]

    @property
    def matrix(self) -> Numbers:
        """Scores [part, unit]: those of the unit's tokens, added up."""
        return self.added_up(self.scores)

    def added_up(self, scores: Numbers) -> Numbers:
        """Scores [part, token] as [part, unit]."""
        total = np.zeros((len(scores), len(self.units)))
        for place, number in enumerate(self.groups):
            if number is not None:
                total[:, number] += scores[:, place]
        return total

    @property
    def rest(self) -> Numbers:
        """For each part, the scores of tokens that are in no unit, added up."""
        rest: Numbers = self.scores.sum(1, dtype=np.float64) - self.matrix.sum(1)
        return rest

    @property
    def in_scale(self) -> NDArray[np.bool_]:
        """Which units set the scale of a picture: those that do not hold a sink, as far as others are left."""
        sinks = {n for n, sink in zip(self.groups, self.is_sink, strict=True) if sink}
        flags = tuple(number in sinks for number in range(len(self.units)))
        return np.array(in_scale((False,) * len(flags), flags))

    @property
    def completeness(self) -> tuple[float | None, ...]:
        """For each part, the sum of all scores as a share of the number they explain; None if that is 0.

        In a contrast, those of the other answer's own tokens are among them.
        """
        sums = self.scores.sum(1, dtype=np.float64) + (sum(self.other.scores) if self.other else 0)
        return tuple(
            float(total / part.value) if part.value else None
            for total, part in zip(sums, self.parts, strict=True)
        )

    def by(self, units: Units) -> Self:
        """The same answer with other units of the prompt: a name, spans of characters, or a function."""
        chosen = prompt_units(self.prompt, units, self.known, self.offsets, self.is_special)
        if REMOVED in self.options:
            self.check_joined(chosen)
        return replace(self, units=chosen, unit=units if isinstance(units, str) else "spans")

    def check_joined(self, chosen: Sequence[Unit]) -> None:
        """Refuse units that would split those that a method removed, or leave some of them out."""
        for start, end in self.offsets:
            if not any(unit.start <= start and end <= unit.end for unit in chosen):
                raise InvalidOption(
                    f"{self.method} has scores of whole {self.options[REMOVED]}, which can be joined but "
                    "not split. Explain with other units=, or with a method of tokens, such as attn_lrp."
                )

    def words(self) -> Self:
        """The same answer by words of the prompt."""
        return self.by("words")

    def per(self, parts: str) -> Self:
        """The same answer with the scores of its parts added up by 'words', 'sentences' or the whole 'answer'.

        Parts can be joined, never split: explain with of='tokens' or of='sentences' for smaller ones. White
        space between two words or sentences counts with the first.
        """
        splits = {"answer": lambda text: [(0, len(text))], "sentences": sentences, "words": words}
        if parts not in splits:
            raise InvalidOption(f"per('{parts}') does not exist. Use one of {', '.join(splits)}.")
        spans = [(a + self.prompt_end, b + self.prompt_end) for a, b in splits[parts](self.answer)]
        holders = [Unit("", start, end) for start, end in spans]
        numbers = unit_numbers(holders, self.text, [(p.start, p.end) for p in self.parts])
        groups: dict[int, list[int]] = {}
        last = next((number for number in numbers if number is not None), 0)
        for part, number in enumerate(numbers):
            last = last if number is None else number
            groups.setdefault(last, []).append(part)
        kept = list(groups.values())
        joined = [joined_part([self.parts[n] for n in group]) for group in kept]

        def added(scores: Numbers) -> Numbers:
            return np.stack([scores[group].sum(0, dtype=np.float64) for group in kept])

        thoughts = None if self.through_thoughts is None else added(self.through_thoughts)
        return replace(
            self, parts=tuple(joined), scores=added(self.scores), through_thoughts=thoughts
        )

    def top(self, count: int = 5, part: int | None = None) -> list[tuple[str, float, int]]:
        """The units with the largest scores by magnitude, as (text, score, number), for one part or all."""
        scores = self.matrix.sum(0) if part is None else self.matrix[self.checked_part(part)]
        shown = self.in_scale
        order = [int(n) for n in np.argsort(-np.abs(scores), kind="stable") if shown[n]]
        return [(self.units[n].name, float(scores[n]), n) for n in order[:count]]

    def cite(self, count: int = 3) -> list[Citation]:
        """For each sentence of the answer, up to `count` sources with positive scores, the largest first.

        Without sources, or if a method removed units, the units are cited. A part that is no longer than a
        sentence counts with its sentence; if the answer was explained as a whole, it is cited as a whole.
        """
        is_split = "sources" in self.known and REMOVED not in self.options
        by_source = self.by("sources") if is_split else self
        cited = by_source.per("sentences")
        everything = np.abs(cited.scores).sum(1, dtype=np.float64)
        everything += np.abs(self.other.scores).sum() if self.other else 0
        found = []
        for sentence, scores, whole in zip(cited.part_texts, cited.matrix, everything, strict=True):
            positive = scores.clip(min=0).sum() or 1.0
            order = [int(n) for n in np.argsort(-scores, kind="stable") if scores[n] > 0]
            for n in order[:count]:
                score = float(scores[n])
                shares = (float(score / positive), float(score / (whole or 1.0)))
                found.append(Citation(sentence, cited.units[n].name, n, score, *shares))
        return found

    def attribution(self, part: int | None = None) -> Attribution:
        """The scores of one part, or of all of them, as an attribution of the tokens."""
        chosen = range(len(self.parts)) if part is None else [self.checked_part(part)]
        whole = joined_part([self.parts[number] for number in chosen])
        label = self.text[whole.start : whole.end].strip()
        places = [None if special else 0 for special in self.is_special]
        numbers = unit_numbers(units_of(self.text, "words"), self.text, self.offsets)
        return Attribution(
            tokens=self.tokens,
            scores=self.scores[list(chosen)].sum(0, dtype=np.float64),
            target=Explained(label, label, whole.value, whole.probability, None, "logit"),
            method=self.method,
            model=self.model,
            signed=self.signed,
            is_special=self.is_special,
            is_sink=self.is_sink,
            texts=(self.text,),
            offsets=self.offsets,
            segments=tuple(places),
            word_ids=tuple(None if p is None else n for p, n in zip(places, numbers, strict=True)),
            options=self.options,
            versions=self.versions,
            notes=self.notes,
        )

    def checked_part(self, part: int) -> int:
        """The number of a part; refused if there is none."""
        if not -len(self.parts) <= part < len(self.parts):
            raise InvalidOption(
                f"part {part} does not exist: {len(self.parts)} of the answer are explained, from 0 on."
            )
        return part % len(self.parts)

    # ---------------------------------------------------------------------------- other forms

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        thoughts = self.through_thoughts
        plain |= {
            "format": FORMAT_VERSION,
            "parts": [asdict(part) for part in self.parts],
            "scores": self.scores.tolist(),
            "units": [asdict(unit) for unit in self.units],
            "known": {name: [asdict(u) for u in units] for name, units in self.known.items()},
            "through_thoughts": None if thoughts is None else thoughts.tolist(),
            "other": None if self.other is None else asdict(self.other),
            "options": dict(self.options),
            "versions": dict(self.versions),
        }
        return dict(json.loads(json.dumps(plain)))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The answer from which `to_dict` made these values."""
        check_fields(plain, FIELDS, "an answer")
        if not all(list_of(is_object(UNIT_FIELDS))(units) for units in plain["known"].values()):
            raise InvalidInput("the field 'known' of an answer must hold lists of units.")
        if not plain["parts"] or not plain["tokens"]:
            raise InvalidInput("an answer needs at least one part and one token.")
        for name in ("scores", "through_thoughts"):
            if plain[name] is not None and len({len(row) for row in plain[name]}) != 1:
                raise InvalidInput(f"the rows of '{name}' of an answer differ in length.")
        thoughts = plain["through_thoughts"]
        values = {name: frozen(plain[name]) for name in FIELDS if name != "format"}
        return cls(
            **values
            | {
                "parts": tuple(Part(**{n: p[n] for n in PART_FIELDS}) for p in plain["parts"]),
                "scores": np.array(plain["scores"], dtype=np.float64),
                "units": stored_units(plain["units"]),
                "known": {name: stored_units(units) for name, units in plain["known"].items()},
                "through_thoughts": None if thoughts is None else np.array(thoughts, np.float64),
                "other": stored_other(plain["other"]),
            }
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the answer to a JSON file, whole or not at all."""
        save_json(path, self.to_dict(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an answer that `save` wrote."""
        return cls.from_dict(read_json(path, "answer"))

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table with one row per part of the answer and unit of the prompt."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra("pandas", "data", "to_dataframe()") from error
        rows = [
            (number, text, unit.name, unit.start, unit.end, float(score))
            for number, (text, scores) in enumerate(zip(self.part_texts, self.matrix, strict=True))
            for unit, score in zip(self.units, scores, strict=True)
        ]
        return pandas.DataFrame(
            rows, columns=["part", "part_text", "unit", "start", "end", "score"]
        )

    # ------------------------------------------------------------------------------- display

    def show(self) -> None:
        """Print the answer with its citations and scores, in a terminal or a notebook."""
        show(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)


def check_places(bounds: tuple[int, int], name: str, places: Iterable[tuple[int, int]]) -> None:
    """Refuse characters that are not within these bounds, which have a name."""
    for start, end in places:
        if not bounds[0] <= start <= end <= bounds[1]:
            raise InvalidInput(f"characters {start} to {end} of an answer are outside {name}.")


def joined_part(parts: Sequence[Part]) -> Part:
    """Neighbouring parts as one."""
    return Part(
        min(part.start for part in parts),
        max(part.end for part in parts),
        sum(part.value for part in parts),
        sum(part.log_probability for part in parts),
    )


def stored_other(plain: Mapping[str, Any] | None) -> Other | None:
    """The other answer of a contrast from its stored form."""
    if plain is None:
        return None
    return Other(plain["text"], tuple(plain["tokens"]), tuple(map(float, plain["scores"])))


def stored_units(units: Sequence[Mapping[str, Any]]) -> tuple[Unit, ...]:
    """Units from their stored form."""
    return tuple(Unit(unit["name"], unit["start"], unit["end"]) for unit in units)
