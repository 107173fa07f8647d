"""Chats: what each message says is found where the template wrote it, whatever the template does."""

from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import HeadlightError, Model
from headlight.explaining.chats import Chat, written_chat
from headlight.models.model import Task
from tests.networks import network

PLAIN = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
TRIMS = PLAIN.replace("m.content", "m.content | trim")
FORGETS = PLAIN.replace("m.content", "m.content.split('</think>')[-1].lstrip('\\n')")
ESCAPES = PLAIN.replace("{{ m.content }}", "{{ m.content | tojson }}")
DEFAULT = "<|system|>\nYou are kind.<|end|>\n" + PLAIN
MERGES = (
    "{% for m in messages %}{% if m.role == 'system' %}{% elif loop.index0 == 1 %}"
    "[INST] {{ messages[0].content }}\n{{ m.content }} [/INST]"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)
REFUSES = "{{ raise_exception('roles must alternate') }}"
TWICE = PLAIN.replace("{{ m.content }}", "{{ m.content }} {{ m.content }}")
DROPS = PLAIN.replace("{{ m.content }}", "{% if m.role != 'system' %}{{ m.content }}{% endif %}")
SHOUTS = PLAIN.replace("m.content", "m.content | upper")
TOOLS = "{% if tools %}<|tools|>{{ tools | tojson }}{% endif %}" + PLAIN.replace(
    "{{ m.content }}",
    "{{ m.content or '' }}{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}",
)


def speaker(byte_tokenizer: PreTrainedTokenizerFast, template: str | None) -> Model:
    """A model with this chat template."""
    from copy import deepcopy

    tokenizer = deepcopy(byte_tokenizer)
    tokenizer.chat_template = template
    net = network("llama", Task.CAUSAL, vocab_size=360, max_position_embeddings=600)
    return headlight.wrap(net, tokenizer, name="speaker")


def says(role: Any, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def turns(chat: Chat) -> list[tuple[str, str]]:
    return [(unit.name, chat.text[unit.start : unit.end]) for unit in chat.turns]


@pytest.mark.parametrize("template", [PLAIN, TRIMS, FORGETS, DEFAULT])
@pytest.mark.parametrize(
    "contents",
    [
        ["Be brief.", "yes", "yes", "yes"],
        ["s", "user", "assistant", "end"],
        ["<|user|>\nuser", "<|end|>", "\n", "a\n\nb"],
        ["  padded \n", "\tone", "PIECE0. PIECE1.", "{{ m.content }}"],
        ["好的", "👨‍👩‍👧", "e\u0301", "لا"],
    ],
)
def test_contents_land_on_their_own_turns(
    byte_tokenizer: PreTrainedTokenizerFast, template: str, contents: list[str]
) -> None:
    roles = ["system", "user", "assistant", "user"]
    messages = [says(role, content) for role, content in zip(roles, contents, strict=True)]
    chat = written_chat(speaker(byte_tokenizer, template), messages, {})
    expected = [
        (f"{role} {number}", content.strip())
        for number, (role, content) in enumerate(zip(roles, contents, strict=True), 1)
        if content.strip()
    ]
    assert turns(chat) == expected
    starts = [unit.start for unit in chat.turns]
    for unit, role in zip(chat.turns, [name.split()[0] for name, _ in expected], strict=True):
        assert chat.text[: unit.start].rstrip().endswith(f"<|{role}|>")
    assert starts == sorted(starts)


def test_thoughts_of_earlier_turns_are_left_out_or_kept_as_the_template_does(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    said = "<think>\nthe film\n</think>\n\nyes"
    messages = [says("user", "good?"), says("assistant", said), says("user", "sure?")]
    left = written_chat(speaker(byte_tokenizer, FORGETS), messages, {})
    assert turns(left) == [("user 1", "good?"), ("assistant 2", "yes"), ("user 3", "sure?")]
    kept = written_chat(speaker(byte_tokenizer, PLAIN), messages, {})
    assert turns(kept)[1] == ("assistant 2", "the film\n</think>\n\nyes")


def test_a_content_in_json_is_found_and_has_no_places_if_it_was_escaped(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = speaker(byte_tokenizer, ESCAPES)
    chat = written_chat(
        model, [says("user", 'say "a"\nb'), says("assistant", "plain"), says("user", "c")], {}
    )
    assert turns(chat)[0] == ("user 1", 'say \\"a\\"\\nb')
    assert chat.place_of(0, (5, 6)) is None
    place = chat.place_of(1, (1, 3))
    assert place is not None
    assert chat.text[slice(*place)] == "la"


def test_a_system_message_may_stand_in_the_turn_of_the_user(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    chat = written_chat(
        speaker(byte_tokenizer, MERGES), [says("system", "Be brief."), says("user", "Go?")], {}
    )
    assert turns(chat) == [("system 1", "Be brief."), ("user 2", "Go?")]


def test_a_begun_answer_is_continued(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    messages = [says("user", "Go?"), says("assistant", "Yes, because")]
    chat = written_chat(speaker(byte_tokenizer, PLAIN), messages, {})
    assert chat.text.endswith("<|assistant|>\nYes, because")
    assert turns(chat)[-1] == ("assistant 2", "Yes, because")


def test_tools_and_their_calls_are_written_by_the_template(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = speaker(byte_tokenizer, TOOLS)
    call = {"type": "function", "function": {"name": "clock", "arguments": {}}}
    messages = [
        says("user", "What time is it?"),
        says("assistant", None, tool_calls=[call]),
        says("tool", "noon"),
    ]
    chat = written_chat(model, messages, {"tools": [{"name": "clock"}]})
    assert chat.text.startswith("<|tools|>")
    assert turns(chat) == [("user 1", "What time is it?"), ("tool 3", "noon")]


@pytest.mark.parametrize(
    ("template", "messages", "extra", "message"),
    [
        (None, [says("user", "a")], {}, "has no chat template, so messages cannot be written"),
        (REFUSES, [says("user", "a")], {}, "does not take these messages: roles must alternate"),
        (TWICE, [says("user", "a")], {}, r"message 0 \('a'\) is not shown once and unchanged"),
        (SHOUTS, [says("user", "a b")], {}, r"message 0 \('a b'\) is not shown once"),
        (DROPS, [says("system", "x"), says("user", "a")], {}, r"message 0 \('x'\) is not shown"),
        (PLAIN, [says("user", "a")], {"tools": []}, "does not read 'tools', so it would change"),
        (PLAIN, [says("user", "a")], {"tokenize": True}, "'tokenize' is not possible"),
        (PLAIN, [says("user", [{"type": "text"}])], {}, "message 0 of the chat has a content or"),
        (
            PLAIN,
            [says("user", None)],
            {},
            "message 0 of the chat has a content or role that is not",
        ),
        (PLAIN, [says(3, "a")], {}, "message 0 of the chat has a content or role that is not text"),
        (PLAIN, [says("user", "  ")], {}, "no message of the chat says anything"),
    ],
)
def test_chats_that_cannot_be_read_are_refused(
    byte_tokenizer: PreTrainedTokenizerFast,
    template: str | None,
    messages: list[dict[str, Any]],
    extra: dict[str, Any],
    message: str,
) -> None:
    model = speaker(byte_tokenizer, template)
    with pytest.raises(HeadlightError, match=message):
        headlight.explain_answer(model, {"messages": messages, **extra}, " b", "input_x_gradient")
