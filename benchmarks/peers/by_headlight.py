"""The cases as headlight does them."""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers.settings import LABEL, STEPS, permutations

import headlight
from headlight import Attribution, Target

VERSION = headlight.__version__


def scores_of(attributions: list[Attribution], cut: int) -> list[list[float]]:
    """The scores without those of as many tokens at both ends, which the tokenizer added."""
    return [
        [float(score) for score in a.scores[cut : len(a.scores) - cut or None]]
        for a in attributions
    ]


def calls(folder: Path) -> dict[str, Any]:
    """What headlight does with texts, by the name of the case."""
    models = {name: headlight.load(str(folder / name)) for name in ("bert", "llama", "gpt2")}

    def explained(
        texts: list[str], name: str, method: str, target: Any = None, **options: Any
    ) -> list[list[float]]:
        answers = headlight.explain(models[name], texts, method, target, batch_size=64, **options)
        return scores_of(answers, cut=1 if name == "bert" else 0)

    def shapley(texts: list[str]) -> list[list[float]]:
        return classified(texts, method="shapley", permutations=permutations(len(texts)))

    classified = partial(explained, name="bert", target=LABEL)
    generated = partial(explained, name="llama")
    probability = Target(label=LABEL, output="probability")
    path: dict[str, Any] = {"method": "integrated_gradients", "steps": STEPS, "baseline": "mask"}
    return {
        "bert saliency": partial(classified, method="gradient_l2"),
        "bert input_x_gradient": partial(classified, method="input_x_gradient"),
        "bert input_x_gradient_mean": partial(classified, method="input_x_gradient_mean"),
        "bert integrated_gradients": partial(classified, **path),
        "bert integrated_gradients of the probability": partial(
            explained, name="bert", target=probability, **path
        ),
        "bert integrated_gradients_mean": partial(
            classified, method="integrated_gradients_mean", steps=STEPS, baseline="zero"
        ),
        "bert deeplift": partial(classified, method="deeplift", baseline="mask"),
        "bert occlusion": partial(classified, method="occlusion"),
        "bert shapley": shapley,
        "llama input_x_gradient": partial(generated, method="input_x_gradient"),
        "llama integrated_gradients": partial(generated, **path),
        "llama attention": partial(generated, method="raw_attention"),
        "llama attn_lrp": partial(generated, method="attn_lrp"),
        "gpt2 attn_lrp": partial(explained, name="gpt2", method="attn_lrp"),
    }
