"""AttnLRP as LXT does it: classes are patched, then activations times their gradients, in a padded batch."""

import importlib
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

VERSION = version("lxt")
LIBRARY = torch.library.Library("torchvision", "FRAGMENT")


def repair_torchvision() -> None:
    """Declares two operators if torchvision was built for another torch and lacks them; LXT calls neither."""
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        for name in ("nms", "qnms"):
            LIBRARY.define(f"{name}(Tensor boxes, Tensor scores, float threshold) -> Tensor")


def calls(folder: Path) -> dict[str, Any]:
    """What LXT does with texts, by the name of the case."""
    repair_torchvision()
    from lxt.efficient import monkey_patch
    from transformers import PreTrainedTokenizerFast
    from transformers.models.gpt2 import modeling_gpt2
    from transformers.models.llama import modeling_llama

    for module in (modeling_llama, modeling_gpt2):
        monkey_patch(module)
    llama = modeling_llama.LlamaForCausalLM.from_pretrained(folder / "llama").eval()
    gpt2 = modeling_gpt2.GPT2LMHeadModel.from_pretrained(folder / "gpt2").eval()
    for parameter in (*llama.parameters(), *gpt2.parameters()):
        parameter.requires_grad_(False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "llama" / "tokenizer.json"), pad_token="[PAD]"
    )

    def explained(texts: list[str], network: Any, first: Any) -> list[list[float]]:
        """Relevance at the input of the first block, of the most likely next token."""
        batch = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
        present = batch["attention_mask"]
        seen: list[Tensor] = []
        handle = first.register_forward_pre_hook(
            lambda _, given, named: seen.append(given[0] if given else named["hidden_states"]),
            with_kwargs=True,
        )
        words = network.get_input_embeddings()(batch["input_ids"]).requires_grad_()
        logits = network(inputs_embeds=words, attention_mask=present, use_cache=False).logits
        handle.remove()
        ends = logits[torch.arange(len(texts)), present.sum(1) - 1]
        (gradient,) = torch.autograd.grad(ends.max(-1).values.sum(), seen[0])
        relevance = (seen[0] * gradient).sum(-1).detach()
        return [row[own.bool()].tolist() for row, own in zip(relevance, present, strict=True)]

    return {
        "llama attn_lrp": partial(explained, network=llama, first=llama.model.layers[0]),
        "gpt2 attn_lrp": partial(explained, network=gpt2, first=gpt2.transformer.h[0]),
    }
