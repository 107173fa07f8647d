"""Prompts: texts, chats and sources become rows whose special tokens, turns and sources are known."""

from typing import Any

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import HeadlightError, Model
from headlight.explaining.prompts import prompts_of
from tests.explaining.test_chats import ESCAPES, PLAIN, says, speaker

CHAT = [says("system", "Be brief."), says("user", "who wrote it?")]


@pytest.fixture(scope="module")
def talker(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    return speaker(byte_tokenizer, PLAIN)


@pytest.mark.parametrize(
    ("given", "count", "is_one"),
    [
        ("a film", 1, True),
        (["a film"], 1, False),
        (["a film", CHAT], 2, False),
        (CHAT, 1, True),
        (tuple(CHAT), 1, True),
        ([CHAT], 1, False),
        ({"messages": CHAT}, 1, True),
        ([{"messages": CHAT}, "a"], 2, False),
        (("a", "b"), 2, False),
    ],
)
def test_one_prompt_or_several(talker: Model, given: Any, count: int, is_one: bool) -> None:
    prompts, was_one = prompts_of(talker, given)
    assert (len(prompts), was_one) == (count, is_one)


def test_what_the_template_adds_is_special(talker: Model) -> None:
    ((prompt,), _) = prompts_of(talker, CHAT)
    assert prompt.is_chat
    assert prompt.row.offsets is not None
    said = "".join(
        prompt.text[start:end]
        for (start, end), special in zip(prompt.row.offsets, prompt.row.is_special, strict=True)
        if not special
    )
    assert said == "Be brief.who wrote it?"


def test_units_of_a_chat_are_looked_for_in_its_turns(talker: Model) -> None:
    made = headlight.explain_answer(talker, CHAT, "mary", "input_x_gradient")
    assert made.unit == "words"
    assert [unit.name for unit in made.units] == ["Be", "brief", ".", "who", "wrote", "it", "?"]
    assert [unit.name for unit in made.by("turns").units] == ["system 1", "user 2"]
    np.testing.assert_allclose(made.by("turns").matrix.sum(), made.matrix.sum(), atol=1e-5)
    longer = [*CHAT, says("assistant", "mary"), says("user", "who?")]
    assert headlight.explain_answer(talker, longer, "mary", "input_x_gradient").unit == "turns"


def test_sources_in_messages_are_found_in_the_text(talker: Model) -> None:
    chat = [
        says("user", "who wrote it?"),
        says("tool", "the story was written by mary"),
        says("tool", "user"),
        says("user", "well?"),
    ]
    sources = {"book": "the story was written by mary", "short": "user"}
    ((prompt,), _) = prompts_of(talker, chat, sources)
    units = prompt.known["sources"]
    assert {unit.name: prompt.text[unit.start : unit.end] for unit in units} == sources
    assert prompt.text[: units[1].start].endswith("<|tool|>\n")


def test_sources_are_put_into_the_last_message_of_the_user(talker: Model) -> None:
    ((prompt,), _) = prompts_of(talker, CHAT, ["by mary", "in london"])
    assert prompt.text.endswith("Question: who wrote it?<|end|>\n<|assistant|>\n")
    assert [prompt.text[u.start : u.end] for u in prompt.known["sources"]] == [
        "by mary",
        "in london",
    ]
    slot = [says("system", "Know:\n{sources}"), says("user", "who?")]
    ((prompt,), _) = prompts_of(talker, slot, ["by mary"])
    assert "Know:\n[1] by mary<|end|>" in prompt.text


def test_every_prompt_has_its_own_sources(talker: Model) -> None:
    (first, second), _ = prompts_of(talker, ["who?", "where?"], [["mary"], {"map": "london"}])
    assert [unit.name for unit in first.known["sources"]] == ["1"]
    assert [unit.name for unit in second.known["sources"]] == ["map"]


def test_citations_name_sources(talker: Model) -> None:
    made = headlight.explain_answer(
        talker,
        "who?",
        " mary. london.",
        "input_x_gradient",
        sources={"a": "by mary", "b": "in london"},
        of="tokens",
    )
    assert made.unit == "sources"
    cited = made.cite()
    assert {each.source for each in cited} <= {"a", "b"}
    assert {each.sentence for each in cited} <= {"mary.", "london."}


@pytest.mark.parametrize(
    ("given", "sources", "message"),
    [
        (["a", "b"], ["c", "d"], r"2 prompts were given. Give sources=\[…\] with one list or dict"),
        (["a", "b"], [["c"]], "2 prompts were given"),
        (["a", "b"], {"c": "d"}, "2 prompts were given"),
        (["a", "b"], [["c"], [""]], "prompt 1: source '1' is empty"),
        ([["a"]], None, "prompt 0 is neither a text nor a chat"),
        ([{"content": "a"}], None, "prompt 0 is neither a text nor a chat"),
        ({"role": "user", "content": "a"}, None, "the prompt is a mapping without messages"),
        ({"messages": []}, None, "the prompt is a mapping without messages"),
        (b"a", None, "the input is bytes, not text"),
    ],
)
def test_prompts_that_are_none_are_refused(
    talker: Model, given: Any, sources: Any, message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        prompts_of(talker, given, sources)


def test_a_source_that_the_template_changes_is_refused(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = speaker(byte_tokenizer, ESCAPES)
    with pytest.raises(
        HeadlightError, match="source '1' is not in the prompt as the model reads it"
    ):
        prompts_of(model, [says("user", 'by "mary" who?')], ['by "mary"'])
