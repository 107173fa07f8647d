"""Attributions that a caller gives to a run, to be measured beside those of methods."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from headlight.attribution import Attribution
from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.errors import InvalidOption
from headlight.evaluation.plan import scored
from headlight.evaluation.predictions import ExamplePrediction
from headlight.explaining.ablation import ABLATIONS
from headlight.files import say
from headlight.foreign.plain_files import read_attributions
from headlight.methods import METHODS
from headlight.metrics.case import Metrics
from headlight.models.model import Model

Texts = tuple[str, ...]
Given = Mapping[str, Mapping[Texts, Sequence[Attribution]]]
"""Attributions by method and texts; several of one text explain different targets."""
NOTHING: Given = MappingProxyType({})
GivenAttribution = Attribution | str | Path
"""An attribution, or a file of them."""
SHOWN = 60
"""How many characters of a text an error shows."""


def given_of(model: Model, attributions: Iterable[GivenAttribution]) -> Given:
    """The attributions of a call by method and texts; what cannot be measured is refused."""
    found: dict[str, dict[Texts, list[Attribution]]] = {}
    for each in attributions:
        made = [each] if isinstance(each, Attribution) else read_attributions(model, each)
        for attribution in made:
            check_measurable(model, attribution)
            same = found.setdefault(attribution.method, {}).setdefault(attribution.texts, [])
            known = {(one.target.label, one.target.positions) for one in same}
            if (attribution.target.label, attribution.target.positions) in known:
                raise InvalidOption(
                    f"two attributions by '{attribution.method}' explain '{attribution.target.label}' of "
                    f"{short(attribution.texts)}. Give one of them, or another method name to one."
                )
            same.append(attribution)
    return found


def check_measurable(model: Model, attribution: Attribution) -> None:
    """Refuse an attribution of another model, of words, of bare ids, or with the name of a method of ours."""
    name = attribution.method
    own = name.split(":")[0]
    if own in METHODS or own in ABLATIONS:
        raise InvalidOption(
            f"the given attributions are called '{name}', as a method of headlight is. Give them another name, "
            f"such as 'their_{own}': method= of from_scores, or the field 'method' of a file."
        )
    if attribution.model != model.name:
        raise InvalidOption(
            f"an attribution by '{name}' explains the model '{attribution.model}', and this run is about "
            f"'{model.name}'. Make it with Attribution.from_scores(model, …) from this model."
        )
    if attribution.unit != "token" or not attribution.texts:
        what = "words" if attribution.unit == "word" else "token ids without a text"
        raise InvalidOption(
            f"an attribution by '{name}' is of {what}, and tokens of a text are measured. Make it with "
            "Attribution.from_scores(model, text, scores, words=…)."
        )


def given_examples(given: Given) -> list[Example]:
    """The texts of given attributions as examples, in their order."""
    texts = dict.fromkeys(each for by_text in given.values() for each in by_text)
    return [Example(each[0] if len(each) == 1 else (each[0], each[1])) for each in texts]


def check_given(given: Given, examples: Sequence[Example], metrics: Metrics) -> None:
    """Refuse given attributions that leave out an example, or that no metric can measure."""
    if not given:
        return
    if any(example.sources for example in examples):
        raise InvalidOption(
            "given attributions cannot be measured on questions with sources. Leave them out."
        )
    asked = dict.fromkeys(as_tuple(example.text) for example in examples)
    for method, by_text in given.items():
        missing = [texts for texts in asked if texts not in by_text]
        if missing:
            raise InvalidOption(
                f"no attribution by '{method}' explains {short(missing[0])}; {len(missing)} of {len(asked)} "
                "texts lack one. Give one for every example, or leave data out to measure the texts that do."
            )
        extra = len(set(by_text) - set(asked))
        if extra:
            say(
                f"{extra} attributions by '{method}' explain texts that are no examples of this run."
            )
    names = ", ".join(f"'{method}'" for method in given)
    left = [name for name in metrics if name not in scored(metrics)]
    if left:
        say(f"{names} cannot be measured by {', '.join(left)}, for which scores are not enough.")
    if len(left) == len(metrics):
        raise InvalidOption(
            f"scores are not enough for {', '.join(left)}, and nothing else is asked. Add one such as aopc."
        )


def short(texts: Texts) -> str:
    """The beginning of a text, for an error."""
    return repr(texts[0][:SHOWN] + ("…" if len(texts[0]) > SHOWN or len(texts) > 1 else ""))


def digests(given: Given) -> dict[str, str]:
    """A short hash of the attributions of every method: a folder never mixes two sets under one name."""
    found = {}
    for method, by_text in given.items():
        content = [
            [
                *texts,
                each.target.label,
                each.target.positions,
                np.asarray(each.scores, np.float32).tolist(),
                each.signed,
            ]
            for texts, same in sorted(by_text.items())
            for each in sorted(same, key=lambda one: one.target.label)
        ]
        found[method] = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    return found


def given_in(given: Given, methods: Iterable[str], examples: Iterable[Example]) -> Given:
    """The part of the given attributions that a job needs."""
    texts = {as_tuple(example.text) for example in examples}
    return {
        method: {each: given[method][each] for each in texts if each in given[method]}
        for method in methods
        if method in given
    }


def matching(each: ExamplePrediction, same: Sequence[Attribution]) -> Attribution | str:
    """The attribution of the target that the run explains, or why there is none."""
    resolved = each.resolved
    for found in same:
        if (found.target.label, found.target.positions) == (resolved.label, resolved.positions):
            if found.tokens == each.row.tokens:
                return found
            return f"{found.method} explains {len(found)} tokens, and the model reads {len(each.row)} others."
    labels = " and ".join(f"'{found.target.label}'" for found in same)
    name = same[0].method if same else "nothing"
    return f"{name} explains {labels or 'no target'}, and this run explains '{resolved.label}'."
