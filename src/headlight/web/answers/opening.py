"""What the page for single decisions takes to show the choice of a word of an answer: its layers and mixing.

That page reads a text, not a chat with sources, and names a token by its text. A word is offered only if both
lead to the very tokens of the answer.
"""

from headlight.errors import HeadlightError
from headlight.explaining.inputs import rows_of
from headlight.explaining.written import Written
from headlight.models.model import Model
from headlight.trace.resolve import token_id
from headlight.units import words
from headlight.web.limits import Limits
from headlight.web.replies import WordChoice


def choices(model: Model, made: Written, limits: Limits) -> list[WordChoice | None]:
    """For each word of an answer the choice of its first token, None if the other page cannot show it."""
    spans = [(a + made.prompt_end, b + made.prompt_end) for a, b in words(made.answer)]
    firsts = [tokens[0] if tokens else None for tokens in made.tokens_in(spans)]
    return [None if first is None else choice_of(model, made, first, limits) for first in firsts]


def choice_of(model: Model, made: Written, first: int, limits: Limits) -> WordChoice | None:
    """The choice of a token, if the text before it is read as the tokens before it."""
    end = max(end for _, end in made.offsets[:first])
    is_same = first <= limits.tokens and (
        rows_of(model, made.text[:end])[0].ids == made.row.ids[:first]
    )
    said = made.text[end : made.offsets[first][1]]
    names = [name for name in (said.strip(), said) if is_named(model, name, made.row.ids[first])]
    return {"end": end, "target": names[0]} if is_same and names else None


def is_named(model: Model, text: str, token: int) -> bool:
    """Whether a text is the name of this token."""
    assert model.tokenizer is not None
    try:
        return bool(text) and token_id(text, model, len(model.tokenizer)) == token
    except HeadlightError:
        return False
