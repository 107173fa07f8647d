"""Explains each token of a continuation."""

from headlight.batch import Row
from headlight.explaining.generation import explain_generation
from headlight.explaining.plan import default_method
from headlight.models.model import Model
from headlight.renderers.matrix import generation_cells
from headlight.tokens import spelled
from headlight.web.answers.formatting import rounded
from headlight.web.answers.reading import check_matrix, check_methods, row_of
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Generate
from headlight.web.replies import Generated


def generate(model: Model, question: Generate, limits: Limits) -> Generated:
    """A continuation, and for each of its tokens the scores of all earlier tokens."""
    if question.tokens > limits.generated_tokens:
        raise Refusal(
            413,
            f"{question.tokens} tokens were asked for; this server writes up to "
            f"{limits.generated_tokens}. Ask for fewer.",
        )
    row = row_of(model, question, limits)
    count = output_count(model, question)
    check_output(model, question, row, count, limits)
    made = explain_generation(
        model,
        question.text,
        question.method,
        continuation=question.continuation,
        max_new_tokens=count,
    )
    texts = spelled((*made.prompt, *made.output))
    cells, last = generation_cells(made), made.attributions[-1]
    matrix, largest = rounded(cells)
    return {
        "method": made.attributions[0].method,
        "signed": made.attributions[0].signed,
        "prompt": texts[: len(made.prompt)],
        "output": texts[len(made.prompt) :],
        "matrix": matrix,
        "largest": largest,
        "largest_by_row": [
            max(map(abs, each.scores[each.in_scale].tolist())) for each in made.attributions
        ],
        "special": list(last.is_special),
        "in_scale": last.in_scale.tolist(),
        "note": cells.note,
    }


def output_count(model: Model, question: Generate) -> int:
    """How many tokens will be explained: those of the given continuation, or the number asked for."""
    if question.continuation and model.tokenizer is not None:
        return len(model.tokenizer(question.continuation, add_special_tokens=False)["input_ids"])
    return question.tokens


def check_output(model: Model, question: Generate, row: Row, count: int, limits: Limits) -> None:
    """Refuse a continuation that is too long for the server, the page or the model."""
    if count > limits.generated_tokens:
        raise Refusal(
            413,
            f"the continuation has {count} tokens; this server explains up to "
            f"{limits.generated_tokens}. Shorten it.",
        )
    check_matrix(len(row) + count, limits)
    model.check_row_length(0, len(row) + count - 1)
    check_methods([question.method or default_method(model)[0]], row, limits)
