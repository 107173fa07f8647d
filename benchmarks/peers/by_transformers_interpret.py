"""Integrated gradients as transformers-interpret does them: one text a call.

Of the probability, and at the word embeddings.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers.settings import LABEL, STEPS
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers_interpret import SequenceClassificationExplainer

VERSION = version("transformers-interpret")


def calls(folder: Path) -> dict[str, Any]:
    """What transformers-interpret does with texts, by the name of the case."""
    network = AutoModelForSequenceClassification.from_pretrained(folder / "bert").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "bert")
    explainer = SequenceClassificationExplainer(network, tokenizer)

    def scores_of(text: str) -> list[float]:
        pairs = explainer(text, index=LABEL, n_steps=STEPS)
        return [score for _, score in pairs[1:-1]]

    def explained(texts: list[str]) -> list[list[float]]:
        return [scores_of(text) for text in texts]

    return {"bert integrated_gradients": explained}
