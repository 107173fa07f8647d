"""Learn the head masks of the embedded models, each on texts of its own kind.

python training/masks.py --data FOLDER [NAME …]

A NAME is an embedded model or the file of an adapter, such as a rival of a benchmark; its mask goes beside it.
"""

import argparse
from pathlib import Path

import torch

import headlight
from data import SOURCES, read_paragraphs, read_questions
from headlight.loading.catalogue import CATALOGUE
from recipes import RECIPES
from shipping import mask_place, renew_table, use_repository

TEXTS = 2_000
SHORTEST = 8
WIKIPEDIA = ("wikitext", "train")


def corpus(name: str, data: Path) -> tuple[str, list[str]]:
    """The corpus for a mask: its name, and training texts of at least eight words."""
    recipe = RECIPES.get(Path(name).stem.partition("-")[0])
    source, split = recipe.train[0] if recipe else WIKIPEDIA
    if recipe is not None and recipe.task in ("classify", "tag"):
        found = [example.text for example in SOURCES[source].read(split, data)]
    elif recipe is not None and recipe.task == "answer":
        found = list(dict.fromkeys(q.context for q in read_questions(source, split, data)))
    else:
        found = [s for p in read_paragraphs(source, split, data) for s in p.split(" . ")]
    kept = [text for text in found if len(text.split()) >= SHORTEST]
    step = max(1, len(kept) // TEXTS)
    return f"{source} {split}", kept[::step][:TEXTS]


def main() -> None:
    """Learn, select with the paper's thresholds, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CATALOGUE))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    use_repository()
    for name in options.names:
        source, texts = corpus(name, options.data)
        found = headlight.heads.learn(headlight.load(name), texts, name=source)
        mask = found.mask()
        mask.save(mask_place(name))
        print(name, source, len(texts), mask, flush=True)
    renew_table()


if __name__ == "__main__":
    main()
