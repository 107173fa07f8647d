"""Explain every token that the embedded language model writes: needs headlight[llm] and its weights."""

from rich.console import Console

import headlight

model = headlight.load("llm")
show = Console().print
show(headlight.explain_generation(model, "The capital of France is", "mask_lrp", max_new_tokens=3))

rather = headlight.Target(label="are", contrast="is")
show(headlight.explain(model, "The keys to the cabinet", "attn_lrp", rather))
