"""The same attributions by headlight and by captum, on the same network: seconds, in turn.

    python benchmarks/speed/peer.py           writes benchmarks/speed/peer.json

Captum explains embeddings or ids of one text at a time, as its tutorials do; it is given as many changed
texts at once as headlight takes.
"""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from captum.attr import IntegratedGradients, Occlusion, ShapleyValueSampling
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

import headlight
from headlight import Batch

HOME = Path(__file__).parent
ROWS, TOKENS, STEPS, PERMUTATIONS, ROUNDS = 8, 32, 20, 4, 3
SMALL: dict[str, Any] = {"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536}
AT_ONCE = 128


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def captum_calls(net: BertForSequenceClassification, ids: Tensor) -> dict[str, Callable[[], None]]:
    """What captum does, by the name of the method."""

    def logit(ids: Tensor) -> Tensor:
        return net(ids.long()).logits[:, 0]

    def from_embeddings(embeddings: Tensor) -> Tensor:
        hidden = net.bert.encoder(embeddings).last_hidden_state
        assert net.bert.pooler is not None
        return net.classifier(net.bert.pooler(hidden))[:, 0]

    def gradients() -> None:
        start = net.bert.embeddings(torch.zeros_like(ids[:1])).detach()
        for row in ids:
            inputs = net.bert.embeddings(row[None]).detach()
            IntegratedGradients(from_embeddings).attribute(inputs, start, n_steps=STEPS)

    @torch.no_grad()
    def occlusion() -> None:
        for row in ids:
            Occlusion(logit).attribute(row[None], (1,), baselines=0, perturbations_per_eval=AT_ONCE)

    @torch.no_grad()
    def shapley() -> None:
        for row in ids:
            ShapleyValueSampling(logit).attribute(
                row[None], baselines=0, n_samples=PERMUTATIONS, perturbations_per_eval=AT_ONCE
            )

    return {"integrated_gradients": gradients, "occlusion": occlusion, "shapley": shapley}


def main() -> None:
    torch.manual_seed(0)
    net = BertForSequenceClassification(BertConfig(num_attention_heads=12, **SMALL)).eval()
    model = headlight.wrap(net)
    ids = torch.randint(5, 30000, (ROWS, TOKENS))
    options: dict[str, dict[str, Any]] = {
        "integrated_gradients": {"steps": STEPS},
        "shapley": {"permutations": PERMUTATIONS},
    }
    found = {}
    for name, other in captum_calls(net, ids).items():

        def own(name: str = name) -> None:
            headlight.explain(
                model, Batch.from_ids(ids), name, 0, baseline="pad", **options.get(name, {})
            )

        own()
        other()
        times = [(seconds(own), seconds(other)) for _ in range(ROUNDS)]
        found[name] = {
            "headlight": round(statistics.median(t for t, _ in times), 3),
            "captum": round(statistics.median(t for _, t in times), 3),
            "captum / headlight": round(statistics.median(b / a for a, b in times), 2),
        }
        print(name, found[name], flush=True)
    facts = {"rows": ROWS, "tokens": TOKENS, "steps": STEPS, "permutations": PERMUTATIONS}
    (HOME / "peer.json").write_text(json.dumps({"settings": facts, "seconds": found}, indent=1))


if __name__ == "__main__":
    main()
