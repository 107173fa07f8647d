"""The table of model families: names of parts, nothing executable.

Paths are relative to the base model (`network.base_model`). A row is proved on the live network when
it is wrapped (`proof/proof.py`), so a part that was renamed upstream is an error that names the row.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class BlockPaths:
    """The parts of a block that mix tokens, as paths below it.

    projection: the layer that joins the heads.
    norm: the normalisation of attention plus residual; None if blocks normalise their input instead
        (pre-norm).
    second_norm: the normalisation of the feed-forward part: after it or, pre-norm, before it.
    """

    projection: str
    norm: str | None
    second_norm: str


@dataclass(frozen=True)
class Architecture:
    """One family.

    embeddings: the embedding module, then a projection if the family may have one; the last that exists
        makes the input of the first block.
    blocks: the list of blocks ('*' stands for every member of a list); a block may run several times.
    position_offset: positions lost because counting starts after the padding index.
    final_norm: the normalisation after the last block, if there is one.
    parts: the parts of a block that mix tokens; None if blocks are not built from such parts in this order.
    """

    embeddings: tuple[str, ...]
    blocks: str
    position_offset: int = 0
    final_norm: str | None = None
    parts: BlockPaths | None = None


BERT_PARTS = BlockPaths("attention.output.dense", "attention.output.LayerNorm", "output.LayerNorm")
BERT = Architecture(("embeddings",), "encoder.layer", parts=BERT_PARTS)
ROBERTA = replace(BERT, position_offset=2)
LLAMA = Architecture(
    ("embed_tokens",),
    "layers",
    final_norm="norm",
    parts=BlockPaths("self_attn.o_proj", None, "post_attention_layernorm"),
)

ARCHITECTURES: dict[str, Architecture] = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "distilbert": Architecture(
        ("embeddings",),
        "transformer.layer",
        parts=BlockPaths("attention.out_lin", "sa_layer_norm", "output_layer_norm"),
    ),
    "electra": replace(BERT, embeddings=("embeddings", "embeddings_project")),
    "albert": Architecture(
        ("embeddings", "encoder.embedding_hidden_mapping_in"),
        "encoder.albert_layer_groups.*.albert_layers",
        parts=BlockPaths("attention.dense", "attention.LayerNorm", "full_layer_layer_norm"),
    ),
    "mpnet": replace(
        ROBERTA, parts=BlockPaths("attention.attn.o", "attention.LayerNorm", "output.LayerNorm")
    ),
    "deberta-v2": BERT,
    "modernbert": Architecture(
        ("embeddings",),
        "layers",
        final_norm="final_norm",
        parts=BlockPaths("attn.Wo", None, "mlp_norm"),
    ),
    "gpt2": Architecture(
        ("drop",), "h", final_norm="ln_f", parts=BlockPaths("attn.c_proj", None, "ln_2")
    ),
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": LLAMA,
}
