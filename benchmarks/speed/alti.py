"""Time of ALTI against the length of the text, beside an algorithm of the shape of the released one.

    python -m benchmarks.speed.alti           writes benchmarks/speed/alti.json, alti.png and results.md
    python -m benchmarks.speed.alti --quick   short texts; writes below build/bench

The other algorithm makes every head's contribution of every token to every other, [head, query, key, feature],
and then sums over heads. It is stopped where one layer of it takes more than two gigabytes.
"""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from benchmarks.speed.measuring import (
    command,
    facts,
    folder,
    in_fresh_process,
    peak_megabytes,
    plain_pass,
    seconds,
)
from benchmarks.speed.report import keep
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

import headlight
from headlight import Batch, Target
from headlight.methods.attention import accumulated
from headlight.methods.decomposition import norms_of, summands
from headlight.plot import canvas
from headlight.renderers.colours import BLUE, VERMILION
from headlight.trace.attention_block import AttentionBlock
from headlight.trace.trace import Trace, trace

LENGTHS = (32, 64, 96, 128, 192, 256, 384, 512)
QUICK_LENGTHS = (32, 64)
ROUNDS = 3
MOST_BYTES = 2e9


def whole_matrix(block: AttentionBlock, captured: Trace) -> Tensor:
    """C of a layer with every contribution of every head in memory at once."""
    (parts,) = summands(block, captured.inputs.lengths, norms_of(block, False), True)
    each = torch.einsum("jhi,jhd->hijd", parts.attention, parts.vectors)
    contributions = each.sum(0)
    tokens = torch.arange(len(contributions))
    contributions[tokens, tokens] += parts.residual
    distances = torch.linalg.vector_norm(contributions - parts.output[:, None], 1, -1)
    nearer = torch.linalg.vector_norm(parts.output, 1, -1)[:, None] - distances
    closeness = nearer.clamp(min=0)
    return closeness / closeness.sum(-1, keepdim=True)


def usual_seconds(call: Callable[[], object]) -> float:
    """The median of a few runs."""
    return round(statistics.median(seconds(call) for _ in range(ROUNDS)), 4)


def memory_of(explains: bool, tokens: int) -> float:
    """The peak of BERT base above its weights, plainly or with ALTI; to be run in a fresh process."""
    network = BertForSequenceClassification(BertConfig()).eval()
    ids = torch.randint(5, 30000, (1, tokens))
    model = headlight.wrap(network)
    if explains:
        return peak_megabytes(lambda: headlight.explain(model, Batch.from_ids(ids), "alti"))
    return peak_megabytes(plain_pass(network, ids))


def main() -> None:
    """Measure, write, draw."""
    given = command(__doc__).parse_args()
    lengths = QUICK_LENGTHS if given.quick else LENGTHS
    torch.manual_seed(0)
    config = BertConfig()
    net = BertForSequenceClassification(config).eval()
    model = headlight.wrap(net)
    found = []
    for length in lengths:
        ids = torch.randint(5, 30000, (1, length))
        batch = Batch.from_ids(ids)

        def released_shape(batch: Batch = batch) -> None:
            captured = trace(model, batch.rows, [Target()], {"attention_blocks"})
            accumulated([whole_matrix(block, captured)[None] for block in captured.blocks])

        plain = plain_pass(net, ids)
        plain()
        answer = {
            "tokens": length,
            "plain": usual_seconds(plain),
            "alti": usual_seconds(partial(headlight.explain, model, batch, "alti")),
        }
        size = 4 * config.num_attention_heads * length**2 * config.hidden_size
        if size < MOST_BYTES:
            answer["all heads at once"] = usual_seconds(released_shape)
        found.append(answer)
        print(answer, flush=True)
    memory = {
        name: in_fresh_process(memory_of, explains, lengths[-1])
        for name, explains in (("plain", False), ("alti", True))
    }
    home = folder(given.quick)
    answers = {
        "settings": facts() | {"rounds": ROUNDS},
        "seconds": found,
        "peak megabytes above the weights": {"tokens": lengths[-1], **memory},
    }
    draw(found, home / "alti.png")
    print(keep(home, "alti", answers))


def draw(found: list[dict[str, float]], path: Path) -> None:
    """Time against length."""
    drawn, axes = canvas.figure(5.5, 3.4)
    for name, hue in (("alti", BLUE), ("all heads at once", VERMILION)):
        points = [(each["tokens"], each[name]) for each in found if name in each]
        axes.plot(*zip(*points, strict=True), "o-", color=canvas.colour(hue), label=name)
    points = [(each["tokens"], each["plain"]) for each in found]
    axes.plot(*zip(*points, strict=True), "o--", color=canvas.ink(), label="plain forward pass")
    axes.set(xlabel="tokens", ylabel="seconds", xscale="log", yscale="log")
    lengths = [each["tokens"] for each in found]
    axes.set_xticks(lengths, [f"{length}" for length in lengths])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    canvas.save(drawn, path)


if __name__ == "__main__":
    main()
