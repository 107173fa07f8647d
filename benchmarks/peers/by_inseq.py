"""The cases as inseq does them: the next token is generated and then explained, all texts in a batch."""

from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import inseq
from benchmarks.peers.settings import STEPS

VERSION = version("inseq")


def calls(folder: Path) -> dict[str, Any]:
    """What inseq does with texts, by the name of the case."""
    names = ("input_x_gradient", "integrated_gradients", "attention")
    models = {name: inseq.load_model(str(folder / "llama"), name) for name in names}

    def explained(texts: list[str], name: str, **options: Any) -> list[list[float]]:
        found = models[name].attribute(
            texts,
            attributed_fn="logit",
            generation_args={"max_new_tokens": 1, "do_sample": False},
            show_progress=False,
            **options,
        )
        return [scores_of(answer, name) for answer in found.sequence_attributions]

    def scores_of(answer: Any, name: str) -> list[float]:
        # [token, generated token] and then features, or layers and heads
        values = answer.target_attributions[:-1, 0]
        return (values[:, -1].mean(-1) if name == "attention" else values.sum(-1)).tolist()

    return {
        "llama input_x_gradient": partial(explained, name="input_x_gradient"),
        "llama integrated_gradients": partial(
            explained, name="integrated_gradients", n_steps=STEPS
        ),
        "llama attention": partial(explained, name="attention"),
    }
