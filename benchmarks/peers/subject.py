"""The networks that every library explains: seeded weights and a tokenizer of whole words, in a folder.

Every library reads the same files, because seeds give other weights in other versions of transformers.
"""

from pathlib import Path
from typing import Any

import torch
from benchmarks.peers.texts import WORDS
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
VOCABULARY = 8192


def tokenizer(frame: str, mask: str) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words; the vocabulary is filled up with words that no text has."""
    names = [*SPECIAL.values(), *WORDS]
    names += [f"unused{number}" for number in range(len(names), VOCABULARY)]
    known = {name: number for number, name in enumerate(names)}
    words = Tokenizer(WordLevel(known, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    ends = [(name, known[name]) for name in ("[CLS]", "[SEP]")]
    words.post_processor = TemplateProcessing(single=frame, special_tokens=ends)
    special = {f"{name}_token": token for name, token in SPECIAL.items()}
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        **{**special, "bos_token": "[CLS]", "eos_token": "[SEP]", "mask_token": mask},
    )


def networks() -> dict[str, PreTrainedModel]:
    """A classifier and two language models of 6 layers and 384 features, with seeded weights."""
    torch.manual_seed(0)
    # Without a pad token inseq generates after padding that is attended to, and explains another token.
    ends: dict[str, Any] = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    size: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "initializer_range": 0.05,
        "max_position_embeddings": 128,
    }
    return {
        "bert": BertForSequenceClassification(
            BertConfig(**size, num_attention_heads=12, intermediate_size=1536)
        ),
        "llama": LlamaForCausalLM(
            LlamaConfig(**size, **ends, num_attention_heads=6, intermediate_size=1024)
        ),
        "gpt2": GPT2LMHeadModel(GPT2Config(**size, **ends, n_head=6)),
    }


def write(folder: Path) -> None:
    """Writes each network with its tokenizer into a folder of its name.

    The mask token of the language models is [UNK], from which inseq's integrated gradients start.
    """
    for name, network in networks().items():
        classifies = name == "bert"
        words = tokenizer(
            "[CLS] $A [SEP]" if classifies else "$A", "[MASK]" if classifies else "[UNK]"
        )
        network.eval().save_pretrained(folder / name)
        words.save_pretrained(folder / name)
