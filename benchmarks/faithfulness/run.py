"""How far methods can be trusted, on embedded models and real data; results go beside this file, unedited.

python benchmarks/faithfulness/run.py --data FOLDER [--only sst2 …] [--runs FOLDER]

FOLDER holds the data sets as the experiments below name them. A run that was stopped goes on; several
processes share the work.
"""

import argparse
import os
import shutil
import sys
import time
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from headlight import METRICS, open_run
from headlight.evaluation.evaluate import evaluate, fitting_metrics
from headlight.report import written
from headlight.report.figures import write_figures

HOME = Path(__file__).parent.resolve()
METHODS = [
    "random", "raw_attention", "rollout", "grads", "attention_gradcam", "att_grads", "grad_sam", "gae", "cat",
    "attcat", "gradient_l2", "input_x_gradient", "simple", "grad_cam", "decoded_grad_cam", "decoded_simple",
    "alti", "norms", "globenc", "integrated_gradients", "deeplift", "lrp", "partial_lrp", "attn_lrp",
    "transformer_attribution", "mask_lrp", "random_mask_lrp",
]  # fmt: skip
MANY_PASSES = ["occlusion", "shapley", "lime", "smooth_gradient", "gradient_shap", "deeplift_shap"]
"""Tens to hundreds of passes for every text; only in the small run on our own sentences."""
OPTIONS = {"steps": 20}
GAMES = {"hiding": {"draws": 5}, "revealing": {"draws": 5}}


@dataclass(frozen=True)
class Experiment:
    """A model, its data below the folder, how many examples of them, and what is measured.

    metrics: all that fit, if not given. more: further metrics. rivals: adapters, by their place beside this
    file. sanity: examples whose explanations are compared with those of randomised networks.
    """

    model: str
    data: str
    limit: int | None = None
    methods: tuple[str, ...] = tuple(METHODS)
    metrics: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    sanity: int = 8


PROTOCOLS = ("aopc@mask_lrp", "log_odds@mask_lrp", "aopc@attcat", "log_odds@attcat")
QUICK = ("aopc", "log_odds", "comprehensiveness", "sufficiency", "rationale", "completeness")
"""Metrics that need the scores of one class only."""
CORRUPTED = tuple(f"mask_lrp:corruption={n / 10}" for n in range(0, 11, 2))
EXPERIMENTS = {
    "sst2": Experiment(
        "sentiment",
        "sst2=sst2/dev.jsonl",
        more=("jaccard", "spearman", *PROTOCOLS),
        rivals=("rivals/sentiment-1.safetensors", "rivals/sentiment-2.safetensors"),
        sanity=32,
    ),
    "corruption": Experiment(
        "sentiment",
        "sst2=sst2/dev.jsonl",
        300,
        CORRUPTED,
        ("aopc", "log_odds", *PROTOCOLS[:2]),
        sanity=32,
    ),
    "qa": Experiment("qa", "squad=squad/v1_dev_part.jsonl", 12),
    "nli": Experiment("nli", "snli=snli/test.jsonl", 60),
    "paraphrase": Experiment("paraphrase", "qqp=qqp/test.jsonl", 60),
    "topic": Experiment("topic", "ag_news=ag_news/test.jsonl", 30),
    "sentiment": Experiment("sentiment", "samples/sentiment", 60, (*METHODS, *MANY_PASSES), QUICK),
    "sst_trees": Experiment("sentiment", "sst_trees=sst_trees/dev.txt", 60),
    "agreement": Experiment("agreement", "agreement=agreement/subj_agr_filtered.text", 60),
}


def run(name: str, runs: Path) -> None:
    """One experiment, and what it found as text."""
    own = EXPERIMENTS[name]
    metrics = [*(own.metrics or fitting_metrics(own.model, own.data)), *own.more]
    start = time.time()
    found = evaluate(
        own.model,
        own.data,
        own.methods,
        metrics,
        out=runs / name,
        limit=own.limit,
        rivals=[os.path.relpath(HOME / rival) for rival in own.rivals],
        options=OPTIONS if "integrated_gradients" in own.methods else {},
        metric_settings={m: o for m, o in GAMES.items() if m in metrics},
        threads=1,
        sanity=own.sanity,
        progress=sys.stderr.isatty(),
    )
    print(f"{name}: {found.settings.count} examples, {time.time() - start:.0f} s", flush=True)
    place = HOME / name
    place.mkdir(exist_ok=True)
    shutil.copy(runs / name / "manifest.json", place / "settings.json")
    (place / "results.md").write_text(written(found, "markdown"), encoding="utf-8")
    (place / "results.csv").write_text(written(found, "csv"), encoding="utf-8")
    if name in ("sst2", "corruption"):
        list(write_figures(found, place))


JUDGES = ("aopc", "log_odds", "comprehensiveness", "sufficiency", "hiding", "revealing", "rationale.auprc",
          "precision_at_k")  # fmt: skip
"""Metrics that say whether a method finds what decides."""


def standing(name: str, runs: Path) -> list[str]:
    """Where Mask-LRP stands in an experiment: rank, the best, and itself less transformer attribution."""
    found = open_run(runs / name)
    lines = []
    for metric in (m for m in JUDGES if m in found.metrics):
        better = METRICS[metric.split(".")[0]].better
        means = {m: found.summary(metric, m).mean for m in found.methods}
        order = sorted(means, key=lambda m: means[m], reverse=better == "higher")
        gap = found.compare(metric, "mask_lrp", "transformer_attribution")
        lines.append(
            f"| {name} | {metric} | {order[0]} {means[order[0]]:.3f} | {means['mask_lrp']:.3f} | "
            f"{order.index('mask_lrp') + 1} of {len(order)} | {order.index('random') + 1} | "
            f"{gap.difference:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}], p {gap.p_value:.4f} |"
        )
    return lines


def summarise(runs: Path) -> None:
    """Write where Mask-LRP wins and where it does not, over all finished experiments."""
    lines = [
        "# Where Mask-LRP stands",
        "",
        "Written by `run.py`; the tables of each experiment are in its folder. The head masks are those that",
        "come with the models. The last column is Mask-LRP less itself without a mask, on the same examples.",
        "",
        "| experiment | metric | best | mask_lrp | its rank | rank of random | less transformer_attribution |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for name, own in EXPERIMENTS.items():
        if "mask_lrp" in own.methods and (runs / name / "manifest.json").exists():
            lines += standing(name, runs)
    (HOME / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--only", nargs="*", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    given = parser.parse_args()
    runs = given.runs.resolve()
    with chdir(given.data):
        for name in given.only:
            run(name, runs)
    summarise(runs)


if __name__ == "__main__":
    main()
