"""What comes after a prompt stands in one text with it, character by character."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizer, PreTrainedTokenizerFast

import headlight
from headlight import InvalidInput, Model
from headlight.batch import encode
from headlight.explaining.continuation import (
    Writing,
    continued,
    generate,
    placed_by_decoding,
    surfaces_of,
)
from headlight.models.model import Task
from headlight.text import is_unseen
from headlight.units import WORD
from tests.known import known
from tests.networks import network

WRITING = Writing.of(9, {"do_sample": True, "temperature": 1.5, "seed": 4})


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


def test_a_byte_that_a_special_token_ends_stays_in_the_text(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    start = byte_tokenizer("🎬")["input_ids"][0]
    ids = [start, 2, *byte_tokenizer("b")["input_ids"]]
    assert placed(byte_tokenizer, "a", ids) == ["\ufffd", "", "b"]


def test_special_tokens_are_not_in_the_text(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    ids = [*byte_tokenizer(" a")["input_ids"], 2, *byte_tokenizer(" b")["input_ids"]]
    row = encode(["the"], byte_tokenizer)[0]
    whole = continued(row, ids, byte_tokenizer)
    assert whole.texts == ("the a b",)
    assert whole.is_special == (*row.is_special, *(i == 2 for i in ids))
    assert known(whole.segments)[len(row) :] == tuple(None if i == 2 else 0 for i in ids)


def test_a_sample_leaves_all_random_states_as_they_were(writer: Model) -> None:
    assert writer.tokenizer is not None
    (row,) = encode(["the keys"], writer.tokenizer)
    states = torch.get_rng_state(), random.getstate(), str(np.random.get_state())
    first, second = generate(writer, row, WRITING), generate(writer, row, WRITING)
    assert first == second
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert str(np.random.get_state()) == states[2]


# --------------------------------------------------------------------- offsets of many tokenizers

TEXTS = {
    "arabic": "المفاتيح على الطاولة. هل هذا صحيح؟",
    "chinese": "他喜欢这部电影。真的吗？",
    "hindi": "यह हिन्दी फ़िल्म अच्छी है।",
    "emoji": "a family 👨‍👩‍👧 and ❤️ and 🎬!",
    "code": "def f(x):\n\treturn x\t# tab\n\n",
    "accents": "cafe\u0301 nai\u0308ve",
    "crlf": "one line\r\nanother\r\n\r\nend",
}


def byte_level() -> PreTrainedTokenizerFast:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<pad>"], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator([" ".join(TEXTS.values())] * 5, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>")


def unigram() -> PreTrainedTokenizerFast:
    """In the manner of SentencePiece: spaces are ▁, and one is put before the text."""
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    alphabet = sorted({*"".join(TEXTS.values()), *"abcdefghijklmnopqrstuvwxyz"})
    trainer = trainers.UnigramTrainer(
        vocab_size=380,
        special_tokens=["<pad>", "<unk>"],
        unk_token="<unk>",
        initial_alphabet=alphabet,
        show_progress=False,
    )
    inner.train_from_iterator(list(TEXTS.values()) * 5, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>")


def word_piece() -> PreTrainedTokenizerFast:
    """In the manner of BERT: lower case, accents removed, spaces lost."""
    letters = sorted({c for text in TEXTS.values() for c in text.lower() if not c.isspace()})
    pieces = ["[PAD]", "[UNK]", *letters, *(f"##{c}" for c in letters)]
    vocabulary = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]")


class Slow(PreTrainedTokenizer):
    """A tokenizer that knows no places: one token per byte. It may write everything in capitals."""

    def __init__(self, *, shouts: bool = False, **options: Any) -> None:
        self.shouts = shouts
        super().__init__(pad_token="<pad>", **options)

    @property
    def vocab_size(self) -> int:
        return 256

    def get_vocab(self) -> dict[str, int]:
        return {f"<{n}>": n for n in range(256)} | self.added_tokens_encoder

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return [f"<{byte}>" for byte in text.encode()]

    def _convert_token_to_id(self, token: str) -> int:
        return int(token[1:-1])

    def _convert_id_to_token(self, index: int) -> str:
        return f"<{index % 256}>"

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        text = bytes(int(token[1:-1]) for token in tokens).decode(errors="replace")
        return text.upper() if self.shouts else text


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "byte_level": byte_level,
    "unigram": unigram,
    "word_piece": word_piece,
    "slow": Slow,
}


@pytest.fixture(scope="module", params=TOKENIZERS)
def speaker(request: pytest.FixtureRequest) -> Model:
    """A language model with a tokenizer of each kind."""
    tokenizer: Any = TOKENIZERS[request.param]()
    size = {"slow": 256}.get(request.param, len(tokenizer))
    net = network("llama", Task.CAUSAL, vocab_size=max(size, 257), max_position_embeddings=800)
    return headlight.wrap(net, tokenizer, name=f"a {request.param} speaker")


@pytest.mark.parametrize("name", TEXTS)
def test_places_are_exact_in_every_script(speaker: Model, name: str) -> None:
    text, answer = TEXTS[name], f" {TEXTS[name]}"
    made = headlight.explain_answer(speaker, text, answer, "input_x_gradient", of="words")
    assert (made.prompt, made.answer, made.text) == (text, answer, text + answer)
    assert all(made.text[unit.start : unit.end] == unit.name for unit in made.units)
    words = [word.group() for word in WORD.finditer(text)]
    names = [unit.name for unit in made.units]
    if (
        name == "chinese"
    ):  # a token may hold two characters; it belongs to the one in which it begins
        assert names == [word for word in words if word in names]
        assert "".join(made.part_texts) == "".join(words)
    else:
        assert names == words == list(made.part_texts)
    covered = {c for start, end in made.offsets for c in range(start, end)}
    lost = {c for c in range(len(made.text)) if c not in covered}
    assert all(is_unseen(made.text[c]) for c in lost)  # WordPiece drops accents


@pytest.mark.parametrize("name", ["arabic", "emoji", "code"])
def test_what_the_model_writes_has_places(speaker: Model, name: str) -> None:
    made = headlight.explain_answer(
        speaker, TEXTS[name], None, "input_x_gradient", of="tokens", max_new_tokens=12
    )
    assert made.prompt == TEXTS[name]
    assert made.answer.strip()
    covered = {c for part in made.parts for c in range(part.start, part.end)}
    assert covered == set(range(made.prompt_end, len(made.text)))


def test_a_slow_tokenizer_that_changes_the_text_is_refused() -> None:
    (row,) = encode(["the keys"], Slow(shouts=True))
    with pytest.raises(InvalidInput, match=r"decoded they are another text\. Use its fast version"):
        placed_by_decoding(row, Slow(shouts=True))


def test_long_texts_are_decoded_in_chunks(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    text = "a film 🎬🎬 is 好电影! " * 40
    ids = byte_tokenizer(text)["input_ids"]
    assert len(ids) > 500
    surfaces = known(surfaces_of((), ids, byte_tokenizer))
    assert "".join(surfaces) == text
    assert len(surfaces) == len(ids)


def test_progress_counts_tokens_and_changes_nothing(
    byte_tokenizer: PreTrainedTokenizerFast,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = network("llama", Task.CAUSAL, vocab_size=360)
    model = headlight.wrap(net, byte_tokenizer, name="tiny")
    row = encode(["the keys"], byte_tokenizer)[0]
    plain = generate(model, row, WRITING)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = Writing.of(9, {"do_sample": True, "temperature": 1.5, "seed": 4}, progress=True)
    assert generate(model, row, shown) == plain
    said = capsys.readouterr().err
    assert "writing, tokens" in said
    assert f"{len(plain)}/9" in said
