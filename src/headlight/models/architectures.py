"""The table of model families: names of parts, nothing executable.

Paths are relative to the base model (`network.base_model`). A row is proved on the live network when
it is wrapped (`trace/check.py`), so a part that was renamed upstream is an error that names the row.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Architecture:
    """One family.

    embeddings: the embedding module, then a projection if there is one (it may be missing); the last
        that exists makes the input of the first block.
    blocks: the list of blocks ('*' stands for every member of a list); a block may run several times.
    pooling: where sequence classification reads ('config': the model's own `classifier_pooling`).
    position_offset: positions lost because counting starts after the padding index.
    """

    embeddings: tuple[str, ...]
    blocks: str
    pooling: Literal["first", "last", "config"]
    position_offset: int = 0


BERT = Architecture(("embeddings",), "encoder.layer", "first")
ROBERTA = Architecture(("embeddings",), "encoder.layer", "first", position_offset=2)
LLAMA = Architecture(("embed_tokens",), "layers", "last")

ARCHITECTURES: dict[str, Architecture] = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "distilbert": Architecture(("embeddings",), "transformer.layer", "first"),
    "electra": Architecture(("embeddings", "embeddings_project"), "encoder.layer", "first"),
    "albert": Architecture(
        ("embeddings", "encoder.embedding_hidden_mapping_in"),
        "encoder.albert_layer_groups.*.albert_layers",
        "first",
    ),
    "mpnet": ROBERTA,
    "deberta-v2": BERT,
    "modernbert": Architecture(("embeddings",), "layers", "config"),
    "gpt2": Architecture(("drop",), "h", "last"),
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": LLAMA,
}
