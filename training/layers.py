"""Find the layer at which decoded saliency works best for the embedded models that label single texts.

    python training/layers.py --data FOLDER [NAME …]

For texts that were trained on, the quarter of the tokens that a layer scores highest is taken away (replaced by
the mask token); the better the layer, the more of the probability of the decision goes with them. The figures
go into `best_layer` of src/headlight/models/catalogue.py.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from masks import corpus

import headlight
from headlight import Attribution, Batch, Model
from headlight.models.catalogue import CATALOGUE
from headlight.models.model import Task

TEXTS = 200
SHARE = 0.25


def without_best(model: Model, answer: Attribution, ids: list[int]) -> list[int]:
    """The ids with the quarter of the ordinary tokens masked that has the highest scores."""
    places = np.flatnonzero(~np.array(answer.is_special))
    count = max(1, round(SHARE * len(places)))
    best = places[np.argsort(-answer.scores[places], kind="stable")[:count]]
    return [model.tokenizer.mask_token_id if n in best else token for n, token in enumerate(ids)]


def falls(model: Model, texts: list[str]) -> list[float]:
    """The mean fall of the probability of the decision, by layer."""
    rows = headlight.explain_layers(model, texts)
    found = []
    for layer in range(len(rows[0])):
        answers = [row[layer] for row in rows]
        ids = [
            model.tokenizer(text, truncation=True, max_length=128)["input_ids"] for text in texts
        ]
        changed = [without_best(model, a, row) for a, row in zip(answers, ids, strict=True)]
        labels = [a.target.label for a in answers]
        after = headlight.explain(model, Batch.from_ids(changed), "random", labels)
        pairs = zip(answers, after, strict=True)
        found.append(
            float(np.mean([a.target.probability - b.target.probability for a, b in pairs]))
        )
    return found


def main() -> None:
    """Measure and print."""
    labelled = [
        entry.name
        for entry in CATALOGUE.values()
        if entry.task is Task.SEQUENCE and "pairs" not in entry.decides
    ]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=labelled)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for name in options.names:
        _, texts = corpus(name, options.data)
        kept = [text for text in texts if len(text.split()) <= 60][:TEXTS]
        found = falls(headlight.load(name), kept)
        shown = " ".join(f"{fall:.3f}" for fall in found)
        print(f"{name}: falls {shown}; best layer {int(np.argmax(found))}", flush=True)


if __name__ == "__main__":
    main()
