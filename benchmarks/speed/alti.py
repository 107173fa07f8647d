"""Time of ALTI against the length of the text, beside an algorithm of the shape of the released one.

    python benchmarks/speed/alti.py           writes benchmarks/speed/alti.json and alti.png

The other algorithm makes every head's contribution of every token to every other, [head, query, key, feature],
and then sums over heads. It is stopped where one layer of it takes more than two gigabytes.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
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

HOME = Path(__file__).parent
LENGTHS = (32, 64, 96, 128, 192, 256, 384, 512)
ROUNDS = 3
MOST_BYTES = 2e9


def whole_matrix(block: AttentionBlock, captured: Trace) -> Tensor:
    """C of a layer with every contribution of every head in memory at once."""
    (parts,) = summands(block, captured.inputs.lengths, norms_of(block, False), True)
    each = torch.einsum("jih,jhd->hijd", parts.attention, parts.vectors)
    contributions = each.sum(0)
    tokens = torch.arange(len(contributions))
    contributions[tokens, tokens] += parts.residual
    distances = torch.linalg.vector_norm(contributions - parts.output[:, None], 1, -1)
    nearer = torch.linalg.vector_norm(parts.output, 1, -1)[:, None] - distances
    closeness = nearer.clamp(min=0)
    return closeness / closeness.sum(-1, keepdim=True)


def seconds(call: object) -> float:
    """The median of a few runs."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return round(statistics.median(times), 4)


def peak_megabytes(explains: bool) -> float:
    """Most memory of a fresh process that runs BERT base on 512 tokens, plainly or with ALTI.

    To be asked while this process is small, since a child begins with the peak of its parent.
    """
    code = (
        "import resource, sys, torch, headlight\n"
        "from transformers import BertConfig, BertForSequenceClassification\n"
        "net = BertForSequenceClassification(BertConfig()).eval()\n"
        "model = headlight.wrap(net)\n"
        "ids = torch.randint(5, 30000, (1, 512))\n"
        "with torch.inference_mode(): net(ids)\n"
        "sys.argv[1] == 'True' and headlight.explain(model, headlight.Batch.from_ids(ids), 'alti')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)"
    )
    command = [sys.executable, "-c", code, str(explains)]
    return round(float(subprocess.run(command, check=True, capture_output=True).stdout), 0)


def main() -> None:
    """Measure, write, draw."""
    memory = {"plain": peak_megabytes(False), "alti": peak_megabytes(True)}
    torch.manual_seed(0)
    config = BertConfig()
    net = BertForSequenceClassification(config).eval()
    model = headlight.wrap(net)
    found = []
    for length in LENGTHS:
        ids = torch.randint(5, 30000, (1, length))
        batch = Batch.from_ids(ids)

        def plain(ids: Tensor = ids) -> None:
            with torch.inference_mode():
                net(ids)

        def released_shape(batch: Batch = batch) -> None:
            captured = trace(model, batch.rows, [Target()], {"attention_blocks"})
            accumulated([whole_matrix(block, captured)[None] for block in captured.blocks])

        plain()
        answer = {
            "tokens": length,
            "plain": seconds(plain),
            "alti": seconds(lambda batch=batch: headlight.explain(model, batch, "alti")),
        }
        size = 4 * config.num_attention_heads * length**2 * config.hidden_size
        if size < MOST_BYTES:
            answer["all heads at once"] = seconds(released_shape)
        found.append(answer)
        print(answer, flush=True)
    facts = {"threads": torch.get_num_threads(), "torch": torch.__version__, "rounds": ROUNDS}
    answers = {"settings": facts, "seconds": found, "peak megabytes, 512 tokens": memory}
    (HOME / "alti.json").write_text(json.dumps(answers, indent=1))
    print(memory)
    draw(found)


def draw(found: list[dict[str, float]]) -> None:
    """Time against length."""
    drawn, axes = canvas.figure(5.5, 3.4)
    for name, hue in (("alti", BLUE), ("all heads at once", VERMILION)):
        points = [(each["tokens"], each[name]) for each in found if name in each]
        axes.plot(*zip(*points, strict=True), "o-", color=canvas.colour(hue), label=name)
    points = [(each["tokens"], each["plain"]) for each in found]
    axes.plot(*zip(*points, strict=True), "o--", color=canvas.ink(), label="plain forward pass")
    axes.set(xlabel="tokens", ylabel="seconds", xscale="log", yscale="log")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    canvas.save(drawn, HOME / "alti.png")


if __name__ == "__main__":
    main()
