"""From a question with sources to its prompt, and to the row of prompt and answer, within the limits."""

from headlight.batch import Row
from headlight.explaining.continuation import Writing, check_writes
from headlight.explaining.prompts import Prompt, prompts_of
from headlight.explaining.written import Written, written
from headlight.models.model import Model
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Ask


def prompt_of(model: Model, question: Ask, limits: Limits, without: tuple[str, ...] = ()) -> Prompt:
    """The prompt of a question, without some of its sources; refused if it is too long for the server."""
    check_sources(question, limits)
    check_writes(model)
    ((prompt,), _) = prompts_of(model, question.asked, question.passages(without))
    check_length(prompt.row, limits)
    return prompt


def check_sources(question: Ask, limits: Limits) -> None:
    """Refuse too many sources, and sources that are too long."""
    if len(question.sources) > limits.sources:
        raise Refusal(
            413,
            f"{len(question.sources)} sources were given; this server takes up to {limits.sources}. "
            "Give fewer.",
        )
    for source in question.sources:
        if len(source.text) > limits.source_characters:
            raise Refusal(
                413,
                f"the source '{source.name}' has {len(source.text):,} characters; this server takes up to "
                f"{limits.source_characters:,}. Shorten it, or split it.",
            )


def check_length(row: Row, limits: Limits) -> None:
    """Refuse a prompt, with or without its answer, that is too long for the server."""
    if len(row) > limits.prompt_tokens:
        raise Refusal(
            413,
            f"question, sources and answer have {len(row):,} tokens; this server reads up to "
            f"{limits.prompt_tokens:,}. Shorten them.",
        )


def with_answer(model: Model, prompt: Prompt, answer: str, limits: Limits) -> Written:
    """The prompt with a given answer."""
    made = written(model, prompt, answer, Writing())
    check_length(made.row, limits)
    return made
