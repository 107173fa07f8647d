"""Which reading of AttCAT and CAT is the better one: h of a block's inputs, or of its outputs.

python benchmarks/faithfulness/attcat/run.py --data FOLDER [--limit 400] [--runs FOLDER]

FOLDER holds the data sets as EXPERIMENTS names them. Each reading explains the same texts. Written
beside this file: results.md, results.json. A run that was stopped goes on.
"""

import argparse
import json
import time
from contextlib import chdir
from pathlib import Path

from headlight import Results
from headlight.evaluation.evaluate import evaluate

HOME = Path(__file__).parent.resolve()
EXPERIMENTS = {
    "sst2": ("sentiment", "sst2=sst2/dev.jsonl"),
    "ag_news": ("topic", "ag_news=ag_news/test.jsonl"),
    "snli": ("nli", "snli=snli/test.jsonl"),
    "qqp": ("paraphrase", "qqp=qqp/test.jsonl"),
}
METRICS = ("aopc", "log_odds", "comprehensiveness", "sufficiency")
READINGS = ("inputs", "outputs")


def rows_of(name: str, found: Results) -> list[dict[str, object]]:
    """What one experiment says about each method by each metric."""
    rows: list[dict[str, object]] = []
    for method in ("cat", "attcat"):
        names = [f"{method}:hidden={reading}" for reading in READINGS]
        for metric in METRICS:
            gap = found.compare(metric, *names)
            means = [found.summary(metric, own).mean for own in names]
            rows.append(
                {
                    "data": name,
                    "model": found.settings.model,
                    "texts": found.summary(metric, names[0]).count,
                    "method": method,
                    "metric": metric,
                    **dict(zip(READINGS, means, strict=True)),
                    "gap": gap.difference,
                    "low": gap.low,
                    "high": gap.high,
                    "p": gap.p_value,
                }
            )
    return rows


def page(rows: list[dict[str, object]], command: str) -> str:
    """The results as a table."""
    lines = [
        "# AttCAT and CAT: hidden states of a block's inputs, or of its outputs",
        "",
        f"Written by `{command}`. The gap is inputs less outputs on the same texts, with its 95 % interval.",
        "Higher is better for aopc and comprehensiveness, lower for log_odds and sufficiency.",
        "",
        "| data | model | texts | method | metric | inputs | outputs | gap | p |",
        "|---|---|---:|---|---|---:|---:|---|---:|",
    ]
    lines += [
        "| {data} | {model} | {texts} | {method} | {metric} | {inputs:.3f} | {outputs:.3f} | "
        "{gap:+.3f} [{low:+.3f}, {high:+.3f}] | {p:.4f} |".format_map(row)
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every experiment and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--only", nargs="*", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    given = parser.parse_args()
    runs, rows = given.runs.resolve(), []
    methods = [f"{name}:hidden={reading}" for name in ("cat", "attcat") for reading in READINGS]
    with chdir(given.data):
        for name in given.only:
            model, data = EXPERIMENTS[name]
            start = time.time()
            found = evaluate(
                model, data, methods, METRICS, out=runs / name, limit=given.limit, threads=1
            )
            print(f"{name}: {found.settings.count} texts, {time.time() - start:.0f} s", flush=True)
            rows += rows_of(name, found)
    command = (
        f"python benchmarks/faithfulness/attcat/run.py --data FOLDER --limit {given.limit}"
        + ("" if given.only == list(EXPERIMENTS) else f" --only {' '.join(given.only)}")
    )
    (HOME / "results.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (HOME / "results.md").write_text(page(rows, command), encoding="utf-8")


if __name__ == "__main__":
    main()
