"""Tokenizers made on the spot, and quiet libraries."""

import os

import pytest
import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast
from transformers.utils import logging

import headlight
from headlight import Example, Results
from headlight.evaluation.evaluate import evaluate
from headlight.models.model import Task
from tests.networks import VOCABULARY, network

logging.set_verbosity_error()
torch.set_num_threads(int(os.environ.get("HEADLIGHT_TEST_THREADS", "1")))

WORDS = [
    "a",
    "charming",
    "and",
    "often",
    "affecting",
    "journey",
    "the",
    "film",
    "is",
    "dull",
    "but",
    "never",
    "boring",
    "who",
    "wrote",
    "it",
    "was",
    "written",
    "by",
    "mary",
    "shelley",
    "in",
    "london",
    "keys",
    "to",
    "cabinet",
    "are",
    "good",
    "bad",
    "movie",
    "##ing",
    "##s",
    "##ly",
    "un",
    "##ful",
    ".",
    ",",
    "!",
    "?",
    "'",
    "-",
    "not",
    "very",
    "story",
    "plot",
    "of",
    "this",
    "that",
    "he",
    "she",
    "they",
    "has",
    "have",
]


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer in the manner of BERT."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = list("abcdefghijklmnopqrstuvwxyz")
    pieces = dict.fromkeys([*special, *WORDS, *letters, *(f"##{c}" for c in letters)])
    vocabulary = {piece: number for number, piece in enumerate(list(pieces)[:VOCABULARY])}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=80,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level tokenizer in the manner of GPT-2."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=360,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([" ".join(WORDS)] * 20, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )


@pytest.fixture(scope="session")
def classifier(tokenizer: PreTrainedTokenizerFast) -> headlight.Model:
    """A BERT classifier with label names and a tokenizer."""
    labels = {0: "negative", 1: "neutral", 2: "positive"}
    net = network(
        "bert", Task.SEQUENCE, id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    return headlight.wrap(net, tokenizer, name="tiny classifier")


@pytest.fixture(scope="session")
def reader(tokenizer: PreTrainedTokenizerFast) -> headlight.Model:
    """A BERT question answerer."""
    return headlight.wrap(network("bert", Task.QUESTION), tokenizer, name="tiny reader")


@pytest.fixture(scope="session")
def filler(tokenizer: PreTrainedTokenizerFast) -> headlight.Model:
    """A BERT masked language model."""
    return headlight.wrap(network("bert", Task.MASKED), tokenizer, name="tiny filler")


@pytest.fixture(scope="session")
def tagger(tokenizer: PreTrainedTokenizerFast) -> headlight.Model:
    """A BERT token classifier."""
    labels = {0: "O", 1: "PER", 2: "LOC"}
    net = network("bert", Task.TOKEN, id2label=labels, label2id={v: k for k, v in labels.items()})
    return headlight.wrap(net, tokenizer, name="tiny tagger")


@pytest.fixture(scope="session")
def writer(byte_tokenizer: PreTrainedTokenizerFast) -> headlight.Model:
    """A Llama language model with grouped-query attention."""
    net = network("llama", Task.CAUSAL, vocab_size=360)
    return headlight.wrap(net, byte_tokenizer, name="tiny writer")


@pytest.fixture(scope="session")
def small_run(classifier: headlight.Model) -> Results:
    """A small run; its texts are too short for Mask-LRP's protocol."""
    examples = [
        Example(" ".join(WORDS[n : n + 6]), n % 3, marks=((0, 0, 3),))
        for n in range(len(WORDS) - 6)
    ]
    examples.append(Example(" ", 0))
    methods = ["random", "attcat", "integrated_gradients:steps=2", "integrated_gradients:steps=4"]
    metrics = [
        "aopc",
        "hiding",
        "rationale",
        "kendall_confidence",
        "token_overlap",
        "aopc@mask_lrp",
    ]
    return evaluate(classifier, examples[-9:], methods, metrics, threads=1)
