"""The training loop: seeded, logged, and resumed after it was killed."""

import math
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from recipes import Recipe
from rows import Row, batches

SAVE_SECONDS = 180
Loss = Callable[[PreTrainedModel, list[Row]], Tensor]


def half_products(recipe: Recipe) -> torch.autocast:
    """Products in bfloat16 while this is open, if the recipe says so."""
    return torch.autocast("cpu", torch.bfloat16, enabled=recipe.half)


class Log:
    """Lines with the time, on the screen and in a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "log.txt"

    def __call__(self, text: str) -> None:
        line = f"{time.strftime('%H:%M:%S')} {text}"
        print(line, flush=True)
        with self.path.open("a", encoding="utf-8") as file:
            print(line, file=file)


class Run:
    """One training run: its network, the moving average of its weights, and its checkpoint."""

    def __init__(
        self, network: PreTrainedModel, rows: list[Row], recipe: Recipe, seed: int, out: Path
    ) -> None:
        self.network, self.rows, self.recipe, self.seed = network.train(), rows, recipe, seed
        body = network.base_model
        for name, parameter in body.named_parameters():
            parameter.requires_grad_(not name.startswith(recipe.frozen) or parameter.ndim == 1)
        inner = {id(parameter) for parameter in body.parameters()}
        self.trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
        self.is_head = {n: id(p) not in inner for n, p in self.trained.items()}
        self.average = {n: p.detach().clone() for n, p in self.trained.items()}
        self.optimizer = torch.optim.AdamW(self.groups(), fused=True)
        self.steps = int(recipe.epochs * math.ceil(len(rows) / recipe.batch))
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
                    if self.is_head[n] == is_head and (p.ndim == 2) == is_matrix
                ]
                rate = self.recipe.head_rate if is_head else self.recipe.rate
                decay = self.recipe.decay if is_matrix else 0.0
                found.append({"params": chosen, "lr": rate, "base": rate, "weight_decay": decay})
        return found

    def schedule(self) -> None:
        """The learning rate: warm-up, then linear decay."""
        warm = max(1, int(self.recipe.warmup * self.steps))
        share = min((self.step + 1) / warm, (self.steps - self.step) / max(1, self.steps - warm))
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * share

    def learn(self, loss: Tensor) -> float:
        """One step."""
        self.schedule()
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimizer.step()
        self.step += 1
        weight = min(self.recipe.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, parameter in self.trained.items():
                self.average[name].lerp_(parameter, 1 - weight)
        return float(loss.detach())

    def order(self) -> Iterator[list[Row]]:
        """The batches that are left, the same after a restart."""
        shuffle, passed = random.Random(self.seed), 0
        while passed < self.steps:
            for chosen in batches(self.rows, self.recipe.batch, shuffle):
                passed += 1
                if self.step < passed <= self.steps:
                    torch.manual_seed(self.seed * 1_000_003 + passed)
                    yield chosen

    def go(self, loss: Loss, log: Log) -> dict[str, Tensor]:
        """Train to the end, and return the averaged weights."""
        log(f"{len(self.rows)} rows, {self.steps} steps, from step {self.step}")
        started, saved, losses = time.monotonic() - self.seconds, time.monotonic(), []
        for chosen in self.order():
            with half_products(self.recipe):
                lost = loss(self.network, chosen)
            losses.append(self.learn(lost))
            self.seconds = time.monotonic() - started
            if self.step % 100 == 0:
                pace = self.step * self.recipe.batch / self.seconds
                left = (self.steps - self.step) * self.recipe.batch / pace / 60
                mean = sum(losses[-100:]) / len(losses[-100:])
                log(f"step {self.step}/{self.steps} loss {mean:.4f} "
                    f"{pace:.0f} rows/s, {left:.0f} min left")  # fmt: skip
            if time.monotonic() - saved > SAVE_SECONDS:
                self.save()
                saved = time.monotonic()
        self.save()
        return {n: self.average.get(n, p.detach()) for n, p in self.network.named_parameters()}

    def save(self) -> None:
        """Write everything needed to resume; never a partial file."""
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
        """Resume from the checkpoint, if there is one."""
        state = torch.load(self.checkpoint, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
