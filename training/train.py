"""Train a catalogue entry and write its adapter, seeded, with a log; a killed run goes on.

    python training/train.py sentiment --data FOLDER --out runs/sentiment

All encoder weights but the embedding tables are trained; the difference to the base is then cut down to an
adapter. What is reported is the accuracy of the base merged with the adapter read back from the disk.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch
from compress import adapter_of
from data import SOURCES, Example, without_repeats
from recipes import RECIPES, Recipe
from safetensors.torch import save_file
from torch import Tensor
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from headlight.models.adapter import merge_adapter
from headlight.models.catalogue import MINILM, base_folder, quiet

Encoded = list[tuple[list[int], list[int], int]]
SAVE_SECONDS = 180


def fresh(labels: tuple[str, ...]) -> BertForSequenceClassification:
    """The base with an untrained head."""
    folder = base_folder(MINILM)
    config = BertConfig.from_pretrained(
        folder, id2label=dict(enumerate(labels)), label2id={n: i for i, n in enumerate(labels)}
    )
    with quiet():
        return BertForSequenceClassification.from_pretrained(
            folder, config=config, dtype=torch.float32
        )


def encoded(examples: list[Example], longest: int) -> Encoded:
    """Token ids, types and label of every example."""
    tokenizer = AutoTokenizer.from_pretrained(base_folder(MINILM))
    pairs = [e.pair for e in examples] if examples[0].pair is not None else None
    found = tokenizer([e.text for e in examples], pairs, truncation=True, max_length=longest)
    labels = [e.label for e in examples]
    return list(zip(found["input_ids"], found["token_type_ids"], labels, strict=True))


def batches(rows: Encoded, size: int, shuffle: random.Random | None) -> Iterator[list[int]]:
    """Row numbers of like length: sorted within shuffled pools of a hundred batches."""
    order = list(range(len(rows)))
    pool = len(order)
    if shuffle:
        shuffle.shuffle(order)
        pool = 100 * size
    found = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda n: len(rows[n][0]))
        found += [part[k : k + size] for k in range(0, len(part), size)]
    if shuffle:
        shuffle.shuffle(found)
    yield from found


def tensors(rows: Encoded, chosen: list[int]) -> tuple[dict[str, Tensor], Tensor]:
    """A padded batch and its labels."""
    width = max(len(rows[n][0]) for n in chosen)

    def padded(column: int, fill: int = 0) -> Tensor:
        return torch.tensor(
            [[*rows[n][column], *[fill] * (width - len(rows[n][0]))] for n in chosen]
        )

    mask = torch.tensor([[1] * len(rows[n][0]) + [0] * (width - len(rows[n][0])) for n in chosen])
    inputs = {"input_ids": padded(0), "token_type_ids": padded(1), "attention_mask": mask}
    return inputs, torch.tensor([rows[n][2] for n in chosen])


def accuracy(network: BertForSequenceClassification, rows: Encoded) -> tuple[int, int]:
    """Right answers and rows."""
    was_training, right = network.training, 0
    network.eval()
    with torch.inference_mode():
        for chosen in batches(rows, 64, None):
            inputs, labels = tensors(rows, chosen)
            right += int((network(**inputs).logits.argmax(-1) == labels).sum())
    network.train(was_training)
    return right, len(rows)


def interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.959964, right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return round(middle - half, 4), round(middle + half, 4)


class Run:
    """One training run: its network, its moving average, and the folder it can be taken up from."""

    def __init__(self, name: str, seed: int, rows: Encoded, out: Path) -> None:
        self.recipe: Recipe = RECIPES[name]
        self.name, self.seed, self.rows, self.out = name, seed, rows, out
        torch.manual_seed(seed)
        self.network = fresh(self.recipe.labels).train()
        self.base = {n: p.detach().clone() for n, p in self.network.named_parameters()}
        for parameter in self.network.bert.embeddings.parameters():
            parameter.requires_grad_(parameter.ndim == 1)
        self.trained = {n: p for n, p in self.network.named_parameters() if p.requires_grad}
        self.average = {n: p.detach().clone() for n, p in self.trained.items()}
        self.optimizer = torch.optim.AdamW(self.groups(), fused=True)
        self.steps = int(self.recipe.epochs * math.ceil(len(rows) / self.recipe.batch))
        self.step, self.seconds = 0, 0.0
        self.checkpoint = out / "checkpoint.pt"
        if self.checkpoint.exists():
            self.take_up()

    def groups(self) -> list[dict[str, object]]:
        """Parameters by learning rate and decay."""
        found = []
        for is_head in (False, True):
            for is_matrix in (False, True):
                chosen = [
                    p
                    for n, p in self.trained.items()
                    if (not n.startswith("bert.e")) == is_head and (p.ndim == 2) == is_matrix
                ]
                rate = self.recipe.head_rate if is_head else self.recipe.rate
                decay = self.recipe.decay if is_matrix else 0.0
                found.append({"params": chosen, "lr": rate, "base": rate, "weight_decay": decay})
        return found

    def schedule(self) -> None:
        """Warm up, then fall in a straight line."""
        warm = max(1, int(self.recipe.warmup * self.steps))
        share = min((self.step + 1) / warm, (self.steps - self.step) / max(1, self.steps - warm))
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * share

    def learn(self, chosen: list[int]) -> float:
        """One step."""
        self.schedule()
        inputs, labels = tensors(self.rows, chosen)
        loss = torch.nn.functional.cross_entropy(
            self.network(**inputs).logits, labels, label_smoothing=self.recipe.smoothing
        )
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimizer.step()
        self.step += 1
        weight = min(self.recipe.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, parameter in self.trained.items():
                self.average[name].lerp_(parameter, 1 - weight)
        return float(loss.detach())

    def order(self) -> Iterator[list[int]]:
        """The batches that are left, the same after a restart."""
        shuffle, passed = random.Random(self.seed), 0
        while passed < self.steps:
            for chosen in batches(self.rows, self.recipe.batch, shuffle):
                passed += 1
                if self.step < passed <= self.steps:
                    torch.manual_seed(self.seed * 1_000_003 + passed)
                    yield chosen

    def save(self) -> None:
        """Write everything needed to go on, whole or not at all."""
        state = {
            "network": self.network.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
        }
        temporary = self.checkpoint.with_suffix(".part")
        torch.save(state, temporary)
        temporary.replace(self.checkpoint)

    def take_up(self) -> None:
        """Go on where the checkpoint was written."""
        state = torch.load(self.checkpoint, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]

    def write_adapter(self) -> Path:
        """The averaged weights as an adapter."""
        tuned = {n: self.average.get(n, p.detach()) for n, p in self.network.named_parameters()}
        path = self.out / f"{self.name}.safetensors"
        recipe = {
            **asdict(self.recipe),
            "seed": self.seed,
            "rows": len(self.rows),
            "steps": self.steps,
        }
        save_file(
            adapter_of(tuned, self.base, int(self.recipe.megabytes * 1e6)),
            path,
            {
                "base_sha256": MINILM.sha256,
                "labels": json.dumps(self.recipe.labels),
                "recipe": json.dumps(recipe),
            },
        )
        return path


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--data", type=Path, help="folder of local data; default: the hub")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    recipe = RECIPES[options.name]
    source, split = recipe.shown
    held_out = list(SOURCES[source].read(split, options.data))
    examples = [e for name, part in recipe.train for e in SOURCES[name].read(part, options.data)]
    rows = encoded(without_repeats(examples, held_out), recipe.longest)
    shown = encoded(held_out, recipe.longest)
    log = (options.out / "log.txt").open("a", encoding="utf-8", buffering=1)

    def say(text: str) -> None:
        line = f"{time.strftime('%H:%M:%S')} {text}"
        print(line, flush=True)
        print(line, file=log)

    run = Run(options.name, options.seed, rows, options.out)
    say(
        f"{options.name} seed {options.seed}: {len(rows)} rows, {run.steps} steps, from step {run.step}"
    )
    started, saved, losses = time.monotonic() - run.seconds, time.monotonic(), []
    for chosen in run.order():
        losses.append(run.learn(chosen))
        if run.step % 100 == 0:
            run.seconds = time.monotonic() - started
            pace = run.step * recipe.batch / run.seconds
            left = (run.steps - run.step) * recipe.batch / pace / 60
            say(f"step {run.step}/{run.steps} loss {sum(losses[-100:]) / 100:.4f} "
                f"{pace:.0f} rows/s, {left:.0f} min left")  # fmt: skip
        if time.monotonic() - saved > SAVE_SECONDS:
            run.seconds = time.monotonic() - started
            run.save()
            saved = time.monotonic()
    run.save()
    path = run.write_adapter()
    merged = fresh(recipe.labels)
    merge_adapter(merged, path, MINILM.sha256)
    right, count = accuracy(merged, shown)
    result = {
        "entry": options.name,
        "seed": options.seed,
        "shown": " ".join(recipe.shown),
        "right": right,
        "rows": count,
        "accuracy": round(right / count, 4),
        "interval": interval(right, count),
        "minutes": round((time.monotonic() - started) / 60, 1),
        "bytes": path.stat().st_size,
    }
    (options.out / "result.json").write_text(json.dumps(result, indent=1))
    say(json.dumps(result))


if __name__ == "__main__":
    main()
