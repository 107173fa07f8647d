"""Shapley values as SHAP does them for text: the partition explainer over a function of a list of texts."""

from pathlib import Path
from typing import Any

import numpy as np
import shap
import torch
from benchmarks.peers.settings import LABEL, ROWS_AT_ONCE, permutations
from transformers import AutoModelForSequenceClassification, AutoTokenizer

VERSION = shap.__version__


def calls(folder: Path) -> dict[str, Any]:
    """What SHAP does with texts, by the name of the case."""
    network = AutoModelForSequenceClassification.from_pretrained(folder / "bert").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "bert")

    @torch.no_grad()
    def logits(texts: Any) -> Any:
        batch = tokenizer([str(text) for text in texts], padding=True, return_tensors="pt")
        return network(**batch).logits.numpy()

    explainer = shap.Explainer(logits, tokenizer)

    def shapley(texts: list[str]) -> list[list[float]]:
        words = sum(len(text.split()) for text in texts) / len(texts)
        passes = round(words * permutations(len(texts)))
        found = explainer(texts, max_evals=passes, batch_size=ROWS_AT_ONCE, silent=True)
        return [np.asarray(row)[1:-1, LABEL].tolist() for row in found.values]

    return {"bert shapley": shapley}
