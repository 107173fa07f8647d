"""Tokens of every tokenizer as people read them."""

import pytest

from headlight.tokens import readable, spelled


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
