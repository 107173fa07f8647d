"""Tiny networks of every family of the installed transformers, built from its config class."""

from typing import Any

import torch
from torch import nn
from transformers import CONFIG_MAPPING, PretrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)

VOCABULARY = 96
HEADS = {
    "language model": (MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
    "classifier": (
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    ),
}

SIZES: dict[int | float, tuple[str, ...]] = {
    VOCABULARY: (
        "vocab_size", "src_vocab_size", "decoder_vocab_size", "vocab_size_per_layer_input", "entity_vocab_size",
    ),
    32: (
        "hidden_size", "d_model", "n_embd", "dim", "emb_dim", "word_embed_proj_dim", "embedding_size",
        "embedding_dim", "lru_width", "router_hidden_size", "d_latents", "entity_emb_size", "feed_forward_size",
        "linear_width", "adapter_rank",
    ),
    2: (
        "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers",
        "num_encoder_layers", "num_decoder_layers", "num_key_value_heads", "num_kv_heads", "n_kv_heads",
        "moe_topk", "num_experts_per_tok", "num_experts_per_token", "moe_top_k", "top_k_experts", "moe_k",
        "num_blocks", "zero_expert_num",
    ),
    4: (
        "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads",
        "decoder_attention_heads", "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
        "n_experts", "qk_rope_head_dim", "qk_nope_head_dim", "index_n_heads", "linear_num_heads",
        "linear_num_key_heads", "linear_num_value_heads", "rotary_dim",
    ),
    8: (
        "head_dim", "d_kv", "attention_head_size", "mamba_d_state", "state_size", "d_head", "v_head_dim",
        "index_head_dim", "linear_head_dim", "linear_key_head_dim", "linear_value_head_dim", "laurel_rank",
        "hidden_size_per_layer_input", "mamba_dt_rank", "time_step_rank",
    ),
    16: ("q_lora_rank", "kv_lora_rank", "num_latents", "o_lora_rank"),
    48: (
        "intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_inner", "d_ff", "n_inner",
        "hidden_dim", "ffn_hidden_size", "moe_intermediate_size", "shared_expert_intermediate_size",
        "shared_intermediate_size", "dim_ff", "ffn_intermediate_size", "expert_ffn_hidden_size", "dff",
        "shared_experts_intermediate_size", "moe_shared_expert_intermediate_size",
    ),
    80: (
        "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "n_ctx",
        "max_position_embedding",
    ),
    0.3: ("initializer_range", "init_std", "initializer_factor", "embed_init_std"),
    0: ("pad_token_id",),
    1: (
        "bos_token_id", "decoder_start_token_id", "n_group", "topk_group", "num_expert_group",
        "n_shared_experts", "num_shared_experts", "first_k_dense_replace", "num_dense_layers",
    ),
    3: ("eos_token_id", "sep_token_id"),
    5: ("sliding_window", "attention_window_size", "index_topk"),
}  # fmt: skip
"""What each setting becomes, by the many names that configs have for the same thing."""

NAMED = {name: size for size, names in SIZES.items() for name in names}

LATENT = {"num_key_value_heads": 4, "head_dim": 4}
"""Multi-head latent attention: all heads have their own keys, and only a part of each is rotated."""
MAMBA2 = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_chunk_size": 4}
GEMMA4 = {"layer_types": ["sliding_attention", "full_attention"], "global_head_dim": 8}
LINEAR = {"layer_types": ["linear_attention", "full_attention"]}

OWN: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        (
            "deepseek_v2", "deepseek_v3", "deepseek_v32", "axk1", "axk2", "glm4_moe_lite", "glm_moe_dsa",
            "longcat_flash", "minicpm3", "youtu", "hy_v4", "dots3_note_text",
        ),
        LATENT,
    ),
    "mistral4": {**LATENT, "head_dim": 8},
    "bailing_hybrid": {**LATENT, **LINEAR, "mlp_layer_types": ["dense", "sparse"]},
    "kimi_linear": {**LATENT, **LINEAR, "mlp_layer_types": ["dense", "sparse"]},
    **dict.fromkeys(
        ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp_text", "olmo_hybrid"), LINEAR
    ),
    "bamba": {**MAMBA2, "attn_layer_indices": [1]},
    "granitemoehybrid": {**MAMBA2, "layer_types": ["mamba", "attention"]},
    "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 1, "chunk_size": 4},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "zamba": {
        "num_hidden_layers": 4, "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "attention_hidden_size": 64, "attention_head_dim": 16, "num_key_value_heads": 4,
        "use_mamba_kernels": False,
    },
    "zamba2": {
        "num_hidden_layers": 3, "layers_block_type": ["linear_attention", "linear_attention", "hybrid"],
        "num_key_value_heads": 4, "n_mamba_heads": 4, "mamba_headdim": 16, "use_mamba_kernels": False,
        "attention_hidden_size": 64, "attention_head_dim": 16, "chunk_size": 4,
    },
    "nemotron_h": {"layers_block_type": ["mamba", "moe", "attention"], "num_hidden_layers": 3},
    "recurrent_gemma": {"num_hidden_layers": 3, "num_key_value_heads": 4},
    "minimax": {"layer_types": ["linear_attention", "full_attention"], "block_size": 4},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "lfm3": {"layer_types": ["conv", "full_attention", "sliding_attention"], "num_hidden_layers": 3},
    "xlstm": {"num_blocks": 2, "embedding_dim": 32, "qk_dim_factor": 1.0},
    "zaya": {"num_experts_per_tok": 1},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "head_dim": 8},
    "esmc": {"num_key_value_heads": 4},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 5},
    "gptj": {"rotary_dim": 4},
    "codegen": {"rotary_dim": 4},
    "xglm": {"attention_heads": 4},
    "lilt": {"max_2d_position_embeddings": 1024, "hidden_size": 48},
    "t5": {"decoder_start_token_id": 0},
    "reformer": {
        "axial_pos_embds_dim": [8, 24], "axial_pos_shape": [8, 10], "attn_layers": ["local", "lsh"],
        "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "num_buckets": 2,
    },
    "mobilebert": {"initializer_range": 0.05},
    "falcon_h1": {**MAMBA2, "mamba_d_ssm": 64},
    "xmod": {"default_language": "en_XX"},
    "gemma3n_text": {
        "num_hidden_layers": 4, "num_kv_shared_layers": 2, "intermediate_size": [48] * 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "activation_sparsity_pattern": [0.5, 0.0, 0.0, 0.0],
    },
    "dbrx": {
        "attn_config": {"rope_theta": 10000.0, "kv_n_heads": 2, "clip_qkv": 1.0},
        "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "olmo": {"clip_qkv": 1.0},
    "layoutlmv3": {"coordinate_size": 6, "shape_size": 4, "visual_embed": False},
    "gemma4_text": GEMMA4,
    "gemma4_unified_text": GEMMA4,
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        },
    },
    "funnel": {"block_sizes": [1, 1], "num_decoder_layers": 1, "d_head": 8},
    "luke": {"entity_vocab_size": 10},
    "longformer": {"attention_window": [4, 4]},
    "canine": {"num_hash_buckets": 97, "local_transformer_stride": 8},
    "perceiver": {
        "num_self_attends_per_block": 2, "num_self_attention_heads": 4, "num_cross_attention_heads": 4,
    },
    "roc_bert": {"pronunciation_vocab_size": 10, "shape_vocab_size": 10},
}  # fmt: skip
"""Settings of families that the common ones do not fit."""


class NotBuilt(Exception):
    """A family of which no tiny network could be made."""


def cases() -> list[tuple[str, str]]:
    """Every family and head."""
    return sorted((family, head) for head, (_, names) in HEADS.items() for family in names)


def settings_of(kind: type[PretrainedConfig], family: str) -> dict[str, Any]:
    """The small settings that a config class takes, and those of the configs inside it."""
    standard = kind()
    known = {**vars(standard), **dict.fromkeys(getattr(kind, "attribute_map", {}))}
    small: dict[str, Any] = {
        name: size for name, size in NAMED.items() if name in known and usable(standard, name)
    }
    for name, part in getattr(kind, "sub_configs", {}).items():
        if isinstance(getattr(standard, name, None), PretrainedConfig):
            inner = (
                type(getattr(standard, name))
                if part is None or part.__name__ == "AutoConfig"
                else part
            )
            small[name] = settings_of(inner, inner.model_type)
    return {**small, **OWN.get(family, {})}


def usable(standard: PretrainedConfig, name: str) -> bool:
    """Whether a setting of the standard config is one number, or not set."""
    value = vars(standard).get(standard.attribute_map.get(name, name))
    if name == "sliding_window":
        return value is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def tiny(
    family: str, head: str, dtype: torch.dtype = torch.float64, **implementations: str
) -> PreTrainedModel:
    """A tiny seeded network; no parameter is exactly 0 or 1, as some are before training."""
    config = CONFIG_MAPPING[family](**settings_of(CONFIG_MAPPING[family], family))
    kind: Any = HEADS[head][0][type(config)]
    kind = kind[0] if isinstance(kind, tuple) else kind
    if kind.config_class not in (None, type(config)):
        config = config.get_text_config(decoder=head == "language model")
    if head == "classifier":
        config.num_labels = 3
    elif "is_decoder" in vars(config):
        config.is_decoder = True
    if dtype is torch.float64:  # which fused experts do not take
        implementations = {"experts_implementation": "eager", **implementations}
    torch.manual_seed(0)
    network = kind._from_config(config, **implementations).to(dtype).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
        for module in network.modules():
            if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                module.weight[module.padding_idx].normal_(std=0.3)
    return network
