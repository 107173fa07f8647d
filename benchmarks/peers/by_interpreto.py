"""The cases as interpreto does them: a list of texts, at the word embeddings.

Gradients have its own batches of 4: it goes back once for every text of a batch, through the whole batch.
"""

from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from benchmarks.peers.settings import LABEL, ROWS_AT_ONCE, STEPS
from interpreto import Granularity, IntegratedGradients, Occlusion, Saliency
from transformers import AutoModelForSequenceClassification, AutoTokenizer

VERSION = version("interpreto")


def calls(folder: Path) -> dict[str, Any]:
    """What interpreto does with texts, by the name of the case."""

    def explainer(method: Any, **options: Any) -> Any:
        # One network each: building an explainer may add a token and resize the embeddings.
        network = AutoModelForSequenceClassification.from_pretrained(folder / "bert").eval()
        tokenizer = AutoTokenizer.from_pretrained(folder / "bert")
        return method(network, tokenizer, granularity=Granularity.TOKEN, **options)

    def explained(texts: list[str], method: Any) -> list[list[float]]:
        answers = method(texts, targets=torch.full((len(texts), 1), LABEL))
        return [answer.attributions.flatten().tolist() for answer in answers]

    return {
        "bert saliency": partial(explained, method=explainer(Saliency, input_x_gradient=False)),
        "bert input_x_gradient": partial(explained, method=explainer(Saliency)),
        "bert integrated_gradients": partial(
            explained, method=explainer(IntegratedGradients, n_perturbations=STEPS)
        ),
        "bert occlusion": partial(explained, method=explainer(Occlusion, batch_size=ROWS_AT_ONCE)),
    }
