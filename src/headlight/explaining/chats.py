"""Chats: messages written as one text by the tokenizer's own template, and where it put what each of them says.

A template is a program: it may strip a content, leave thoughts of earlier turns out, or escape text for JSON.
So the chat is written twice, once with a mark in place of every content. What is around the marks is the
template's own, and with the contents put back it must be the real text again, character by character.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from headlight.errors import InvalidInput, InvalidOption
from headlight.models.model import Model
from headlight.units import Span, Unit

Message = Mapping[str, Any]

THOUGHTS = ("<think>", "</think>")
"""What opens and closes the thoughts of most models that write them."""
OURS = ("tokenize", "add_generation_prompt", "continue_final_message", "conversation")
"""Arguments of apply_chat_template that are not the caller's."""


@dataclass(frozen=True)
class Piece:
    """A stretch of the content of a message, and the stretch of the text in which the template wrote it.

    Both are of the same length unless the template escaped the content.
    """

    message: int
    inner: Span
    outer: Span


@dataclass(frozen=True)
class Chat:
    """Messages, the text that the model reads, and where it holds the pieces of their contents."""

    messages: tuple[Message, ...]
    text: str
    pieces: tuple[Piece, ...]

    @property
    def turns(self) -> tuple[Unit, ...]:
        """What each message says, in the order of the text."""
        units = []
        for number, message in enumerate(self.messages):
            own = [piece.outer for piece in self.pieces if piece.message == number]
            if own:
                start, end = min(own)[0], max(own)[1]
                units.append(Unit(f"{message['role']} {number + 1}", start, end))
        return tuple(sorted(units, key=lambda unit: unit.start))

    def place_of(self, message: int, span: Span) -> Span | None:
        """The characters of the text that show these of a content; None if it does not show them unchanged."""
        content = self.messages[message]["content"]
        for piece in self.pieces:
            shift = piece.outer[0] - piece.inner[0]
            outer = (span[0] + shift, span[1] + shift)
            is_held = piece.inner[0] <= span[0] and span[1] <= piece.inner[1]
            is_same = self.text[slice(*outer)] == content[slice(*span)]
            if piece.message == message and is_held and is_same:
                return outer
        return None


def is_message(value: object) -> bool:
    """Whether a value is a message of a chat."""
    return isinstance(value, Mapping) and "role" in value


def content_of(message: Message) -> str:
    """What a message says; '' for one that only calls tools."""
    return message.get("content") or ""


def check_messages(messages: Sequence[Message]) -> None:
    """Refuse messages that are not text."""
    for number, message in enumerate(messages):
        content = message.get("content")
        is_call = content is None and bool(message.get("tool_calls"))
        if not isinstance(message["role"], str) or not (isinstance(content, str) or is_call):
            raise InvalidInput(
                f"message {number} of the chat has a content or role that is not text. "
                "Write each message as one text; images and lists of parts are not read."
            )
    if not any(content_of(message).strip() for message in messages):
        raise InvalidInput("no message of the chat says anything: there is nothing to explain.")


def written_chat(model: Model, messages: Sequence[Message], extra: Mapping[str, Any]) -> Chat:
    """The chat as the template writes it, up to where the answer begins."""
    check_template(model, extra)
    text = by_template(model, messages, extra)
    spans = list(content_spans(messages))
    mark = "PIECE"
    while mark in text:
        mark += "E"
    marks = [f"{mark}{number}." for number in range(len(spans))]
    pattern = by_template(model, with_marks(messages, spans, marks), extra)
    found = placed_pieces(model, messages, text, pattern, list(zip(spans, marks, strict=True)))
    return Chat(tuple(messages), text, tuple(found))


def check_template(model: Model, extra: Mapping[str, Any]) -> None:
    """Refuse a tokenizer without a template, or arguments that its template would not read."""
    template = getattr(model.tokenizer, "chat_template", None)
    if not template:
        raise InvalidInput(
            f"the tokenizer of {model.name} has no chat template, so messages cannot be written as it "
            "expects them. Give the prompt as one text, or set tokenizer.chat_template."
        )
    for name in extra:
        if name in OURS or name.startswith("return_"):
            raise InvalidOption(
                f"{name!r} is not possible with the messages of a chat. Leave it out."
            )
        if name != "chat_template" and name not in str(extra.get("chat_template", template)):
            raise InvalidOption(
                f"the chat template of {model.name} does not read {name!r}, so it would change nothing. "
                "Leave it out."
            )


def by_template(model: Model, messages: Sequence[Message], extra: Mapping[str, Any]) -> str:
    """What the template writes; refused with its own words if it does not take the messages."""
    assert model.tokenizer is not None
    is_begun = messages[-1]["role"] == "assistant"
    try:
        text = model.tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            tokenize=False,
            add_generation_prompt=not is_begun,
            continue_final_message=is_begun,
            **extra,
        )
    except (TemplateError, ValueError, TypeError, KeyError, AttributeError) as error:
        said = " ".join(str(error).split())[:300]
        raise InvalidInput(
            f"the chat template of {model.name} does not take these messages: {said}"
        ) from error
    return str(text)


def content_spans(messages: Sequence[Message]) -> Iterator[tuple[int, Span]]:
    """The number of each message with the stretches of its content that a template keeps or leaves out whole.

    They are the thoughts and what is said after them, without the white space around.
    """
    for number, message in enumerate(messages):
        content = content_of(message)
        end = content.rfind(THOUGHTS[1])
        start = content.find(THOUGHTS[0])
        first = start + len(THOUGHTS[0]) if 0 <= start < end else 0
        after = end + len(THOUGHTS[1]) if end >= 0 else 0
        for a, b in ((first, max(end, first)), (after, len(content))):
            inner = content[a:b]
            left = a + len(inner) - len(inner.lstrip())
            if inner.strip():
                yield number, (left, left + len(inner.strip()))


def with_marks(
    messages: Sequence[Message], spans: Sequence[tuple[int, Span]], marks: Sequence[str]
) -> list[Message]:
    """The messages with a mark in place of each of these stretches."""
    marked = [dict(message) for message in messages]
    for (number, (start, end)), mark in reversed(list(zip(spans, marks, strict=True))):
        content = marked[number]["content"]
        marked[number]["content"] = content[:start] + mark + content[end:]
    return list(marked)


def placed_pieces(
    model: Model,
    messages: Sequence[Message],
    text: str,
    pattern: str,
    marked: Sequence[tuple[tuple[int, Span], str]],
) -> list[Piece]:
    """Where the text holds the contents, from the same chat with marks; refused if the two do not agree."""
    order = sorted(((pattern.find(mark), each, mark) for each, mark in marked), key=lambda x: x[0])
    pieces, place, read = [], 0, 0
    for at, (number, (start, end)), mark in order:
        content = content_of(messages[number])
        is_thought = content.find(THOUGHTS[1], end) >= 0
        if at < 0 and is_thought:
            continue
        fixed = pattern[read : max(at, 0)]
        place += len(fixed)
        said = content[start:end]
        shown = next((s for s in (said, escaped(said)) if text.startswith(s, place)), None)
        if pattern.count(mark) != 1 or shown is None or not text.endswith(fixed, 0, place):
            raise no_place(model, number, said)
        pieces.append(Piece(number, (start, end), (place, place + len(shown))))
        place, read = place + len(shown), at + len(mark)
    if text[place:] != pattern[read:]:
        raise no_place(model, len(messages) - 1, content_of(messages[-1]))
    return pieces


def escaped(text: str) -> str:
    """Text as templates write it within JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def no_place(model: Model, number: int, said: str) -> InvalidInput:
    """The error for a message that a template changes, repeats or leaves out."""
    return InvalidInput(
        f"message {number} ('{said[:40]}') is not shown once and unchanged by the chat template of "
        f"{model.name}, so its words have no place in the text. Give the whole chat as one text instead."
    )
