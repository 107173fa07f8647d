"""From the names of ablations in a call to answers whose scores are those of whole units of the prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headlight.answer import REMOVED, Answer, Part, prompt_units
from headlight.batch import Row
from headlight.explaining.ablation import ABLATIONS, UnitScores
from headlight.explaining.batches import installed_versions, written_options
from headlight.explaining.plan import Method, completed, names_of
from headlight.explaining.prompts import Prompt
from headlight.explaining.removal import Divided, Removal
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.registry.entries import Entry, check_given, parse_specification
from headlight.units import Unit, Units, unit_numbers

Ranges = Sequence[tuple[int, int]]
"""The first and last token of each explained part of an answer."""


@dataclass(frozen=True)
class Calls:
    """The ablations of a call, and its other methods with their options.

    names: of all, in the order of the call; () for the default method. others: [] if there are only ablations.
    """

    ablations: tuple[Entry, ...]
    others: Method | Sequence[Method] | None
    options: Mapping[str, Any]
    names: tuple[str, ...] = ()


def is_ablation(method: Method) -> bool:
    """Whether a name or NAME:OPTION=VALUE is that of an ablation."""
    return parse_specification(method)[0] in ABLATIONS


def entry_of(method: Method) -> Entry:
    """The ablation or method of a name, with the options that the name settles."""
    return (ABLATIONS if is_ablation(method) else METHODS).specified(method)


def asked_for(
    method: Method | Sequence[Method] | None, options: Mapping[str, Any], seed: int
) -> Calls:
    """The ablations among the methods of a call, with all their options, and what is left of the call.

    seed: of the random choices of ablations, unless their own name settles it.
    """
    names = [] if method is None else names_of(method)
    if not any(map(is_ablation, names)):
        return Calls((), method, options)
    own = [entry_of(name) for name in names if is_ablation(name)]
    others = [name for name in names if not is_ablation(name)]
    rest = [entry_of(name) for name in others]
    check_given([*own, *rest], {name: value for name, value in options.items() if name != "memory"})
    taken = {"memory", *(option for entry in rest for option in entry.options)}
    return Calls(
        tuple(completed(entry, {"seed": seed, **options}, str) for entry in own),
        others,
        {name: value for name, value in options.items() if name in taken},
        tuple(dict.fromkeys(entry_of(name).name for name in names)),
    )


@dataclass(frozen=True, eq=False)
class Ablatable:
    """A prompt with its answer, of which ablations remove units. unit: the name of these units."""

    prompt: Prompt
    row: Row
    ranges: Ranges
    units: tuple[Unit, ...]
    unit: str

    @property
    def divided(self) -> Divided:
        """Its tokens by unit and part; special tokens are in no unit."""
        size = len(self.prompt.row)
        assert self.row.offsets is not None
        numbers = unit_numbers(self.units, self.prompt.text, self.row.offsets[:size])
        flags = self.row.is_special[:size]
        units = (None if special else n for n, special in zip(numbers, flags, strict=True))
        return Divided(self.row.ids, tuple(units), tuple(self.ranges))


def ablatable(prompt: Prompt, row: Row, ranges: Ranges, units: Units | None) -> Ablatable:
    """A prompt and answer in the units that are asked for; by default sources, else sentences."""
    assert row.offsets is not None
    own = "sources" if "sources" in prompt.known else "sentences"
    chosen = own if units is None else units
    size = len(prompt.row)
    found = prompt_units(
        prompt.text, chosen, prompt.known, row.offsets[:size], row.is_special[:size]
    )
    return Ablatable(prompt, row, ranges, found, chosen if isinstance(chosen, str) else "spans")


def ablated(
    model: Model, text: Ablatable, entries: Sequence[Entry], batch_size: int = 32
) -> dict[str, Answer]:
    """The answers of ablations, by name; they share what they read of the model."""
    removal = Removal(model, text.divided, batch_size)
    answers = {}
    for entry in entries:
        found: UnitScores = entry.function(removal, **entry.settled)
        answers[entry.name] = unit_answer(model, text, removal, entry, found)
    return answers


def unit_answer(
    model: Model, text: Ablatable, removal: Removal, entry: Entry, found: UnitScores
) -> Answer:
    """The answer of an ablation, whose tokens are the units that it removes."""
    offsets = text.row.offsets
    assert offsets is not None
    logs = removal.log_probabilities([removal.whole])[0]
    parts = [
        Part(
            min(start for start, _ in offsets[first : last + 1]),
            max(end for _, end in offsets[first : last + 1]),
            float(value),
            float(log),
        )
        for (first, last), value, log in zip(text.ranges, found.value, logs, strict=True)
    ]
    flags = (False,) * len(text.units)
    return Answer(
        text=text.row.texts[0],
        prompt_end=len(text.prompt.text),
        tokens=tuple(unit.name for unit in text.units),
        offsets=tuple((unit.start, unit.end) for unit in text.units),
        is_special=flags,
        is_sink=flags,
        parts=tuple(parts),
        scores=found.scores,
        units=text.units,
        unit=text.unit,
        method=entry.name,
        model=model.name,
        signed=entry.signed,
        known=text.prompt.known,
        options={REMOVED: text.unit, **written_options(entry.settled)},
        versions=installed_versions(),
    )


def difference(answer: Answer, other: Answer) -> Answer:
    """Why this answer rather than another one after the same prompt: the difference of their scores."""
    (part,), (left,) = answer.parts, other.parts
    chance = np.exp(np.clip(part.log_probability - left.log_probability, -700, 700))
    name = other.answer
    return replace(
        answer,
        scores=answer.scores - other.scores,
        parts=(replace(part, value=part.value - left.value),),
        notes=(
            *answer.notes,
            f"rather than {name!r}: the answer is {chance:.3g} times as probable",
        ),
        options={**answer.options, "rather_than": name},
    )
