"""Learn which heads are syntactic or positional, and explain through those only; needs headlight[heads]."""

import json
from pathlib import Path

from rich.console import Console

import headlight

SENTENCES = Path(headlight.__file__).parent / "data" / "samples" / "sentiment.jsonl"
texts = [json.loads(line)["text"] for line in SENTENCES.read_text("utf-8").splitlines()]

model = headlight.load("sentiment")
counts = headlight.heads.learn(model, texts)  # use a few hundred texts or more for a reliable mask
mask = counts.mask(syntactic=0.1, positional=0.8)  # the paper's thresholds
show = Console().print
show(mask)
shipped = headlight.heads.find_mask("sentiment")  # learned on 2,000 texts
show(f"overlap with the mask that comes with the model: {mask.overlap(shipped):.2f}")

review = "a charming and often affecting journey, though the plot is thin"
show(headlight.explain(model, review, "mask_lrp", mask=mask).words())
show(headlight.explain(model, review, "transformer_attribution").words())
