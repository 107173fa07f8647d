"""Cost of methods as multiples of one plain batched forward pass, measured in one interleaved run.

    python benchmarks/speed/run.py            writes benchmarks/speed/results.json and results.md
    python benchmarks/speed/run.py --memory   measures only the peak memory anew

Seconds differ between machines and hours; ratios of runs taken in turn hardly do. Every round times
the plain pass and every case once, in a new order; a case's ratio is taken to the plain pass of its
own round. The median and the middle half of the rounds are reported.
"""

import argparse
import json
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification
from transformers.utils import logging

import headlight
from headlight import METHODS, Batch
from headlight.batch import collate

HOME = Path(__file__).parent
ROUNDS = 7
NETWORKS = {
    "6 × 384 (MiniLM)": {
        "num_hidden_layers": 6,
        "hidden_size": 384,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
    "12 × 768 (BERT base)": {},
}
ROWS, TOKENS = 8, 64


PASSES = {
    "integrated_gradients": ({"steps": 10}, 10, True),
    "smooth_gradient": ({"samples": 10}, 10, True),
    "gradient_shap": ({"samples": 10}, 10, True),
    "occlusion": ({}, TOKENS + 1, False),
    "lime": ({"samples": 50}, 50, False),
    "shapley": ({"permutations": 1}, TOKENS + 1, False),
}
"""Methods of many passes: options, how many passes these need at least, and whether with a way back."""


def group(name: str) -> str:
    needs = METHODS[name].needs
    if "attention_blocks" in needs:
        return "decomposition"
    if "relevance" in needs:
        return "relevance"
    if any("gradient" in need for need in needs):
        return "gradient"
    return "attention" if needs else "none"


def cases() -> dict[str, list[str]]:
    """Every method of one pass alone, then all of a group, then all together."""
    several = {name: [name] for name in METHODS if "replay" not in METHODS[name].needs}
    quick = [name for name in several if name != "attention_flow"]
    for kind, title in (
        ("attention", "all attention methods but attention_flow"),
        ("decomposition", "all decomposition methods"),
        ("gradient", "all gradient methods"),
        ("relevance", "all relevance methods"),
    ):
        several[title] = [n for n in quick if group(n) == kind]
    several["all of these but attention_flow"] = quick
    several["all of these"] = [*quick, "attention_flow"]
    return several


def half_of_all_heads(net: BertForSequenceClassification) -> torch.Tensor:
    """A mask for Mask-LRP, with one layer closed."""
    shape = (net.config.num_hidden_layers, net.config.num_attention_heads)
    heads = torch.rand(shape, generator=torch.Generator().manual_seed(0)) < 0.5
    heads[2] = False
    return heads.int()


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(settings: dict[str, Any], many_passes: bool) -> dict[str, dict[str, float]]:
    torch.manual_seed(0)
    net = BertForSequenceClassification(BertConfig(vocab_size=30522, **settings)).eval()
    model = headlight.wrap(net)
    batch = Batch.from_ids(torch.randint(5, 30000, (ROWS, TOKENS)))
    inputs = collate(batch.rows, 0)
    decoder = headlight.wrap(BertForMaskedLM(BertConfig(vocab_size=30522, **settings)).eval())
    given: dict[str, Any] = {"mask": half_of_all_heads(net), "decoder": decoder}

    def plain() -> None:
        with torch.inference_mode():
            net(inputs.ids, attention_mask=inputs.attended.long())

    def there_and_back() -> None:
        leaf = net.bert.embeddings(inputs.ids).detach().requires_grad_()
        hidden = net.bert.encoder(leaf).last_hidden_state
        net.classifier(net.bert.pooler(hidden))[:, 0].sum().backward(inputs=[leaf])

    def explaining(names: list[str], **options: Any) -> Callable[[], object]:
        asked = {option for name in names for option in METHODS[name].options}
        own = {option: value for option, value in given.items() if option in asked}
        return lambda: headlight.explain(model, batch, names, **own, **options)

    calls = {name: explaining(names) for name, names in cases().items()}
    slow = {"attention_flow", "all of these"}
    for call in (plain, *(c for name, c in calls.items() if name not in slow)):
        call()
    ratios: dict[str, list[float]] = {name: [] for name in calls}
    seconds = []
    for round_number in range(ROUNDS):
        order = [name for name in calls if name not in slow or round_number < 3]
        random.Random(round_number).shuffle(order)
        for name in order:
            base = min(timed(plain), timed(plain))
            seconds.append(base)
            ratios[name].append(timed(calls[name]) / base)
    answers = {}
    for name, values in ratios.items():
        low, _, high = statistics.quantiles(values, n=4)
        answers[name] = {
            "median": round(statistics.median(values), 2),
            "quarter": round(low, 2),
            "three quarters": round(high, 2),
        }
    for name, (options, passes, goes_back) in PASSES.items() if many_passes else ():
        values = []
        call = explaining([name], **options)
        for _ in range(3):
            base = min(timed(there_and_back if goes_back else plain) for _ in range(3))
            values.append(timed(call) / base / passes)
        kind = "forward and back" if goes_back else "forward"
        answers[f"{name}, each of its {passes} passes, to {kind}"] = {
            "median": round(statistics.median(values), 2),
            "quarter": round(min(values), 2),
            "three quarters": round(max(values), 2),
        }
    answers["plain forward, seconds"] = {"median": round(statistics.median(seconds), 4)}
    return answers


def peak_megabytes(name: str) -> float:
    """Most memory of a fresh process that runs one method on BERT base once, or only loads it.

    VmHWM belongs to the program that runs; the peak that getrusage reports is inherited from the parent.
    """
    code = (
        "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import run\n"
        "net = run.BertForSequenceClassification(run.BertConfig()).eval()\n"
        "model = run.headlight.wrap(net)\n"
        "batch = run.Batch.from_ids(run.torch.randint(5, 30000, (run.ROWS, run.TOKENS)))\n"
        "options = {'mask': run.half_of_all_heads(net)} if sys.argv[2] == 'mask_lrp' else {}\n"
        "sys.argv[2] == 'nothing' or run.headlight.explain(model, batch, sys.argv[2], **options)\n"
        "status = pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1]\n"
        "print(int(status.split()[0]) / 1000)"
    )
    command = [sys.executable, "-c", code, str(HOME), name]
    return round(float(subprocess.run(command, check=True, capture_output=True).stdout), 0)


Results = dict[str, dict[str, dict[str, float]]]


def table(results: Results) -> str:
    heads = list(results)
    lines = [
        f"Multiples of one plain forward pass ({ROWS} rows of {TOKENS} tokens); median "
        "(middle half). Made by `python benchmarks/speed/run.py`.",
        "",
        f"| methods | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
    ]
    for name in results[heads[0]]:
        cells = []
        for head in heads:
            cell = results[head].get(name)
            if cell is None:
                cells.append("")
                continue
            spread = f" ({cell['quarter']}–{cell['three quarters']})" if "quarter" in cell else ""
            cells.append(f"{cell['median']}{spread}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written(facts: dict[str, object], results: Results, memory: dict[str, float]) -> None:
    answers = {"settings": facts, "results": results, "peak megabytes, BERT base": memory}
    (HOME / "results.json").write_text(json.dumps(answers, indent=1))
    peaks = ", ".join(f"{name} {value:.0f}" for name, value in memory.items())
    peak_line = f"\nPeak memory of a process with BERT base, megabytes: {peaks}.\n"
    (HOME / "results.md").write_text(table(results) + peak_line)
    print(table(results) + peak_line)


def main() -> None:
    logging.set_verbosity_error()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--memory", action="store_true", help="Measure the peak memory only.")
    memory = {name: peak_megabytes(name) for name in ("nothing", "rollout", "gae", "mask_lrp")}
    if parser.parse_args().memory:
        known = json.loads((HOME / "results.json").read_text())
        written(known["settings"], known["results"], memory)
        return
    results = {
        name: measure(settings, many_passes=bool(settings)) for name, settings in NETWORKS.items()
    }
    facts: dict[str, object] = {
        "rows": ROWS,
        "tokens": TOKENS,
        "rounds": ROUNDS,
        "threads": torch.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    written(facts, results, memory)


if __name__ == "__main__":
    main()
