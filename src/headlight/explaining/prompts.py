"""From a question, a chat or sources to a prompt: the text that the model reads, its tokens, and its known units.

A prompt is a string, or the messages of a chat, which the tokenizer's own template writes as text. Sources are
found in the prompt, or put into it by a template. What a chat template adds (roles, control tokens) is marked
as special.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import TemplateError

from headlight.batch import Row, encode
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.inputs import listed
from headlight.models.model import Model
from headlight.text import check_text, wrong_kind
from headlight.units import Unit, begin

Message = Mapping[str, Any]
Sources = Mapping[str, str] | Sequence[str]
Asked = str | Sequence[Message]
"""One prompt: a text, or the messages of a chat."""

SOURCES, PROMPT = "{sources}", "{prompt}"
TEMPLATE = f"Answer the question from these sources.\n\n{SOURCES}\n\nQuestion: {PROMPT}\nAnswer:"
CHAT_TEMPLATE = f"Answer the question from these sources.\n\n{SOURCES}\n\nQuestion: {PROMPT}"
"""How a question and its sources become a prompt if the sources are not in it already."""
THOUGHTS_END = "</think>"


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
    model: Model,
    given: Asked | Sequence[Asked],
    sources: Any = None,
    template: str | None = None,
    tools: Sequence[Any] | None = None,
) -> tuple[list[Prompt], bool]:
    """The prompts of a call, and whether it was one; sources are those of one prompt, or a list with each one's."""
    several, is_one = listed_prompts(given)
    each = [sources] if is_one else sources_of_each(sources, len(several))
    made = [
        prompt_of(model, asked, named_sources(own), template, tools)
        for asked, own in zip(several, each, strict=True)
    ]
    return made, is_one


def listed_prompts(given: Any) -> tuple[list[Asked], bool]:
    """A list of prompts, and whether one was given: a string, or a list of messages."""
    if isinstance(given, str):
        return [given], True
    items = listed(given)
    if not items:
        raise InvalidInput("the list of prompts is empty: there is nothing to explain.")
    if all(is_message(item) for item in items):
        return [items], True
    for number, item in enumerate(items):
        is_chat = isinstance(item, list | tuple) and item and all(map(is_message, item))
        if not isinstance(item, str) and not is_chat:
            raise InvalidInput(
                f"prompt {number} is neither a text nor a chat. Give a string, a list of messages "
                '[{"role": "user", "content": "…"}], or a list of either.'
            )
    return items, False


def is_message(value: object) -> bool:
    """Whether a value is a message of a chat."""
    return isinstance(value, Mapping) and "role" in value and "content" in value


def sources_of_each(sources: Any, count: int) -> list[Any]:
    """The sources of each of several prompts."""
    if sources is None:
        return [None] * count
    if isinstance(sources, str | Mapping) or len(sources) != count or isinstance(sources[0], str):
        raise InvalidInput(
            f"{count} prompts were given. Give sources=[…] with one list or dict of sources per prompt."
        )
    return list(sources)


def named_sources(sources: Any) -> dict[str, str]:
    """Sources by name; a list gets the names 1, 2, …"""
    if sources is None:
        return {}
    if isinstance(sources, str) or not isinstance(sources, Iterable):
        raise InvalidInput(
            "sources are a list of texts, or a dict of texts by name. Give [text] for one source."
        )
    named = (
        dict(sources)
        if isinstance(sources, Mapping)
        else {str(n + 1): s for n, s in enumerate(sources)}
    )
    if not named:
        raise InvalidInput("sources=[] has no source. Leave it out, or give at least one text.")
    for name, text in named.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise InvalidInput(
                f"source {name!r} is {wrong_kind(text) if isinstance(name, str) else 'not named by text.'}"
            )
        if not text.strip():
            raise InvalidInput(f"source '{name}' is empty.")
    return {name: text.strip() for name, text in named.items()}


def prompt_of(
    model: Model,
    asked: Asked,
    sources: Mapping[str, str],
    template: str | None,
    tools: Sequence[Any] | None,
) -> Prompt:
    """One prompt as the model reads it."""
    if isinstance(asked, str):
        check_text(asked, 0)
        text = with_sources(asked, sources, template, TEMPLATE)
        (row,) = encode([text], tokenizer_of(model))
        return Prompt(row, {"sources": placed(sources, text)} if sources else {})
    messages = [dict(message) for message in asked]
    question = last_user(messages)
    content = with_sources(str(question["content"]), sources, template, CHAT_TEMPLATE, messages)
    question["content"] = content
    text = written_chat(model, messages, tools)
    (row,) = encode([text], tokenizer_of(model), adds_special=False)
    turns = turns_of(messages, text)
    known: dict[str, tuple[Unit, ...]] = {"turns": turns}
    if sources:
        known["sources"] = placed(sources, text)
    return Prompt(with_template_special(row, turns, text), known, is_chat=True)


def tokenizer_of(model: Model) -> Any:
    """The tokenizer of a model; refused if it shows no places of tokens in a text."""
    if model.tokenizer is None:
        raise InvalidInput(
            f"{model.name} was wrapped without a tokenizer, so it cannot read text. Give headlight.wrap a tokenizer."
        )
    return model.tokenizer


# ------------------------------------------------------------------------------------- sources


def with_sources(
    prompt: str,
    sources: Mapping[str, str],
    template: str | None,
    own: str,
    messages: Sequence[Message] = (),
) -> str:
    """The prompt, with its sources put in by the template unless they are all in it (or its chat) already."""
    if template is not None and not sources:
        raise InvalidOption(
            "template= says where sources go, and no sources were given. Give sources=…"
        )
    if not sources:
        return prompt
    if template is None:
        said = "\n".join(str(m["content"]) for m in messages) or prompt
        lacking = [name for name, text in sources.items() if text not in said]
        if not lacking:
            return prompt
        if len(lacking) < len(sources):
            raise InvalidInput(
                f"some sources are in the prompt, but not source {', '.join(map(repr, lacking))}. Write all of them "
                "into the prompt, exactly as they are given, or none: then a template puts them in."
            )
    template = own if template is None else template
    if template.count(SOURCES) != 1 or template.count(PROMPT) != 1:
        raise InvalidOption(
            f"template={template!r} must hold {SOURCES} and {PROMPT} once each: where the sources and the prompt go."
        )
    passages = "\n\n".join(f"[{name}] {text}" for name, text in sources.items())
    before, after = template.split(SOURCES)
    return before.replace(PROMPT, prompt) + passages + after.replace(PROMPT, prompt)


def placed(sources: Mapping[str, str], text: str) -> tuple[Unit, ...]:
    """Where each source is in the text; refused if that is nowhere or not one place."""
    found = []
    taken: list[tuple[int, int]] = []
    for name, source in sorted(sources.items(), key=lambda item: -len(item[1])):
        places = [p for p in occurrences(source, text) if not any(a <= p < b for a, b in taken)]
        if not places:
            raise InvalidInput(
                f"source '{name}' is not in the prompt as the model reads it: its template changes the text. "
                "Give a source that stands in the prompt exactly as it is given."
            )
        if len(places) > 1:
            raise InvalidInput(
                f"source '{name}' is in the prompt {len(places)} times, so it is not clear which one is meant. "
                "Write each source once."
            )
        taken.append((places[0], places[0] + len(source)))
        found.append(Unit(name, *taken[-1]))
    order = list(sources)
    return tuple(sorted(found, key=lambda unit: (unit.start, order.index(unit.name))))


def occurrences(part: str, text: str) -> list[int]:
    """Where a text begins in another."""
    places, start = [], text.find(part)
    while start >= 0:
        places.append(start)
        start = text.find(part, start + 1)
    return places


# --------------------------------------------------------------------------------------- chats


def last_user(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The last message of the user, which asks the question; the last message if there is none."""
    for number, message in enumerate(messages):
        if not isinstance(message["content"], str) or not isinstance(message["role"], str):
            raise InvalidInput(
                f"message {number} of the chat has a content or role that is not text. "
                "Write each message as one text; images and lists of parts are not read."
            )
    return next((m for m in reversed(messages) if m["role"] == "user"), messages[-1])


def written_chat(model: Model, messages: list[dict[str, Any]], tools: Sequence[Any] | None) -> str:
    """The chat as the tokenizer's own template writes it, up to where the answer begins."""
    if not getattr(tokenizer_of(model), "chat_template", None):
        raise InvalidInput(
            f"the tokenizer of {model.name} has no chat template, so messages cannot be written as it expects them. "
            "Give the prompt as one text, or set tokenizer.chat_template."
        )
    extra = {} if tools is None else {"tools": list(tools)}
    is_begun = messages[-1]["role"] == "assistant"
    try:
        text = tokenizer_of(model).apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=not is_begun,
            continue_final_message=is_begun,
            **extra,
        )
    except (TemplateError, ValueError, TypeError, KeyError) as error:
        said = " ".join(str(error).split())[:300]
        raise InvalidInput(
            f"the chat template of {model.name} does not take these messages: {said}"
        ) from error
    return str(text)


def turns_of(messages: Sequence[Message], text: str) -> tuple[Unit, ...]:
    """Where the content of each message is in what the template wrote."""
    units, start = [], 0
    for number, message in enumerate(messages):
        content = message["content"].strip()
        if not content:
            continue
        # Templates leave the thoughts of earlier turns out.
        for said in (content, content.rpartition(THOUGHTS_END)[2].strip()):
            place = text.find(said, start)
            if place >= 0 and said:
                units.append(Unit(f"{message['role']} {number + 1}", place, place + len(said)))
                start = place + len(said)
                break
        else:
            raise InvalidInput(
                f"message {number} ('{content[:40]}') is not in what the chat template writes, so its words "
                "have no place. Give the whole chat as one text instead."
            )
    return tuple(units)


def with_template_special(row: Row, turns: Sequence[Unit], text: str) -> Row:
    """The row with everything special that no message says: roles, control tokens, line breaks between."""
    assert row.offsets is not None
    places = [begin(text, span) for span in row.offsets]
    is_said = [any(turn.start <= place < turn.end for turn in turns) for place in places]
    return replace(row, is_special=tuple(not said for said in is_said))
