"""Does a head mask help relevance? Mask-LRP in every reading, on real data; a stopped run goes on.

    python -m benchmarks.mask_lrp.run --data FOLDER [--runs FOLDER] [--only CELL …]

FOLDER holds the data sets as the cells below name them. A cell is a network on a data set. Its examples are cut
into five folds, each with random masks of its own: twenty masks of each kind, and every example meets four of
them. `python -m benchmarks.mask_lrp.page` writes the tables and figures from the runs.
"""

import argparse
import sys
import time
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from headlight.data import read_examples
from headlight.evaluation.evaluate import evaluate

FOLDS = 5
MASKS_OF_A_FOLD = 4
READINGS = ("empty=open", "empty=residual", "variant=released")
"""Two ways to read the paper where a block has no important head, and the code that its authors released."""
PARTS = ("both", "positional", "syntactic")
DRAWN = ("overall", "by_layer")
CORRUPTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)
UNMASKED = ("transformer_attribution", "transformer_attribution:variant=released")
BESIDE = ("attn_lrp", "random")
CURVES = ("aopc", "log_odds", "aopc@mask_lrp", "log_odds@mask_lrp")
ANSWERS = ("precision_at_k", "recall_at_k", "precision_at_k@mask_lrp")


@dataclass(frozen=True)
class Cell:
    """A network on a data set: its data below the folder, how many examples of them, and what is measured."""

    model: str
    data: str
    limit: int | None = None
    metrics: tuple[str, ...] = CURVES


SST2, YELP = "sst2=sst2/dev.jsonl", "yelp_sentences/sample.jsonl:text,label"
QQP, SNLI, SQUAD = "qqp=qqp/test.jsonl", "snli=snli/test.jsonl", "squad=squad/v1_dev_part.jsonl"
CELLS = {
    "sst2-6": Cell("sentiment", SST2),
    "sst2-12": Cell("sentiment-12", SST2),
    "sst2-mpnet": Cell("mpnet", SST2, 500),
    "yelp-6": Cell("sentiment", YELP, 500),
    "yelp-12": Cell("sentiment-12", YELP, 500),
    "snli-6": Cell("nli", SNLI, 500),
    "snli-12": Cell("nli-12", SNLI, 500),
    "qqp-6": Cell("paraphrase", QQP, 500),
    "qqp-12": Cell("paraphrase-12", QQP, 500),
    "squad-6": Cell("qa", SQUAD, 200, ANSWERS),
    "squad-12": Cell("qa-12", SQUAD, 200, ANSWERS),
}


def methods(fold: int) -> list[str]:
    """The methods of one fold."""
    found = [*UNMASKED, *BESIDE]
    seeds = range(fold * MASKS_OF_A_FOLD, (fold + 1) * MASKS_OF_A_FOLD)
    for reading in READINGS:
        found += [f"mask_lrp:mask={part},{reading}" for part in PARTS]
        found += [f"random_mask_lrp:drawn={d},seed={s},{reading}" for d in DRAWN for s in seeds]
        found += [f"mask_lrp:corruption={c},seed={fold},{reading}" for c in CORRUPTIONS]
    return found


def run(name: str, runs: Path, network: str | None) -> None:
    """All folds of a cell."""
    cell = CELLS[name]
    examples, labels = read_examples(cell.data, limit=cell.limit)
    for fold in range(FOLDS):
        start = time.time()
        found = evaluate(
            network if cell.model == "mpnet" and network else cell.model,
            examples[fold::FOLDS],
            methods(fold),
            cell.metrics,
            out=runs / f"{name}-{fold}",
            labels=labels or None,
            threads=1,
            shard=20,
            progress=sys.stderr.isatty(),
        )
        count, seconds = found.settings.count, time.time() - start
        print(f"{name} fold {fold}: {count} examples, {seconds:.0f} s", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs/mask_lrp"))
    parser.add_argument("--network", help="the folder of the network of the cells called mpnet")
    parser.add_argument("--only", nargs="*", choices=CELLS, default=list(CELLS))
    given = parser.parse_args()
    runs = given.runs.resolve()
    with chdir(given.data):
        for name in given.only:
            run(name, runs, given.network)


if __name__ == "__main__":
    main()
