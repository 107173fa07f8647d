"""From a model and questions to replies, in the desk's thread."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headlight.attribution import Attribution, grouped
from headlight.batch import Row
from headlight.errors import HeadlightError, InvalidInput, InvalidOption
from headlight.evaluation.measure import subject_of
from headlight.explaining.batches import run
from headlight.explaining.generation import explain_generation
from headlight.explaining.inputs import fitted, rows_of
from headlight.explaining.layers import explain_layers
from headlight.explaining.mix import mix
from headlight.explaining.plan import default_method, planned
from headlight.explaining.prediction import Prediction, predict
from headlight.headmask import HeadMask
from headlight.heads.masks import chosen_mask
from headlight.methods import METHODS
from headlight.metrics.case import Case
from headlight.metrics.curves import probability
from headlight.metrics.measuring import measure
from headlight.models.model import Model, Task
from headlight.probing.ask import ask
from headlight.probing.probe import Subject
from headlight.renderers.characters import harmless
from headlight.renderers.pieces import Piece, pieces
from headlight.target import Target
from headlight.tokens import readable, spelled
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Curves, Explain, Generate, Hide, Layers, Mix, Question
from headlight.web.replies import (
    Explanation,
    Fallen,
    Generated,
    HeadMap,
    Hidden,
    Layered,
    Mixed,
    Shown,
    Views,
)

RANDOM_ORDERS = 10
"""Random orders of the tokens that a deletion curve is held against."""
Found = dict[str, Attribution | str]
"""By method: its attribution, or why there is none."""


def is_slow(method: str) -> bool:
    """Whether a method takes many passes, or solves a problem of its own for each token."""
    entry = METHODS[method]
    return "replay" in entry.needs or entry.name == "attention_flow"


# ---------------------------------------------------------------------------------- reading


def row_of(model: Model, question: Question | Generate, limits: Limits) -> Row:
    """The tokens of a question, refused where they are too many."""
    given = question.text if isinstance(question, Generate) else question.input
    (row,) = rows_of(model, given)
    if not isinstance(question, Generate):
        row = fitted(model, row, advice="")
    if len(row) > limits.tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens and this server explains up to {limits.tokens}. Shorten it.",
        )
    return row


def check_methods(methods: Sequence[str], row: Row, limits: Limits) -> None:
    """Refuse slow methods on long texts, and too many of them."""
    slow = [METHODS[name].name for name in methods if is_slow(name)]
    if len(slow) > limits.slow_methods:
        raise Refusal(
            413,
            f"{', '.join(slow)} take many passes, and this server uses up to {limits.slow_methods} such "
            "methods at once. Choose fewer of them.",
        )
    if slow and len(row) > limits.slow_tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens; {', '.join(slow)} take many passes, so this server uses "
            f"them up to {limits.slow_tokens} tokens. Shorten the text, or choose other methods.",
        )


def mask_option(methods: Sequence[str], mask: Any) -> dict[str, Any]:
    """The head mask as an option, where one was given and a method takes it."""
    if mask is None or not any("mask" in METHODS[name].options for name in methods):
        return {}
    if len({len(layer) for layer in mask}) != 1 or not mask[0]:
        raise InvalidOption("a head mask is a list of layers, each a list of as many heads.")
    return {"mask": HeadMask.of(np.array(mask, dtype=np.int64))}


def read(
    model: Model, question: Question, limits: Limits, methods: Sequence[str] = ()
) -> Prediction:
    """What the model decides on a question that is within the limits."""
    row = row_of(model, question, limits)
    check_methods(methods, row, limits)
    (found,) = predict(model, [row], [question.asked])
    return found


# -------------------------------------------------------------------------------- explaining


def explain_all(model: Model, questions: Sequence[Explain], limits: Limits) -> list[Any]:
    """Answers to questions with the same methods and mask, from passes that they share."""
    answers: list[Any] = [None] * len(questions)
    rows: dict[int, Row] = {}
    for number, question in enumerate(questions):
        try:
            rows[number] = row_of(model, question, limits)
            check_methods(question.methods, rows[number], limits)
        except (HeadlightError, Refusal) as error:
            answers[number] = error
            rows.pop(number, None)
    numbers = list(rows)
    found = together(model, [questions[n] for n in numbers], [rows[n] for n in numbers])
    for number, answer in zip(numbers, found, strict=True):
        answers[number] = answer
    return answers


def together(model: Model, questions: Sequence[Explain], rows: Sequence[Row]) -> list[Any]:
    """Predictions and attributions of rows; where something fails, of each alone."""
    if not questions:
        return []
    try:
        decided = predict(model, rows, [question.asked for question in questions])
        mask = mask_option(questions[0].methods, questions[0].mask)
        targets = [question.asked for question in questions]
        found = attributions(model, rows, targets, questions[0].methods, mask)
    except HeadlightError as error:
        if len(questions) == 1:
            return [error]
        return [
            answer
            for question, row in zip(questions, rows, strict=True)
            for answer in together(model, [question], [row])
        ]
    return [explanation(prediction, own) for prediction, own in zip(decided, found, strict=True)]


def attributions(
    model: Model,
    rows: Sequence[Row],
    targets: Sequence[Target],
    methods: Sequence[str],
    options: Mapping[str, Any],
) -> list[Found]:
    """The attributions of rows by method; a method that fails on a row says why."""
    names = list(dict.fromkeys(METHODS[name].name for name in methods))
    known = {name for method in names for name in METHODS[method].options}
    try:
        own = {name: value for name, value in options.items() if name in known}
        plan = planned(model, names, "paper", own, 16, False)
        return [dict(found) for found in run(model, rows, targets, plan)]
    except HeadlightError as error:
        if len(names) == 1 and len(rows) == 1:
            return [{names[0]: str(error)}]
    if len(rows) > 1:
        pairs = zip(rows, targets, strict=True)
        return [attributions(model, [r], [t], names, options)[0] for r, t in pairs]
    alone = [attributions(model, rows, targets, [name], options)[0] for name in names]
    return [{name: found for each in alone for name, found in each.items()}]


def explanation(decided: Prediction, found: Found) -> Explanation | InvalidInput:
    """The answer to one question, or why there is none: the others of its pass have theirs."""
    made = [each for each in found.values() if isinstance(each, Attribution)]
    failures = {name: each for name, each in found.items() if isinstance(each, str)}
    if not made:
        return InvalidInput(" ".join(dict.fromkeys(failures.values())))
    explained = made[0].target
    names, shares = zip(*decided.choices, strict=True) if decided.choices else ((), ())
    return {
        "prediction": {
            "labels": list(names),
            "probabilities": list(shares) if shares else None,
            "predicted": explained.predicted,
            "explained": explained.label,
            "logit": explained.logit,
            "probability": explained.probability,
        },
        "tokens": list(decided.row.tokens),
        "attributions": [
            {
                "method": each.method,
                "signed": each.signed,
                "notes": list(each.notes),
                **views(each),
                "data": each.to_dict(),
            }
            for each in made
        ],
        "failures": failures,
    }


def views(attribution: Attribution) -> Views:
    """Tokens and whole words, as the page shows them."""
    shown = [plain(piece, piece.positions) for piece in pieces(attribution)]
    if attribution.word_ids is None or attribution.offsets is None:
        return {"pieces": shown, "words": shown}
    groups = grouped(attribution.word_ids)
    whole = [
        plain(piece, [p for place in piece.positions for p in groups[place]])
        for piece in pieces(attribution.words())
    ]
    return {"pieces": shown, "words": whole}


def plain(piece: Piece, positions: Sequence[int]) -> Shown:
    """A piece of text, ready for JSON."""
    return {
        "text": harmless(piece.text),
        "before": harmless(piece.before),
        "score": piece.score,
        "share": round(piece.share, 4),
        "special": piece.is_special,
        "positions": list(positions),
        "segment": piece.segment,
    }


# ---------------------------------------------------------------------------- taking away


def subject(model: Model, decided: Prediction) -> Subject:
    """The decided row, to be probed for the explained label."""
    if model.task is Task.REGRESSION:
        raise InvalidInput(f"{model.name} gives a number, not a probability that could fall.")
    terms = [term for term in decided.decision.terms if term.sign > 0]
    places, classes = [t.position for t in terms], [t.index for t in terms]
    return subject_of(model, decided.row, places, classes)


def hide(model: Model, question: Hide, limits: Limits) -> Hidden:
    """The probability of the explained label with some tokens taken away."""
    decided = read(model, question, limits)
    whole = subject(model, decided)
    outside = sorted(set(question.hidden) - set(whole.eligible))
    if outside:
        raise InvalidInput(
            f"the tokens at {', '.join(map(str, outside))} cannot be taken away: they are special, the "
            f"decision is read there, or the text does not reach so far (it has {len(whole.row)} tokens)."
        )
    before, after = ask(model, [whole.whole, whole.without(question.hidden, question.change)])
    has_classes = model.task is not Task.QUESTION
    return {
        "label": decided.decision.label,
        "before": probability(before),
        "after": probability(after),
        "predicted": label_of(model, after.predicted) if has_classes else None,
    }


def label_of(model: Model, index: int) -> str:
    """The name of a class or of a vocabulary token."""
    if model.task in (Task.MASKED, Task.CAUSAL) and model.tokenizer is not None:
        return str(model.tokenizer.decode([index])).strip()
    return model.labels.get(index, str(index))


def curves(model: Model, question: Curves, limits: Limits) -> Fallen:
    """The probability as the highest scores are taken away, for each method and for random orders."""
    decided = read(model, question, limits, question.methods)
    options = mask_option(question.methods, question.mask)
    (found,) = attributions(model, [decided.row], [question.asked], question.methods, options)
    whole = subject(model, decided)
    draw = np.random.default_rng(0)
    scores = {
        name: np.array(each.scores, np.float64)
        for name, each in found.items()
        if isinstance(each, Attribution)
    }
    random = [draw.random(len(decided.row)) for _ in range(RANDOM_ORDERS)]
    cases = [
        Case(whole, own, "", True, predicted=whole.classes[0])
        for own in (*scores.values(), *random)
    ]
    measured = [
        each["aopc"][""] for each in measure(model, cases, {"aopc": {"change": question.change}})
    ]
    if not measured[0].curve:
        raise InvalidInput(f"no curve can be drawn: {measured[0].note}.")
    first = probability(ask(model, [whole.whole])[0])
    paths = [[first, *(first - fall for fall in each.curve)] for each in measured]
    drawn = np.array(paths[len(scores) :])
    return {
        "label": decided.decision.label,
        "levels": [0.0, *measured[0].levels],
        "curves": [
            {"method": name, "probabilities": path, "aopc": each.value}
            for name, path, each in zip(scores, paths, measured, strict=False)
        ],
        "random": {
            "probabilities": drawn.mean(0).tolist(),
            "low": np.quantile(drawn, 0.1, axis=0).tolist(),
            "high": np.quantile(drawn, 0.9, axis=0).tolist(),
            "aopc": float(np.mean([each.value for each in measured[len(scores) :]])),
        },
        "failures": {name: each for name, each in found.items() if isinstance(each, str)},
    }


# ------------------------------------------------------------------------ layers and matrices


def layers(model: Model, question: Layers, limits: Limits) -> Layered:
    """A method layer by layer, all on one scale, and the method itself."""
    row = row_of(model, question, limits)
    found = explain_layers(model, question.input, question.method, question.asked)
    (whole,) = attributions(model, [row], [question.asked], [question.method], {})
    (itself,) = whole.values()
    if isinstance(itself, str):
        raise InvalidInput(itself)
    return {
        "method": itself.method,
        "signed": itself.signed,
        "layers": [
            {"layer": each.options["layer"], **shown}
            for each, shown in zip(found, on_one_scale([views(a) for a in found]), strict=True)
        ],
        "whole": views(itself),
    }


def on_one_scale(shown: Sequence[Views]) -> Sequence[Views]:
    """Views of several layers with shares of the largest score of any of them."""
    for every in (
        [piece for view in shown for piece in view["pieces"]],
        [piece for view in shown for piece in view["words"]],
    ):
        ordinary = [abs(p["score"]) for p in every if not p["special"]]
        largest = max(ordinary or [abs(p["score"]) for p in every], default=0.0)
        for piece in every:
            piece["share"] = round(piece["score"] / largest, 4) if largest else 0.0
    return shown


def mixing(model: Model, question: Mix, limits: Limits) -> Mixed:
    """How much of every token is in every other, at one layer."""
    row = row_of(model, question, limits)
    check_matrix(len(row), limits)
    found = mix(model, question.input, question.method)
    matrix = found.at(question.layer, accumulated=question.accumulated)
    return {
        "method": found.method,
        "layer": question.layer % len(found.layers),
        "layers": len(found.layers),
        "tokens": list(readable(found.tokens)),
        "matrix": np.round(matrix.astype(np.float64), 5).tolist(),
    }


def check_matrix(size: int, limits: Limits) -> None:
    """Refuse a matrix that no page could show."""
    if size > limits.matrix_tokens:
        raise Refusal(
            413,
            f"the text has {size} tokens, and a matrix is shown up to {limits.matrix_tokens}. Shorten it.",
        )


def generate(model: Model, question: Generate, limits: Limits) -> Generated:
    """A continuation, and the scores of all tokens before for each of its own."""
    if question.tokens > limits.generated_tokens:
        raise Refusal(
            413,
            f"{question.tokens} tokens were asked for, and this server writes up to "
            f"{limits.generated_tokens}.",
        )
    row = row_of(model, question, limits)
    given, count = question.continuation, question.tokens
    if given and model.tokenizer is not None:
        count = len(model.tokenizer(given, add_special_tokens=False)["input_ids"])
    if count > limits.generated_tokens:
        raise Refusal(
            413,
            f"the continuation has {count} tokens, and this server explains up to "
            f"{limits.generated_tokens}. Shorten it.",
        )
    check_matrix(len(row) + count, limits)
    model.check_row_length(0, len(row) + count - 1)
    check_methods([question.method or default_method(model)[0]], row, limits)
    found = explain_generation(
        model, question.text, question.method, continuation=given, max_new_tokens=count
    )
    return {
        "method": found.attributions[0].method,
        "signed": found.attributions[0].signed,
        "prompt": spelled((*found.prompt, *found.output))[: len(found.prompt)],
        "output": spelled((*found.prompt, *found.output))[len(found.prompt) :],
        "matrix": np.round(found.matrix.astype(np.float64), 6).tolist(),
    }


def head_map(model: Model) -> HeadMap:
    """The heads of a model's own mask, and what they do; every head is on where it brings no mask."""
    config = model.network.config.get_text_config()
    try:
        mask = chosen_mask(model, "both")
    except InvalidOption:
        nothing = np.zeros((config.num_hidden_layers, config.num_attention_heads), np.int64)
        mask = HeadMask.of(nothing, name="none")
        return {**described(mask), "open": (~mask.heads).tolist()}
    return described(mask)


def described(mask: HeadMask) -> HeadMap:
    """A mask, ready for JSON."""
    count, heads = mask.heads.shape
    roles = mask.roles
    return {
        "layers": count,
        "heads": heads,
        "kinds": [[mask.kind(layer, head) for head in range(heads)] for layer in range(count)],
        "roles": [[list(roles.get((layer, head), ())) for head in range(heads)] for layer in range(count)],
        "open": mask.heads.tolist(),
    }  # fmt: skip


def export_all(model: Model, question: Explain, limits: Limits) -> list[Attribution]:
    """The attributions of one question, to be written as a file."""
    row = row_of(model, question, limits)
    check_methods(question.methods, row, limits)
    options = mask_option(question.methods, question.mask)
    (found,) = attributions(model, [row], [question.asked], question.methods, options)
    made = [each for each in found.values() if isinstance(each, Attribution)]
    if not made:
        raise InvalidInput(" ".join(map(str, found.values())))
    return made
