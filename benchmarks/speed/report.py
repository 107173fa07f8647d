"""The page of results, from the measured numbers alone: a section for every JSON file that is there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOALS = {"share of plain": 0.4, "one sentence": 3.5}
"""The least throughput of attn_lrp beside plain passes, and the most passes for one sentence."""
FUSED = "_scaled_dot_product_flash_attention_for_cpu"
Found = dict[str, Any]


def keep(folder: Path, name: str, found: Found) -> str:
    """Write numbers as NAME.json and results.md anew, and give the section of these numbers."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (folder / "results.md").write_text(page(folder), encoding="utf-8")
    return "\n".join(SECTIONS[name](json.loads(text)))


def page(folder: Path) -> str:
    """All sections whose numbers are in the folder."""
    parts = ["# Speed", "", "Made by `make bench`; each section by one script beside this page."]
    for name, section in SECTIONS.items():
        file = folder / f"{name}.json"
        if file.exists():
            parts += ["", *section(json.loads(file.read_text(encoding="utf-8")))]
    return "\n".join(parts) + "\n"


def cell(found: Found | None) -> str:
    """A median with its middle half."""
    if found is None:
        return ""
    if "quarter" not in found:
        return f"{found['median']}"
    return f"{found['median']} ({found['quarter']}–{found['three quarters']})"


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown; all columns but the first are numbers."""
    marks = ["---", *["---:"] * (len(heads) - 1)]
    return [f"| {' | '.join(row)} |" for row in (heads, marks, *rows)]


def verdict(is_reached: bool) -> str:
    """Whether a goal is met."""
    return "reached" if is_reached else "missed"


def methods(found: Found) -> list[str]:
    """The cost of every method and group."""
    results, settings = found["results"], found["settings"]
    cases = dict.fromkeys(case for own in results.values() for case in own)
    rows = [[case, *(cell(own.get(case)) for own in results.values())] for case in cases]
    parts = [
        "## Methods",
        "",
        f"Multiples of one plain forward pass ({settings['rows']} rows of {settings['tokens']} tokens),",
        "with the fastest attention and without a graph; median (middle half).",
        "",
        *table(["methods", *results], rows),
    ]
    for title, memory in found.items():
        if title.startswith("peak megabytes"):
            peaks = ", ".join(f"{name} {value:.0f}" for name, value in memory.items())
            parts += ["", f"Memory ({title}): {peaks}."]
    return parts


def long(found: Found) -> list[str]:
    """The cost against the length of a text and the rows of a batch."""
    lengths = found["lengths"]
    places = list(dict.fromkeys(place for own in lengths.values() for place in own))
    heads = [f"{int(place):,}" for place in places]

    def rows(show: Callable[[Found], str]) -> list[list[str]]:
        return [
            [case, *(show(own[place]) if place in own else "" for place in places)]
            for case, own in lengths.items()
        ]

    batches = found["rows"]
    counts = list(next(iter(batches.values())))
    over_rows = [[case, *(cell(own[n]["ratio"]) for n in counts)] for case, own in batches.items()]
    return [
        "## Long texts",
        "",
        "One text on a language model of 12 layers (12 × 576, 9 heads, 3 of keys and values, 49,152 tokens).",
        "Every cell is from a process of its own. *forward and back* is a bare pass with its gradient at the",
        "embeddings, no method: the floor.",
        "",
        "![time and memory against length, time against rows](long.png)",
        "",
        "Multiples of a plain forward pass by wall time; median (middle half), by tokens:",
        "",
        *table(["", *heads], rows(lambda own: cell(own["ratio"]))),
        "",
        "Peak memory above the weights, megabytes:",
        "",
        *table(["", *heads], rows(lambda own: f"{own['peak megabytes']:,}")),
        "",
        "Wall seconds / processor seconds:",
        "",
        *table(
            ["", *heads], rows(lambda own: f"{own['seconds']:.3g} / {own['processor seconds']:.3g}")
        ),
        "",
        "Rows of 64 tokens on BERT, 6 × 384; multiples of a plain pass of the same rows:",
        "",
        *table(["", *counts], over_rows),
        "",
        *profiled(found),
    ]


def profiled(found: Found) -> list[str]:
    """Where the time of attn_lrp goes on the longest text, and what bounds every method there."""
    recorded, lengths = found["profile"], found["lengths"]
    place = str(recorded["tokens"])
    own, floor = (
        lengths[case][place]["ratio"]["median"] for case in ("attn_lrp", "forward and back")
    )
    cost = {each["operator"]: each["seconds"] / each["calls"] for each in recorded["operators"]}
    forward, back = cost.get(f"aten::{FUSED}"), cost.get(f"aten::{FUSED}_backward")
    bound = [
        f"At {recorded['tokens']:,} tokens attn_lrp takes {own:g} plain passes;",
        f"the floor, a bare forward and back, takes {floor:g}.",
    ]
    if forward and back:
        bound.append(
            f"A call of torch's fused attention takes {back / forward:.1f} times as long back as forward "
            "there, which bounds every method that goes back."
        )
    rows = [
        [f"`{each['operator']}`", f"{each['calls']}", f"{each['seconds']:.2f}", f"{each['share']:.0%}"]
        for each in recorded["operators"]
    ]  # fmt: skip
    return [
        *bound,
        f"The operators that take longest in attn_lrp with {recorded['layers']} layers:",
        "",
        *table(["operator", "calls", "seconds", "share"], rows),
    ]


def bulk(found: Found) -> list[str]:
    """Throughput over many texts."""
    share, method = found["share of plain"], found["method"]
    rows = [[name, cell(own)] for name, own in found["texts a second"].items()]
    reached = share["median"] >= GOALS["share of plain"]
    return [
        "## Many texts",
        "",
        f"{found['texts']:,} sentences ({found['from']}; {found['mean tokens']} tokens each) "
        f"on `{found['model']}`, from strings to results:",
        "",
        *table(["", "texts a second"], rows),
        "",
        f"{method} beside plain passes, share of texts a second (middle half): {cell(share)}. At least wanted: "
        f"{GOALS['share of plain']:g}, {verdict(reached)}.",
    ]


def overhead(found: Found) -> list[str]:
    """One short text, and wrapping."""
    one = found["explaining"]
    rows = [[name, f"{own['median']}", f"{own['mean']}"] for name, own in one["passes"].items()]
    own, most = one["passes"]["attn_lrp"]["median"], GOALS["one sentence"]
    wraps = [
        [name, f"{each['passes']}", f"{each['milliseconds']:.0f}"]
        for name, each in found["wrapping"].items()
    ]
    return [
        "## One short text",
        "",
        f"A sentence of {one['tokens']} tokens on `sentiment`, one thread, processor time as multiples "
        f"of a plain pass ({one['plain_milliseconds']} ms):",
        "",
        *table(["", "median", "mean"], rows),
        "",
        f"attn_lrp takes {own} passes. At most wanted: {most}, {verdict(own <= most)}.",
        "",
        "Wrapping a network, with all proofs:",
        "",
        *table(["", "plain passes", "milliseconds"], wraps),
    ]


def answers(found: Found) -> list[str]:
    """The cost of explaining an answer, whole or token by token."""
    settings = found["settings"]
    peaks = (f"{peak:,} MB with {n} tokens" for n, peak in found["peak megabytes"].items())
    return [
        "## Answers of a language model",
        "",
        f"{found['method']} on `{found['model']}`: a prompt of {settings['prompt']} tokens and an answer of "
        f"{settings['answer']},",
        "as multiples of one plain pass over both; median (middle half).",
        "",
        *table(["", "plain passes"], [[case, cell(own)] for case, own in found["passes"].items()]),
        "",
        f"Peak memory above the weights for every token of an answer: {', '.join(peaks)}.",
    ]


def alti(found: Found) -> list[str]:
    """ALTI against length."""
    other = "all heads at once"
    kinds = ("plain", "alti", other)
    rows = [
        [f"{each['tokens']}", *(f"{each[kind]:.2f}" if kind in each else "" for kind in kinds)]
        for each in found["seconds"]
    ]
    return [
        "## ALTI",
        "",
        f"Seconds for one text on BERT base ([plot](alti.png)); *{other}* is an algorithm of the shape of the",
        "released one:",
        "",
        *table(["tokens", "plain forward", "alti", other], rows),
    ]


def probing(found: Found) -> list[str]:
    """The loop of the metrics."""
    share = found["throughput_of_plain"]
    return [
        "## Changed texts",
        "",
        f"The loop that metrics put changed texts through reads {found['tokens_a_second']['loop']:,.0f} tokens "
        f"a second on `{found['model']}`, {share['median']:.2f} ({share['least']:.2f}–{share['most']:.2f}) "
        "times as many as plain passes over the same.",
    ]


SECTIONS: dict[str, Callable[[Found], list[str]]] = {
    "results": methods,
    "long": long,
    "bulk": bulk,
    "overhead": overhead,
    "answers": answers,
    "alti": alti,
    "probing": probing,
}
"""What shows the numbers of a file, by its name."""
