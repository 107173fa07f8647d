"""Time and memory against the length of a text and the rows of a batch, as multiples of one plain forward pass.

    python -m benchmarks.speed.long           writes benchmarks/speed/long.json, long.png and results.md
    python -m benchmarks.speed.long --quick   short texts, one round; writes below build/bench

Every length and case has a process of its own, which runs the case and the plain pass in turn. Its first call
gives the peak of its memory above the weights; below 4,096 tokens that call is not timed, because the first
call of a process is slower. "forward and back" is a bare pass with the gradient of one logit: no method that
sends something back through torch's own kernels can be cheaper.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from benchmarks.speed.measuring import (
    command,
    facts,
    folder,
    in_fresh_process,
    llama,
    peak_megabytes,
    plain_pass,
    small_bert,
    spread_of,
    there_and_back,
    timed,
)
from benchmarks.speed.report import keep
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from transformers import BertForSequenceClassification, PreTrainedModel

import headlight
from headlight import Batch
from headlight.plot import canvas
from headlight.renderers.colours import BLUE, GREEN, GREY, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUNDS = {512: 3, 1024: 3, 2048: 3, 4096: 2, 8192: 2}
"""How often a text of so many tokens is timed."""
QUICK_ROUNDS = {64: 1, 128: 1}
NO_WARMING = 4096
PLAIN, FLOOR = "plain forward", "forward and back"
LONGEST = {
    PLAIN: 8192,
    FLOOR: 8192,
    "input_x_gradient": 8192,
    "attn_lrp": 8192,
    "attcat": 2048,
    "gae": 2048,
    "rollout": 2048,
}
"""The cases, and the longest text of each."""
COLOURS = dict(zip(LONGEST, (GREY, GREY, GREEN, BLUE, VERMILION, PURPLE, (0, 0, 0)), strict=True))
ROWS, BATCH_ROUNDS, BATCH_TOKENS = (1, 2, 4, 8, 16, 32), 7, 64
PROFILED_LAYERS, SHOWN_OPERATORS = 3, 6


def call_of(case: str, network: PreTrainedModel, ids: Tensor) -> Callable[[], object]:
    """What is measured, by its name."""
    if case == PLAIN:
        return plain_pass(network, ids)
    if case == FLOOR:
        return there_and_back(network, ids)
    model, batch = headlight.wrap(network), Batch.from_ids(ids)
    return lambda: headlight.explain(model, batch, case)


def text_of(tokens: int, rows: int = 1) -> Tensor:
    """Random token ids, always the same."""
    return torch.randint(5, 30000, (rows, tokens), generator=torch.Generator().manual_seed(0))


def one_case(case: str, tokens: int, rounds: int) -> dict[str, Any]:
    """The memory, the ratios and the seconds of a case at a length; to be run in a fresh process."""
    network, ids = llama(), text_of(tokens)
    call, plain = call_of(case, network, ids), plain_pass(network, ids)
    first: list[tuple[float, float]] = []
    memory = peak_megabytes(lambda: first.append(timed(call)))
    pairs = [(first[0], timed(plain))]
    if tokens < NO_WARMING:
        pairs = []
    pairs += [(timed(call), timed(plain)) for _ in range(rounds - len(pairs))]
    wall, processor = ([(own[kind], base[kind]) for own, base in pairs] for kind in (0, 1))
    return {
        "peak megabytes": memory,
        "ratio": spread_of([own / base for own, base in wall]),
        "ratio of processor time": spread_of([own / base for own, base in processor]),
        "seconds": spread_of([own for own, _ in wall], 3)["median"],
        "processor seconds": spread_of([own for own, _ in processor], 3)["median"],
    }


def over_lengths(rounds: dict[int, int]) -> dict[str, dict[str, Any]]:
    """Every case at every length."""
    found: dict[str, dict[str, Any]] = {}
    for tokens, count in rounds.items():
        for case, longest in LONGEST.items():
            if tokens <= longest:
                answer = in_fresh_process(one_case, case, tokens, count)
                found.setdefault(case, {})[str(tokens)] = answer
                print(tokens, case, answer, flush=True)
    return found


def over_rows(rows: tuple[int, ...], rounds: int) -> dict[str, dict[str, Any]]:
    """A few cases at every number of rows, all in turn."""
    torch.manual_seed(0)
    network: PreTrainedModel = BertForSequenceClassification(small_bert()).eval()
    found: dict[str, dict[str, Any]] = {}
    for count in rows:
        ids = text_of(BATCH_TOKENS, count)
        plain = plain_pass(network, ids)
        for case in (FLOOR, "input_x_gradient", "attn_lrp"):
            call = call_of(case, network, ids)
            call()
            pairs = [(timed(call)[0], timed(plain)[0]) for _ in range(rounds)]
            answer = {"ratio": spread_of([own / base for own, base in pairs])}
            found.setdefault(case, {})[str(count)] = answer
    return found


def operators(tokens: int) -> list[dict[str, Any]]:
    """Where attn_lrp spends its time in a few layers: the operators that take longest themselves."""
    call = call_of("attn_lrp", llama(PROFILED_LAYERS), text_of(tokens))
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        call()
    averages = recorded.key_averages()
    total = sum(each.self_cpu_time_total for each in averages)
    longest = sorted(averages, key=lambda each: -each.self_cpu_time_total)[:SHOWN_OPERATORS]
    return [
        {
            "operator": each.key,
            "calls": each.count,
            "seconds": round(each.self_cpu_time_total / 1e6, 5),
            "share": round(each.self_cpu_time_total / total, 3),
        }
        for each in longest
    ]


def draw(found: dict[str, Any], path: Path) -> None:
    """Ratio and memory over the length, ratio over the rows."""
    drawn, first = canvas.figure(12, 3.8)
    first.remove()
    time, memory, rows = (canvas.inked(axes) for axes in drawn.subplots(1, 3))
    lengths = found["lengths"]
    others = {case: answers for case, answers in lengths.items() if case != PLAIN}
    lines(time, {case: points(answers, "ratio") for case, answers in others.items()})
    lines(memory, {case: points(own, "peak megabytes") for case, own in lengths.items()})
    lines(rows, {case: points(answers, "ratio") for case, answers in found["rows"].items()})
    time.set(xlabel="tokens of one text", ylabel="plain forward passes", title="Time, Llama type")
    memory.set(
        xlabel="tokens of one text",
        ylabel="megabytes above the weights",
        yscale="log",
        title="Memory, Llama type",
    )
    rows.set(
        xlabel=f"rows of {BATCH_TOKENS} tokens",
        ylabel="plain forward passes",
        title="Time, BERT 6 × 384",
    )
    for axes in (time, rows):
        axes.set_ylim(0, 1.1 * axes.dataLim.ymax)
    memory.yaxis.set_major_formatter("{x:,.0f}")
    memory.legend(memory.lines[:1], [PLAIN], frameon=False, fontsize=8)
    canvas.save(drawn, path)


def points(answers: dict[str, Any], kind: str) -> list[tuple[int, float]]:
    """A number over the lengths or the rows."""
    values = {int(place): each[kind] for place, each in answers.items()}
    return [(at, own["median"] if isinstance(own, dict) else own) for at, own in values.items()]


def lines(axes: "Axes", cases: dict[str, list[tuple[int, float]]]) -> None:
    """One line a case, over powers of two."""
    for case, own in cases.items():
        style = "o--" if case in (PLAIN, FLOOR) else "o-"
        marker = "white" if case == PLAIN else None
        hue = canvas.colour(COLOURS[case])
        axes.plot(*zip(*own, strict=True), style, color=hue, label=case, markerfacecolor=marker)
    places = sorted({at for own in cases.values() for at, _ in own})
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    """Measure, write, draw."""
    given = command(__doc__).parse_args()
    rounds = QUICK_ROUNDS if given.quick else ROUNDS
    longest = max(rounds)
    found = {
        "settings": facts() | {"rounds": rounds, "rounds over rows": BATCH_ROUNDS},
        "lengths": over_lengths(rounds),
        "rows": in_fresh_process(over_rows, ROWS, 1 if given.quick else BATCH_ROUNDS),
        "profile": {
            "tokens": longest,
            "layers": PROFILED_LAYERS,
            "operators": in_fresh_process(operators, longest),
        },
    }
    home = folder(given.quick)
    draw(found, home / "long.png")
    print(keep(home, "long", found))


if __name__ == "__main__":
    main()
