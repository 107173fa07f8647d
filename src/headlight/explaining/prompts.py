"""From a question, a chat or sources to a prompt: the text that the model reads, its tokens, its known units.

A prompt is a string, or the messages of a chat, which the tokenizer's own template writes as text. What the
template adds (roles, control tokens) is marked as special.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from headlight.batch import Row, encode
from headlight.errors import HeadlightError, InvalidInput
from headlight.explaining.chats import (
    Chat,
    Message,
    check_messages,
    content_of,
    is_message,
    written_chat,
)
from headlight.explaining.continuation import placed_by_decoding
from headlight.explaining.inputs import listed
from headlight.explaining.passages import Passage, named_sources, with_sources
from headlight.models.model import Model
from headlight.text import check_text
from headlight.units import Unit, begin

Sources = Mapping[str, str] | Sequence[str]
Asked = str | Sequence[Message] | Mapping[str, Any]
"""One prompt: a text, the messages of a chat, or {"messages": …} with other arguments of its template."""
EXPECTED = (
    'Give a string, a list of messages [{"role": "user", "content": "…"}], '
    '{"messages": […], "tools": […]}, or a list of these.'
)


@dataclass(frozen=True)
class Prompt:
    """A prompt as the model reads it, and the units that are known from how it was made.

    is_chat: whether a chat template wrote it.
    """

    row: Row
    known: Mapping[str, tuple[Unit, ...]]
    is_chat: bool = False

    @property
    def text(self) -> str:
        """What the model reads."""
        return self.row.texts[0]


def prompts_of(
    model: Model, given: Asked | Sequence[Asked], sources: Any = None
) -> tuple[list[Prompt], bool]:
    """The prompts of a call, and whether it was one; several prompts have a list of sources each."""
    several, is_one = listed_prompts(given)
    each = [sources] if is_one else sources_of_each(sources, len(several))
    made = []
    for number, (asked, own) in enumerate(zip(several, each, strict=True)):
        with numbered("prompt", number, is_one):
            made.append(prompt_of(model, asked, named_sources(own)))
    return made, is_one


@contextmanager
def numbered(name: str, number: int, is_only: bool) -> Iterator[None]:
    """Errors that say to which of several inputs they belong."""
    try:
        yield
    except HeadlightError as error:
        if is_only:
            raise
        raise type(error)(f"{name} {number}: {error}") from error


def listed_prompts(given: Any) -> tuple[list[Asked], bool]:
    """A list of prompts, and whether one was given: a string, a list of messages, or a mapping with them."""
    if isinstance(given, str) or is_chat(given):
        return [given], True
    if isinstance(given, Mapping):
        raise InvalidInput(f"the prompt is a mapping without messages. {EXPECTED}")
    items = list(given) if isinstance(given, tuple) else listed(given)
    if not items:
        raise InvalidInput("the list of prompts is empty: there is nothing to explain.")
    for number, item in enumerate(items):
        if not isinstance(item, str) and not is_chat(item):
            raise InvalidInput(f"prompt {number} is neither a text nor a chat. {EXPECTED}")
    return items, False


def is_chat(value: Any) -> bool:
    """Whether a value is the messages of a chat, with or without other arguments of its template."""
    if isinstance(value, Mapping):
        return is_chat(value.get("messages"))
    return isinstance(value, list | tuple) and bool(value) and all(map(is_message, value))


def sources_of_each(sources: Any, count: int) -> list[Any]:
    """The sources of each of several prompts."""
    if sources is None:
        return [None] * count
    is_list = isinstance(sources, list | tuple) and len(sources) == count
    if not is_list or any(isinstance(own, str) for own in sources):
        raise InvalidInput(
            f"{count} prompts were given. Give sources=[…] with one list or dict of sources per prompt."
        )
    return list(sources)


def prompt_of(model: Model, asked: Asked, sources: Mapping[str, str]) -> Prompt:
    """One prompt as the model reads it."""
    if model.tokenizer is None:
        raise InvalidInput(
            f"{model.name} was wrapped without a tokenizer, so it cannot read text. "
            "Give headlight.wrap a tokenizer."
        )
    if isinstance(asked, str):
        check_text(asked, 0)
        (text,), passages = with_sources([asked], 0, sources, "\nAnswer:")
        row = placed_row(model.tokenizer, text)
        units = tuple(Unit(each.name, *each.span) for each in passages)
        return Prompt(row, {"sources": units} if units else {})
    extra = dict(asked) if isinstance(asked, Mapping) else {"messages": asked}
    messages = [dict(message) for message in extra.pop("messages")]
    check_messages(messages)
    said, passages = with_sources(list(map(content_of, messages)), question_of(messages), sources)
    for message, content in zip(messages, said, strict=True):
        message["content"] = content if content else message.get("content")
    chat = written_chat(model, messages, extra)
    row = placed_row(model.tokenizer, chat.text, adds_special=False)
    known = {"turns": chat.turns}
    if passages:
        known["sources"] = units_in(chat, passages)
    return Prompt(with_template_special(row, chat), known, is_chat=True)


def placed_row(tokenizer: PreTrainedTokenizerBase, text: str, *, adds_special: bool = True) -> Row:
    """The row of a text with the places of its tokens in it."""
    (row,) = encode([text], tokenizer, adds_special=adds_special)
    return row if row.offsets is not None else placed_by_decoding(row, tokenizer)


def question_of(messages: Sequence[Message]) -> int:
    """The number of the last message of the user, which asks the question; the last if there is none."""
    users = [number for number, message in enumerate(messages) if message["role"] == "user"]
    return users[-1] if users else len(messages) - 1


def units_in(chat: Chat, passages: Sequence[Passage]) -> tuple[Unit, ...]:
    """Where the text of a chat holds each source; refused if the template changed one."""
    units = []
    for each in passages:
        place = chat.place_of(each.number, each.span)
        if place is None:
            raise InvalidInput(
                f"source '{each.name}' is not in the prompt as the model reads it: the chat template changes "
                f"message {each.number}. Put the source into a message that it shows unchanged."
            )
        units.append(Unit(each.name, *place))
    return tuple(sorted(units, key=lambda unit: unit.start))


def with_template_special(row: Row, chat: Chat) -> Row:
    """The row with everything special that no message says: roles, control tokens, line breaks between."""
    assert row.offsets is not None
    turns = chat.turns
    places = [begin(chat.text, span) for span in row.offsets]
    is_said = [any(turn.start <= place < turn.end for turn in turns) for place in places]
    return replace(row, is_special=tuple(not said for said in is_said))
