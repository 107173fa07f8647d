"""Cost of methods as multiples of one plain batched forward pass, measured in one interleaved run.

    python -m benchmarks.speed.run            writes benchmarks/speed/results.json and results.md
    python -m benchmarks.speed.run --quick    the smallest network, one round; writes below build/bench
    python -m benchmarks.speed.run --rounds 3 --methods alti mask_lrp
                                              prints these methods alone, and together; writes nothing

Seconds differ between machines and hours; ratios of runs taken in turn hardly do. Every round times every case
once, in a new order, with a plain pass between every two; a case's ratio is to the mean of the plain passes
before and after it. The median and the middle half of the rounds are reported.
"""

import random
import statistics
from collections.abc import Callable
from typing import Any

import torch
from benchmarks.speed.measuring import (
    Spread,
    command,
    facts,
    folder,
    in_fresh_process,
    llama,
    peak_megabytes,
    plain_pass,
    seconds,
    small_bert,
    spread_of,
    there_and_back,
)
from benchmarks.speed.report import keep, methods
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    PreTrainedModel,
)

import headlight
from headlight import METHODS, Batch

SMALL, BASE, LLAMA_TYPE = "6 × 384 (MiniLM)", "12 × 768 (BERT base)", "12 × 576 (Llama type)"
ROUNDS = {SMALL: 5, BASE: 3, LLAMA_TYPE: 3}
"""How often each case is timed, by network; methods of many passes only on the smallest."""
SLOW_ROUNDS = 2
"""How often cases are timed that send relevance through every operation: they take several times as long."""
ROWS, TOKENS = 8, 64
MEMORY = ("plain forward", "rollout", "input_x_gradient", "attn_lrp", "gae", "alti", "mask_lrp")


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
    """What kind of method it is, by what it needs."""
    needs = METHODS[name].needs
    if "attention_blocks" in needs:
        return "decomposition"
    if "relevance" in needs:
        return "relevance"
    if "modified_gradient" in needs:
        return "modified gradient"
    if any("gradient" in need for need in needs):
        return "gradient"
    return "attention" if needs else "none"


def cases(chosen: list[str], has_decoder: bool) -> dict[str, list[str]]:
    """Every method of one pass alone, then all of a group, then all together; or the chosen methods."""
    if chosen:
        return {**{name: [name] for name in chosen}, "these together": chosen}
    several = {
        name: [name]
        for name in METHODS
        if "replay" not in METHODS[name].needs
        and (has_decoder or "decoder" not in METHODS[name].options)
    }
    every = list(several)
    for kind in ("attention", "decomposition", "gradient", "relevance"):
        several[f"all {kind} methods"] = [name for name in every if group(name) == kind]
    several["attn_lrp, cp_lrp, libragrad, gim"] = ["attn_lrp", "cp_lrp", "libragrad", "gim"]
    several["all methods of one pass"] = every
    return several


def half_of_all_heads(net: PreTrainedModel) -> torch.Tensor:
    """A mask for Mask-LRP, with one layer closed."""
    shape = (net.config.num_hidden_layers, net.config.num_attention_heads)
    heads = torch.rand(shape, generator=torch.Generator().manual_seed(0)) < 0.5
    heads[2] = False
    return heads.int()


def network_of(name: str) -> PreTrainedModel:
    """A network with random weights."""
    torch.manual_seed(0)
    if name == LLAMA_TYPE:
        return llama()
    config = small_bert() if name == SMALL else BertConfig()
    network: PreTrainedModel = BertForSequenceClassification(config).eval()
    return network


def explaining(network: PreTrainedModel, batch: Batch) -> Callable[..., Callable[[], object]]:
    """Makes calls that explain the batch by several methods, with the options that these need."""
    model = headlight.wrap(network)
    given: dict[str, Any] = {"mask": half_of_all_heads(network)}
    if isinstance(network.config, BertConfig):
        given["decoder"] = headlight.wrap(BertForMaskedLM(network.config).eval())

    def call_of(names: list[str], **options: Any) -> Callable[[], object]:
        asked = {option for name in names for option in METHODS[name].options}
        own = {option: value for option, value in given.items() if option in asked}
        return lambda: headlight.explain(model, batch, names, **own, **options)

    return call_of


def batch_of(rows: int = ROWS) -> Batch:
    """Random token ids, always the same."""
    seed = torch.Generator().manual_seed(0)
    return Batch.from_ids(torch.randint(5, 30000, (rows, TOKENS), generator=seed))


def measure(name: str, rounds: int, chosen: list[str]) -> dict[str, Spread]:
    """The ratios of all cases on a network."""
    network, batch = network_of(name), batch_of()
    call_of = explaining(network, batch)
    plain = plain_pass(network, torch.tensor([row.ids for row in batch.rows]))
    several = cases(chosen, isinstance(network.config, BertConfig))
    slow = {case for case, names in several.items() if any(group(n) == "relevance" for n in names)}
    calls = {case: call_of(names) for case, names in several.items()}
    for case in (
        "attn_lrp, cp_lrp, libragrad, gim",
        "all gradient methods",
        "alti",
        "lrp",
        *chosen,
    ):
        if case in calls:
            calls[case]()
    ratios: dict[str, list[float]] = {case: [] for case in calls}
    plain()
    passes = [seconds(plain)]
    for number in range(rounds):
        order = [case for case in calls if case not in slow or number < SLOW_ROUNDS or chosen]
        random.Random(number).shuffle(order)
        for case in order:
            own = seconds(calls[case])
            passes.append(seconds(plain))
            ratios[case].append(own / statistics.mean(passes[-2:]))
    found = {case: spread_of(values) for case, values in ratios.items()}
    if name == SMALL and not chosen:
        found |= many_passes(network, batch, rounds)
    return found | {"plain forward, seconds": {"median": round(statistics.median(passes), 4)}}


def many_passes(network: PreTrainedModel, batch: Batch, rounds: int) -> dict[str, Spread]:
    """What methods of many passes take for each, as multiples of such a pass."""
    call_of = explaining(network, batch)
    ids = torch.tensor([row.ids for row in batch.rows])
    plain, back = plain_pass(network, ids), there_and_back(network, ids)
    found = {}
    for name, (options, passes, goes_back) in PASSES.items():
        call, bare = call_of([name], **options), back if goes_back else plain
        values = []
        for _ in range(min(rounds, 3)):
            base = statistics.median(seconds(bare) for _ in range(3))
            values.append(seconds(call) / base / passes)
        kind = "forward and back" if goes_back else "forward"
        found[f"{name}, each of its {passes} passes, to {kind}"] = spread_of(values)
    return found


def memory_of(case: str) -> float:
    """The peak of one call on BERT base above its weights; to be run in a fresh process."""
    network, batch = network_of(BASE), batch_of()
    ids = torch.tensor([row.ids for row in batch.rows])
    if case == "plain forward":
        return peak_megabytes(plain_pass(network, ids))
    return peak_megabytes(explaining(network, batch)([case]))


def main() -> None:
    """Measure and write."""
    parser = command(__doc__)
    parser.add_argument("--rounds", type=int, help="How often each case is timed.")
    parser.add_argument(
        "--methods", nargs="+", default=[], help="Measure only these methods, and write nothing."
    )
    given = parser.parse_args()
    rounds = {name: given.rounds or count for name, count in ROUNDS.items()}
    if given.quick:
        rounds = {SMALL: 1}
    results = {}
    for name, count in rounds.items():
        results[name] = measure(name, count, given.methods)
        print(f"measured: {name}", flush=True)
    settings = facts() | {
        "rows": ROWS,
        "tokens": TOKENS,
        "rounds": rounds,
        "slow rounds": SLOW_ROUNDS,
    }
    found: dict[str, Any] = {"settings": settings, "results": results}
    if given.methods:
        print("\n".join(methods(found)))
        return
    found["peak megabytes above the weights, BERT base"] = {
        case: in_fresh_process(memory_of, case) for case in (MEMORY[:2] if given.quick else MEMORY)
    }
    print(keep(folder(given.quick), "results", found))


if __name__ == "__main__":
    main()
