"""Train an embedded model and write its adapter, seeded, with a log; a killed run resumes.

    python training/train.py sentiment --data FOLDER --out runs/sentiment

All weights except those that the recipe freezes are trained. The difference from the base is then compressed to
an adapter, in headlight-models for seed 0 and among the rivals of the benchmark for others. Reported scores are
those of the base merged with the adapter as read back from disk.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import AutoTokenizer

import answer
import classify
import fill
import tag
from compress import adapter_of
from headlight.loading.adapters import merge_adapter
from headlight.loading.conversion import network_folder
from recipes import BASES, RECIPES, Recipe
from run import Log, Run
from shipping import adapter_place, renew_table

TASKS = {"classify": classify, "answer": answer, "fill": fill, "tag": tag}


def write_adapter(
    tuned: dict[str, Tensor], base: dict[str, Tensor], recipe: Recipe, seed: int, path: Path
) -> None:
    """The change of the weights as a file, with the names of its base and recipe."""
    facts = {
        "base_sha256": BASES[recipe.base].sha256,
        "labels": json.dumps(recipe.labels),
        "recipe": json.dumps({**asdict(recipe), "seed": seed}),
    }
    save_file(adapter_of(tuned, base, int(recipe.megabytes * 1e6)), path, facts)


def main() -> None:
    """Train, write, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--data", type=Path, help="folder of local data; default: the hub")
    parser.add_argument("--targets", type=Path, help="targets.jsonl of teacher.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    recipe = RECIPES[options.name]
    if recipe.trust and not options.targets:
        sys.exit(f"{options.name} learns from a teacher: run teacher.py first and give --targets.")
    torch.set_num_threads(options.threads)
    task, log, folder = TASKS[recipe.task], Log(options.out), network_folder(BASES[recipe.base])
    log(f"{options.name} seed {options.seed}")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    targets = classify.read_targets(options.targets) if options.targets else {}
    rows, held_out = task.read(recipe, options.data, tokenizer, targets)
    torch.manual_seed(options.seed)
    network = task.fresh(recipe, folder)
    base = {n: p.detach().clone() for n, p in network.named_parameters()}
    run = Run(network, rows, recipe, options.seed, options.out)
    path = adapter_place(options.name, options.seed)
    write_adapter(run.go(task.loss, log), base, recipe, options.seed, path)
    merged = task.fresh(recipe, folder).eval()
    merge_adapter(merged, path, BASES[recipe.base].sha256)
    result = {
        "entry": options.name,
        "seed": options.seed,
        "trained_on": len(rows),
        "shown": " ".join(recipe.shown),
        **task.score(merged, held_out),
        "minutes": round(run.seconds / 60, 1),
        "bytes": path.stat().st_size,
    }
    (options.out / "result.json").write_text(json.dumps(result, indent=1))
    log(json.dumps(result))
    renew_table()


if __name__ == "__main__":
    main()
