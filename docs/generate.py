"""Write the generated pages: methods.md, metrics.md and models.md, the tables of the README, and the picture.

    python docs/generate.py

The pages come from the registry, and a test compares them; the picture is a real explanation.
"""

import csv
import json
import re
from collections.abc import Iterator
from functools import partial
from io import StringIO
from pathlib import Path

from rich.console import Console
from safetensors import safe_open
from scipy.stats import binomtest

import headlight
from headlight import METHODS, METRICS
from headlight.explaining.choices import CHOICES
from headlight.loading.catalogue import CATALOGUE, Embedded
from headlight.metrics.case import requirements
from headlight.probing.probe import CHANGES
from headlight.registry.options import Option
from headlight.renderers.terminal import comparison

HOME = Path(__file__).parent
SENTENCE = (
    "a charming and often affecting journey, though the plot is thin and the jokes are unfunny"
)


def methods_page() -> str:
    """Every method: formula, source, needs, options, and how the released code differs."""
    parts = [
        "# Methods",
        "",
        "Generated from the registry by `python docs/generate.py`. Every method is a function of a trace;",
        '`needs` says what the trace captures for it. `variant="released"` computes what the authors\'',
        "published code computes, if that differs from the paper; `NAME:variant=released` does so for one",
        "method, so that both can be compared in one call.",
        "",
        "A_l is the attention of layer l (heads × queries × keys), h^0 the input of the first block, h^l the",
        "output of block l, L the last layer; ∇ is the gradient of the target, E_h the mean over heads, ⊙ the",
        'product element by element. "Read" means: the row of the position where the prediction is made',
        "([CLS], last token, mask …); for an answer the sum of the rows of its start and its end.",
    ]
    for name in METHODS:
        entry = METHODS[name]
        text = "\n".join(
            line.strip() for line in (entry.function.__doc__ or "").strip().splitlines()
        )
        parts += ["", f"## `{name}`", "", text, ""]
        parts.append(f"- paper: {entry.paper}")
        sign = "signed" if entry.signed else "not negative"
        parts.append(f"- scores: {'an order, not amounts' if entry.is_order else sign}")
        if entry.needs:
            parts.append(f"- needs: {', '.join(sorted(entry.needs))}")
        if entry.aliases:
            parts.append(f"- also called: {', '.join(entry.aliases)}")
        if entry.options:
            parts.append(f"- options: {', '.join(map(shown_option, entry.options.values()))}")
        if entry.difference:
            parts.append(f"- released: {' '.join(entry.difference.split())}")
    return "\n".join(parts) + "\n"


def shown_option(option: Option) -> str:
    """An option with the default that a user gets."""
    if option.has_default:
        return f"`{option.name}={option.default!r}`"
    return f"`{option.name}` (default: {CHOICES[option.name].usually})"


def metrics_page() -> str:
    """Every metric: what it says, its protocols and options."""
    parts = [
        "# Metrics",
        "",
        "Generated from the registry by `python docs/generate.py`. `headlight evaluate --metrics NAME`",
        "measures one; `NAME@PROTOCOL` follows a paper's protocol where it differs from the corrected one;",
        "`NAME@CHANGE` removes tokens in another way, for metrics with the option `change`.",
        "",
        "Common to all: special tokens, and tokens at which a decision is read (a mask, the ends of an",
        "answer), are never removed. Equal scores are ranked by lot, the same for all methods. Examples to",
        "which a metric does not apply are passed over and counted. Every mean has a standard error and an",
        "interval, the middle 95 % of the means of 2,000 resamples. Two methods are compared on the same",
        "examples by random changes of sign. A positive factor on all scores changes nothing but sums",
        "(`completeness`, `answer_completeness`), and equal scores are never better than random ones",
        "([why](adr/0027-metrics-that-cannot-be-won-by-form.md)).",
        "",
        "Ways of removing tokens (`change`):",
        "",
        *(f"- `{name}`: {meaning}" for name, meaning in CHANGES.items()),
    ]
    for name in METRICS:
        entry = METRICS[name]
        text = "\n".join(
            line.strip() for line in (entry.function.__doc__ or "").strip().splitlines()
        )
        parts += ["", f"## `{name}`", "", text, "", f"- source: {entry.paper}"]
        parts.append(f"- better: {entry.better}")
        parts += [f"- passes per example and method: {entry.takes}"] if entry.takes else []
        needs = ", ".join(requirements(entry).values())
        parts += [f"- needs: {needs}"] if needs else []
        shown = ", ".join(map(shown_option, entry.options.values()))
        parts += [f"- options: {shown}"] if shown else []
    return "\n".join(parts) + "\n"


def methods_table() -> str:
    """One line per method, for the README; a variant whose name continues that of another is left out."""
    lines = ["| method | signed | what it is | source |", "|---|---|---|---|"]
    for name in METHODS:
        if any(name.startswith(f"{other}_") for other in METHODS):
            continue
        entry = METHODS[name]
        sign = "order" if entry.is_order else "±" if entry.signed else ""
        lines.append(f"| `{name}` | {sign} | {entry.summary} | {entry.paper} |")
    return "\n".join(lines)


def readme(text: str) -> str:
    """The README with updated tables."""
    tables = {"methods": methods_table, "cost": cost_table, "faithfulness": faithfulness_table}
    for mark, body in ((mark, make()) for mark, make in tables.items()):
        place = re.compile(f"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", re.DOTALL)
        text = place.sub(partial(between_marks, body), text)
    return text


def between_marks(body: str, marks: re.Match[str]) -> str:
    """A new body between the two marks of a table."""
    return f"{marks[1]}{body}\n{marks[2]}"


def cost_table() -> str:
    """The main lines of the speed benchmark."""
    kept = ("attn_lrp", "attcat", "alti", "mask_lrp")
    results = json.loads((HOME.parent / "benchmarks/speed/results.json").read_text())["results"]
    lines = [f"| | {' | '.join(results)} |", f"|---|{'---|' * len(results)}"]
    for name in kept:
        cells = " | ".join(f"{found[name]['median']}×" for found in results.values())
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


SHOWN = {
    "methods": (
        "attn_lrp", "deeplift", "integrated_gradients", "attcat", "gae", "alti",
        "transformer_attribution", "decoded_grad_cam", "rollout", "mask_lrp", "random",
    ),
    "metrics": ("aopc", "log_odds", "comprehensiveness", "sufficiency", "hiding", "spearman"),
}  # fmt: skip
"""The part of the large run that the README shows."""


def faithfulness_table() -> str:
    """The main lines of the run on SST-2."""
    with (HOME.parent / "benchmarks/faithfulness/sst2/results.csv").open(encoding="utf-8") as file:
        found = {(row["metric"], row["method"]): row for row in csv.DictReader(file)}
    arrows = {"higher": "↑", "lower": "↓"}
    heads = [f"{name} {arrows[METRICS[name].better]}" for name in SHOWN["metrics"]]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for method in SHOWN["methods"]:
        cells = [f"{float(found[metric, method]['mean']):.3f}" for metric in SHOWN["metrics"]]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def models_page() -> str:
    """The model card of every embedded model."""
    parts = [
        "# Embedded models",
        "",
        "Generated from the catalogue by `python docs/generate.py`. How they are trained:",
        "[training](../training/README.md). Where the adapters are, and their terms:",
        "[headlight-models](../headlight-models/README.md). Their base models:",
        "",
        "| base | for | licence | revision | sha256 of the weights |",
        "|---|---|---|---|---|",
    ]
    for base in dict.fromkeys(entry.base for entry in CATALOGUE.values()):
        users = ", ".join(f"`{entry.name}`" for entry in CATALOGUE.values() if entry.base is base)
        place, revision = base.package, ""
        if base.revision:
            place, revision = (
                f"[{base.name}](https://huggingface.co/{base.name})",
                f"`{base.revision}`",
            )
        parts.append(f"| {place} | {users} | {base.licence} | {revision} | `{base.sha256}` |")
    for entry in CATALOGUE.values():
        parts += ["", f"## `{entry.name}`", "", *card(entry)]
    return "\n".join(parts) + "\n"


def card(entry: Embedded) -> Iterator[str]:
    """The lines of one model card."""
    yield f"- decides: {entry.decides}" + (f" ({', '.join(entry.labels)})" if entry.labels else "")
    yield f"- trained on: {entry.data}; {entry.licence}"
    if entry.rows:
        low, high = interval(entry.right, entry.rows)
        yield (
            f"- {entry.measure}: {entry.score} ({entry.right} of {entry.rows}; "
            f"95 % interval {low:.3f}–{high:.3f})"
        )
    if entry.also:
        yield f"- also measured: {entry.also}"
    yield f"- measured on: {entry.shown}"
    if entry.is_shipped:
        adapter = entry.adapter()
        with safe_open(adapter, "pt") as file:
            recipe = json.loads(file.metadata()["recipe"])
        size = adapter.stat().st_size / 1e6
        kept = ("epochs", "batch", "rate", "longest", "seed")
        settings = ", ".join(f"{name} {recipe[name]}" for name in kept if name in recipe)
        yield f"- recipe: {settings}; the change kept as an adapter of {size:.1f} MB"
    if entry.best_layer is not None:
        yield f"- decoded saliency works best at layer {entry.best_layer}"
    yield f"- limits: {entry.limits}"


def interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    found = binomtest(right, count).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def picture() -> str:
    """An explanation by the embedded model, as it looks in a terminal."""
    model = headlight.load("sentiment")
    found = headlight.explain(model, SENTENCE, ["attn_lrp", "gae", "rollout"])
    console = Console(
        file=StringIO(), record=True, width=96, force_terminal=True, color_system="truecolor"
    )
    console.print(comparison([answer.words() for answer in found.values()]))
    return console.export_svg(title="headlight", unique_id="headlight")


def main() -> None:
    """Write the files."""
    (HOME / "methods.md").write_text(methods_page(), encoding="utf-8")
    (HOME / "metrics.md").write_text(metrics_page(), encoding="utf-8")
    (HOME / "models.md").write_text(models_page(), encoding="utf-8")
    page = HOME.parent / "README.md"
    page.write_text(readme(page.read_text(encoding="utf-8")), encoding="utf-8")
    (HOME / "picture.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
