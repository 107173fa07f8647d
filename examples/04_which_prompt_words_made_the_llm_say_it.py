"""Explain every token that the embedded language model writes: needs headlight[llm] and its weights."""

from rich import print

import headlight

model = headlight.load("llm")
print(headlight.explain_generation(model, "The capital of France is", "mask_lrp", max_new_tokens=3))

rather = headlight.Target(label="are", contrast="is")
print(headlight.explain(model, "The keys to the cabinet", "attn_lrp", rather))
