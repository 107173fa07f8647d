"""Tokens of every tokenizer as people read them."""

import pytest

from headlight.tokens import in_scale, outside_names, readable, spelled

T, F = True, False


@pytest.mark.parametrize(
    ("is_special", "is_sink", "expected", "names"),
    [
        ([F, F, F], [F, F, F], [T, T, T], []),
        ([T, F, F], [F, F, F], [F, T, T], ["special tokens"]),
        ([F, F, F], [T, F, F], [F, T, T], ["the first token"]),
        ([F, F, T], [T, F, F], [F, T, F], ["special tokens", "the first token"]),
        ([T, F, F], [T, F, F], [F, T, T], ["special tokens"]),
        ([F, T, T], [T, F, F], [T, F, F], ["special tokens"]),
        ([T, T], [T, F], [F, T], ["special tokens"]),
        ([T], [T], [T], []),
        ([], [], [], []),
    ],
)
def test_special_tokens_and_sinks_set_the_scale_only_if_nothing_else_is_left(
    is_special: list[bool], is_sink: list[bool], expected: list[bool], names: list[str]
) -> None:
    assert in_scale(is_special, is_sink) == expected
    assert outside_names(is_special, is_sink) == names


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["[CLS]", "un", "##for", "##get", "film", "[SEP]"], "[CLS] unforget film [SEP]"),
        (["The", "Ġkeys", "Ċ", "Ã©"], "The keys\né"),
        (["▁The", "▁key", "s"], " The keys"),
        (["##s"], "s"),
    ],
)
def test_tokens_are_spelled_so_that_they_make_the_text(tokens: list[str], text: str) -> None:
    assert "".join(spelled(tokens)) == text
    assert len(spelled(tokens)) == len(tokens)


def test_tokens_of_white_space_have_a_sign() -> None:
    assert readable(["ĠThe", "Ċ", "Ġ", "Ġend"]) == ("The", "⏎", "␣", "end")
