"""`Model`: a network, its tokenizer and what headlight knows about them; every public function takes one."""

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headlight.errors import InvalidInput, UnsupportedModel
from headlight.models.architectures import ARCHITECTURES, Architecture
from headlight.models.arguments import arguments_of
from headlight.models.readout import UNREAD, Readout
from headlight.models.task import HEADS as HEADS
from headlight.models.task import POOLED as POOLED
from headlight.models.task import Task as Task


@dataclass(frozen=True, eq=False)
class BlockParts:
    """The live modules of a block that mix tokens (see `architectures.BlockPaths`)."""

    projection: nn.Module
    norm: nn.Module | None
    second_norm: nn.Module


@dataclass(frozen=True, eq=False)
class Model:
    """A live network with its tokenizer, task and row of the architecture table (None: unknown family).

    reads: what it was trained to read, if that is known. The fields below are determined when the
        network is wrapped (`proof/proof.py`).
    sees_attention_by: how its attention is watched: through transformers' interface or, if that shows
        nothing, at its softmax.
    readout: where its head reads.
    attention_refusal: why its attention cannot be used, if it cannot.
    relevance_refusal: why relevance cannot be sent through it, if it cannot.
    modified_refusal: why gradients cannot be modified on their way through it, if they cannot.
    takes_one_row: it refuses batches, or answers differently beside longer rows.
    is_causal: its tokens look back only, as in decoders.
    gives_few_logits: it can leave out the logits of positions that nobody reads.
    kept_per_token: how many numbers a pass keeps for gradients, per token.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | None
    name: str
    task: Task
    architecture: Architecture | None
    sees_attention_by: Literal["interface", "softmax"] = "interface"
    reads: Literal["text", "pair"] | None = None
    attention_refusal: str = ""
    relevance_refusal: str = ""
    modified_refusal: str = ""
    readout: Readout = UNREAD
    takes_one_row: bool = False
    is_causal: bool = False
    gives_few_logits: bool = False
    kept_per_token: float = 0.0

    @property
    def labels(self) -> dict[int, str]:
        """Names of the classes by index; a regression without real names has 'value'."""
        names = {int(i): str(name) for i, name in (self.network.config.id2label or {}).items()}
        if self.task is Task.REGRESSION and names == {i: f"LABEL_{i}" for i in names}:
            return {0: "value"} if len(names) == 1 else {i: f"value {i}" for i in names}
        return names

    @property
    def separator_id(self) -> int | None:
        """The id of the token that ends or separates texts, such as [SEP], if the model has one."""
        own: int | None = getattr(self.network.config, "sep_token_id", None)
        return getattr(self.tokenizer, "sep_token_id", None) if own is None else own

    @property
    def pad_id(self) -> int | None:
        """The id that pads short rows, if the model or its tokenizer has one."""
        tokenizer_pad: int | None = getattr(self.tokenizer, "pad_token_id", None)
        return tokenizer_pad if self.own_pad_id is None else self.own_pad_id

    @property
    def own_pad_id(self) -> int | None:
        """The pad token of the network's own config, by which decoder classifiers find their last token."""
        pad: int | None = getattr(self.network.config.get_text_config(), "pad_token_id", None)
        return pad

    @property
    def token_limit(self) -> int | None:
        """The longest input in tokens, special tokens included; None if nothing limits it."""
        config = self.network.config.get_text_config()
        limits = []
        positions = getattr(config, "max_position_embeddings", None) or 0
        if positions > 0:  # XLNet says -1 for no limit
            offset = self.architecture.position_offset if self.architecture else 0
            limits.append(positions - offset)
        if self.tokenizer is not None and self.tokenizer.model_max_length < 10**9:
            limits.append(self.tokenizer.model_max_length)
        return min(limits, default=None)

    @property
    def end_id(self) -> int | None:
        """The token that ends a text, if the model or its tokenizer has one."""
        config = self.network.config.get_text_config()
        end = getattr(config, "eos_token_id", None) or getattr(self.tokenizer, "sep_token_id", None)
        end = end[0] if isinstance(end, list) else end
        return end if end is not None and end < self.vocabulary_size else None

    @property
    def type_count(self) -> int:
        """How many token types the network tells apart."""
        known = getattr(self.network.config.get_text_config(), "type_vocab_size", None) or 0
        return known if self.takes_types else 0

    @property
    def takes_types(self) -> bool:
        """Whether the network's forward takes token type ids."""
        return "token_type_ids" in arguments_of(self.network)

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids the input embedding knows."""
        return len(self.word_embeddings.weight)

    @property
    def word_embeddings(self) -> nn.Embedding:
        """The table of word embeddings."""
        try:
            table = self.network.get_input_embeddings()
        except NotImplementedError:
            table = None
        if isinstance(getattr(table, "weight", None), torch.Tensor):
            return cast("nn.Embedding", table)
        raise UnsupportedModel(
            f"{self.family} has no table of word embeddings (one vector per token id), so there is "
            "nothing to score. Use a network that has such a table."
        )

    @property
    def device(self) -> torch.device:
        """Where inputs go: to the word embeddings, whose device the rest of the network need not share."""
        return self.word_embeddings.weight.device

    @property
    def embedding_stages(self) -> list[nn.Module]:
        """The embedding module and, if the family has one, the projection to the width of the blocks.

        The gradient is cut at the output of the last, which is the input of the first block. In an
        unknown family only the word embeddings are known.
        """
        if self.architecture is None:
            return [self.word_embeddings]
        stages = [m for path in self.architecture.embeddings for m in self.modules_at(path)]
        if not stages:
            raise self.missing_part("embeddings", ", ".join(self.architecture.embeddings))
        return stages

    @property
    def embedding_lookups(self) -> list[nn.Module]:
        """The modules whose output is taken for the embeddings: the last stage, and others on the same table.

        An encoder-decoder has its table of word embeddings in several modules.
        """
        last = self.embedding_stages[-1]
        table = getattr(last, "weight", None)
        tied = [m for m in self.network.modules() if isinstance(m, nn.Embedding)]
        return [last, *(m for m in tied if m is not last and m.weight is table)]

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the network reads its text twice: in an encoder, and one token later in a decoder."""
        return has_two_bodies(self.network)

    @property
    def blocks(self) -> list[nn.Module]:
        """The Transformer blocks from input to output."""
        if self.is_encoder_decoder:
            raise UnsupportedModel(
                f"{self.family} is an encoder-decoder: the blocks of its encoder and of its decoder do not "
                "form one stack of layers. Use a method that needs no blocks: input_x_gradient, "
                "integrated_gradients, occlusion."
            )
        if self.architecture is None:
            raise UnsupportedModel(
                f"{self.family} has no row in the architecture table, and its blocks were not found on the "
                f"network. Known families: {', '.join(sorted(ARCHITECTURES))}. Add a row "
                "(docs/how-to/add-an-architecture.md), or use a method that needs no blocks."
            )
        blocks = [b for part in self.modules_at(self.architecture.blocks) for b in part.children()]
        if not blocks:
            raise self.missing_part("blocks", self.architecture.blocks)
        return blocks

    @property
    def has_blocks(self) -> bool:
        """Whether the blocks of the network are known."""
        return self.architecture is not None

    @property
    def final_norms(self) -> list[nn.Module]:
        """The normalisation between the last block and the head; [] in families without one."""
        path = self.architecture.final_norm if self.architecture else None
        return self.modules_at(path) if path else []

    @property
    def block_parts(self) -> list[BlockParts]:
        """The parts of every block that mix tokens."""
        blocks = self.blocks
        assert self.architecture is not None
        names = self.architecture.parts
        if names is None:
            raise UnsupportedModel(
                f"the row '{self.network.config.model_type}' of the architecture table names no parts of "
                "blocks, so attention cannot be decomposed. Use a method that does not decompose it."
            )

        def part(block: nn.Module, role: str, path: str) -> nn.Module:
            try:
                return block.get_submodule(path)
            except AttributeError as error:
                raise self.missing_part(role, path) from error

        return [
            BlockParts(
                part(block, "the projection of a block", names.projection),
                part(block, "the norm of a block", names.norm) if names.norm else None,
                part(block, "the second norm of a block", names.second_norm),
            )
            for block in blocks
        ]

    @property
    def family(self) -> str:
        """The network's class and model type, for messages."""
        return f"{type(self.network).__name__} (model type '{self.network.config.model_type}')"

    def modules_at(self, path: str) -> list[nn.Module]:
        """The modules at a path of the table below the base model; [] if it does not exist."""
        modules: list[nn.Module] = [self.network.base_model]
        for name in path.split("."):
            if name == "*":
                modules = [child for module in modules for child in module.children()]
            else:
                children = (getattr(module, name, None) for module in modules)
                modules = [child for child in children if isinstance(child, nn.Module)]
        return modules

    def missing_part(self, role: str, path: str) -> UnsupportedModel:
        """The error for a row of the table that does not fit the live network."""
        return UnsupportedModel(
            f"the row '{self.network.config.model_type}' of the architecture table names '{path}' as "
            f"{role}, but {self.family} has no such part. The installed transformers may have renamed "
            "it: correct the row in models/architectures.py."
        )

    def check_row_length(self, number: int, count: int) -> None:
        """Refuse a row of ids that is longer than the network can read."""
        if self.token_limit is not None and count > self.token_limit:
            raise InvalidInput(
                f"row {number} has {count} tokens and {self.name} takes {self.token_limit}. "
                "Give fewer ids, or give text, which can be cut or explained in windows (stride=)."
            )


def task_of(network: PreTrainedModel) -> Task:
    """The task of a network, from the name of its class or of a parent of it."""
    for parent in type(network).__mro__:
        for suffix, task in HEADS.items():
            if parent.__name__.endswith(suffix):
                is_regression = task is Task.SEQUENCE and (
                    network.config.num_labels == 1 or network.config.problem_type == "regression"
                )
                return Task.REGRESSION if is_regression else task
    raise UnsupportedModel(
        f"{type(network).__name__} has no head whose decision could be explained. Load the checkpoint "
        "with one of AutoModelForSequenceClassification, -TokenClassification, -QuestionAnswering, "
        "-MaskedLM or -CausalLM; for a network with a custom head, say what it does: wrap(…, task=…)."
    )


def has_two_bodies(network: PreTrainedModel) -> bool:
    """Whether a network has an encoder and a decoder, and not only one of the two."""
    is_double = getattr(network.config, "is_encoder_decoder", False)
    return is_double and getattr(network.base_model, "decoder", None) is not None


def is_half_precision(network: PreTrainedModel) -> bool:
    """Whether the weights are in a 16-bit type."""
    return network.dtype in (torch.float16, torch.bfloat16)
