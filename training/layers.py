"""Find the layer at which decoded saliency works best, for embedded models without a language-model head.

    python training/layers.py --data FOLDER [NAME …]

On training inputs, the quarter of the tokens with the highest scores of a layer is masked. The better the
layer, the more the probability of the decision falls. Copy the result into `best_layer` of
src/headlight/loading/catalogue.py.
"""

import argparse
from pathlib import Path

import torch

import headlight
from data import SOURCES, read_questions
from headlight import Example
from headlight.batch import Text, as_tuple
from headlight.loading.catalogue import CATALOGUE
from headlight.models.model import Task
from recipes import RECIPES
from shipping import use_repository

INPUTS = 200
LONGEST = 80
"""Words."""
QUARTER = {"aopc": {"levels": (0.25,), "change": "mask"}}


def inputs(name: str, data: Path) -> list[Example]:
    """Texts, pairs or questions of the recipe's first source, spread over it."""
    recipe = RECIPES[name]
    source, split = recipe.train[0]
    if recipe.task == "answer":
        texts: list[Text] = [(q.question, q.context) for q in read_questions(source, split, data)]
    else:
        rows = SOURCES[source].read(split, data)
        texts = [(row.text, row.pair) if row.pair else row.text for row in rows]
    kept = [text for text in texts if 8 <= len(" ".join(as_tuple(text)).split()) <= LONGEST]
    return [Example(text) for text in kept[:: max(1, len(kept) // INPUTS)][:INPUTS]]


def main() -> None:
    """Measure and print."""
    tasks = (Task.SEQUENCE, Task.TOKEN, Task.QUESTION)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", default=[e.name for e in CATALOGUE.values() if e.task in tasks]
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    use_repository()
    for name in options.names:
        model = headlight.load(name)
        layers = [f"decoded_grad_cam:layer={n}" for n in range(len(model.blocks) + 1)]
        found = headlight.evaluate(
            model,
            inputs(name, options.data),
            layers,
            ["aopc"],
            metric_settings=QUARTER,
            threads=options.threads,
        )
        falls = [found.summary("aopc", layer).mean for layer in layers]
        shown = " ".join(f"{fall:.3f}" for fall in falls)
        print(f"{name}: falls {shown}; best layer {falls.index(max(falls))}", flush=True)


if __name__ == "__main__":
    main()
