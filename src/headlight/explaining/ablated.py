"""From the names of ablations in a call to answers whose scores are those of whole units of the prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headlight.answer import REMOVED, Answer, Part
from headlight.explaining.ablation import ABLATIONS, UnitScores
from headlight.explaining.batches import installed_versions, written_options
from headlight.explaining.plan import Method, completed, names_of
from headlight.explaining.removal import QUIETLY, Divided, Reading, Removal
from headlight.explaining.written import Written, improbable_part
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.registry.entries import Entry, check_given, parse_specification
from headlight.units import Span, Unit, Units, prompt_units, unit_numbers


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


def calls_of(method: Method | Sequence[Method] | None, options: Mapping[str, Any]) -> Calls:
    """The ablations among the methods of a call, with all their options, and what is left of the call."""
    names = [] if method is None else names_of(method)
    if not any(map(is_ablation, names)):
        return Calls((), method, options)
    own = [entry_of(name) for name in names if is_ablation(name)]
    others = [name for name in names if not is_ablation(name)]
    rest = [entry_of(name) for name in others]
    check_given([*own, *rest], {name: value for name, value in options.items() if name != "memory"})
    taken = {"memory", *(option for entry in rest for option in entry.options)}
    return Calls(
        tuple(completed(entry, options, str) for entry in own),
        others,
        {name: value for name, value in options.items() if name in taken},
        tuple(dict.fromkeys(entry_of(name).name for name in names)),
    )


@dataclass(frozen=True, eq=False)
class Ablatable:
    """A prompt with its answer, of which ablations remove units. unit: the name of these units.

    ranges: the first and last token of each explained part of the answer.
    """

    made: Written
    ranges: Sequence[Span]
    units: tuple[Unit, ...]
    unit: str

    @property
    def divided(self) -> Divided:
        """Its tokens by unit and part; special tokens are in no unit."""
        prompt = self.made.prompt
        numbers = unit_numbers(self.units, prompt.text, prompt.row.offsets or ())
        flags = prompt.row.is_special
        units = (None if special else n for n, special in zip(numbers, flags, strict=True))
        return Divided(self.made.row.ids, tuple(units), tuple(self.ranges))


def ablatable(made: Written, ranges: Sequence[Span], units: Units | None) -> Ablatable:
    """A prompt and answer in the units that are asked for; by default sources, else sentences."""
    prompt = made.prompt
    own = "sources" if "sources" in prompt.known else "sentences"
    chosen = own if units is None else units
    row = prompt.row
    found = prompt_units(prompt.text, chosen, prompt.known, row.offsets or (), row.is_special)
    return Ablatable(made, ranges, found, chosen if isinstance(chosen, str) else "spans")


def ablated_answers(
    model: Model,
    texts: Sequence[Ablatable],
    others: Sequence[Written] | None,
    entries: Sequence[Entry],
    reading: Reading,
) -> dict[str, list[Answer]]:
    """The answers of ablations by name; if there are others, why each rather than the other one."""
    found = [ablated(model, text, entries, reading) for text in texts]
    for number, other in enumerate(others or ()):
        same = replace(texts[number], made=other, ranges=[other.whole])
        left = ablated(model, same, entries, reading)
        found[number] = {
            name: difference(answer, left[name]) for name, answer in found[number].items()
        }
    return {entry.name: [own[entry.name] for own in found] for entry in entries}


def ablated(
    model: Model, text: Ablatable, entries: Sequence[Entry], reading: Reading = QUIETLY
) -> dict[str, Answer]:
    """The answers of ablations to one text, by name; they share what they read of the model."""
    removal = Removal(model, text.divided, reading)
    answers = {}
    for entry in entries:
        found: UnitScores = entry.function(removal, **entry.settled)
        answers[entry.name] = unit_answer(model, text, removal, entry, found)
    return answers


def unit_answer(
    model: Model, text: Ablatable, removal: Removal, entry: Entry, found: UnitScores
) -> Answer:
    """The answer of an ablation, whose tokens are the units that it removes."""
    made, logs = text.made, removal.log_probabilities([removal.whole])[0]
    parts = [
        Part(*made.span_of(span), float(value), float(log))
        for span, value, log in zip(text.ranges, found.value, logs, strict=True)
    ]
    flags = (False,) * len(text.units)
    return Answer(
        text=made.text,
        prompt_end=made.prompt_end,
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
        known=made.prompt.known,
        options={REMOVED: text.unit, **written_options(entry.settled)},
        versions=installed_versions(),
        notes=(*made.row.notes, *improbable_part(made, text.ranges, logs.tolist())),
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
