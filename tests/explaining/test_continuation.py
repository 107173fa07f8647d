"""What comes after a prompt stands in one text with it, character by character."""

from transformers import PreTrainedTokenizerFast

from headlight.batch import encode
from headlight.explaining.continuation import continued
from tests.known import known


def placed(tokenizer: PreTrainedTokenizerFast, prompt: str, ids: list[int]) -> list[str]:
    """The characters of every added token."""
    row = encode([prompt], tokenizer)[0]
    whole = continued(row, ids, tokenizer)
    assert whole.offsets is not None
    return [whole.texts[0][slice(*span)] for span in whole.offsets[len(row) :]]


def test_added_tokens_are_found_in_the_text(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    ids = byte_tokenizer(" are good\nfilms")["input_ids"]
    assert "".join(placed(byte_tokenizer, "the keys", ids)) == " are good\nfilms"


def test_bytes_of_one_character_share_it(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    ids = byte_tokenizer("🎬!")["input_ids"]
    assert placed(byte_tokenizer, "a film ", ids) == ["🎬"] * (len(ids) - 1) + ["!"]


def test_special_tokens_are_not_in_the_text(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    ids = [*byte_tokenizer(" a")["input_ids"], 2, *byte_tokenizer(" b")["input_ids"]]
    row = encode(["the"], byte_tokenizer)[0]
    whole = continued(row, ids, byte_tokenizer)
    assert whole.texts == ("the a b",)
    assert whole.is_special == (*row.is_special, *(i == 2 for i in ids))
    assert known(whole.segments)[len(row) :] == tuple(None if i == 2 else 0 for i in ids)
