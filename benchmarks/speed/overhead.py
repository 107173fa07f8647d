"""What one short explanation, and wrapping a network, cost in all: processor time as multiples of a plain pass.

    python -m benchmarks.speed.overhead           writes benchmarks/speed/overhead.json and results.md
    python -m benchmarks.speed.overhead --quick   three rounds; writes below build/bench

A sentence of 24 tokens on the embedded `sentiment`: each round times the plain pass, a bare pass with its way
back, and every method once. `random` computes nothing, so what it costs above 1 is the overhead of every call.
The mean is given beside the median, because Python looks for unused memory only now and then.

Wrapping runs all proofs; its plain pass is that of the first probe.
"""

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import torch
from benchmarks.speed.measuring import command, facts, folder, llama, timed
from benchmarks.speed.report import keep
from torch import Tensor
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
)

import headlight
from headlight.proof.probes import inputs_of, probe_rows
from headlight.running.logits import logits_of

ROUNDS, WRAPS = 60, 7
QUICK_ROUNDS = 3
TEXT = (
    "the film is a charming and often affecting journey that never loses its nerve , even when "
    "the story wears thin ."
)
TOKENS = 24
METHODS = ("random", "rollout", "gae", "attcat", "input_x_gradient", "attn_lrp", "lrp", "mask_lrp")


def seconds(call: Callable[[], object]) -> float:
    """The processor time of a call."""
    return timed(call)[1]


def calls(model: headlight.Model) -> dict[str, Callable[[], object]]:
    """What every round times, by name."""
    assert model.tokenizer is not None
    encoding = model.tokenizer(TEXT, return_tensors="pt")
    assert encoding["input_ids"].shape == (1, TOKENS)
    network = model.network

    @torch.no_grad()
    def plain() -> None:
        network(**encoding)

    def gradient() -> None:
        leaf: list[Tensor] = []

        def cut(_module: Any, _args: Any, output: Tensor) -> Tensor:
            leaf.append(output.detach().requires_grad_())
            return leaf[0]

        handle = network.get_submodule("bert.embeddings").register_forward_hook(cut)
        logits = network(**encoding).logits
        handle.remove()
        torch.autograd.grad(logits[0].max(), leaf)

    def explained(method: str) -> Callable[[], object]:
        return lambda: headlight.explain(model, TEXT, method)

    return {"plain": plain, "gradient": gradient, **{name: explained(name) for name in METHODS}}


def explaining(rounds: int) -> dict[str, Any]:
    """The cost of one explanation by every method."""
    model = headlight.load("sentiment")
    for parameter in model.network.parameters():
        parameter.requires_grad_(False)
    every = calls(model)
    for call in every.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(rounds):
        for name, call in every.items():
            times[name].append(seconds(call))
    plain = statistics.median(times["plain"])
    return {
        "tokens": TOKENS,
        "plain_milliseconds": round(1000 * plain, 2),
        "passes": {
            name: {
                "median": round(statistics.median(own) / plain, 2),
                "mean": round(statistics.mean(own) / plain, 2),
            }
            for name, own in times.items()
        },
    }


def networks() -> Iterator[tuple[str, PreTrainedModel]]:
    """The networks that are wrapped."""
    torch.manual_seed(0)
    yield "sentiment, 6 × 384", headlight.load("sentiment").network
    yield "BERT, 12 × 768", BertForSequenceClassification(BertConfig()).eval()
    yield "Llama, 12 × 576", llama()


def wrapping(network: PreTrainedModel, rounds: int) -> dict[str, float]:
    """The cost of wrapping a network."""
    model = headlight.wrap(network)
    probe = inputs_of(model, probe_rows(model)[:1])

    @torch.no_grad()
    def plain() -> None:
        logits_of(model, probe)

    plain()
    times = [(seconds(plain), seconds(lambda: headlight.wrap(network))) for _ in range(rounds)]
    pass_time, wrap_time = (statistics.median(own) for own in zip(*times, strict=True))
    return {
        "plain_milliseconds": round(1000 * pass_time, 2),
        "milliseconds": round(1000 * wrap_time, 1),
        "passes": round(wrap_time / pass_time, 1),
    }


def main() -> None:
    """Measure and write."""
    given = command(__doc__).parse_args()
    torch.set_num_threads(1)
    rounds, wraps = (QUICK_ROUNDS,) * 2 if given.quick else (ROUNDS, WRAPS)
    found = {
        "settings": facts() | {"rounds": rounds, "rounds of wrapping": wraps},
        "explaining": explaining(rounds),
        "wrapping": {name: wrapping(network, wraps) for name, network in networks()},
    }
    print(keep(folder(given.quick), "overhead", found))


if __name__ == "__main__":
    main()
