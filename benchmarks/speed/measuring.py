"""What the speed benchmarks share: networks, clocks, memory, fresh processes, and where results go."""

import argparse
import ctypes
import gc
import multiprocessing
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import BertConfig, LlamaConfig, LlamaForCausalLM, PreTrainedModel
from transformers.utils import logging

import headlight

HOME = Path(__file__).parent
QUICK = HOME.parent.parent / "build" / "bench"
"""Where a quick run writes, so that it never replaces results."""
SMALL_BERT: dict[str, Any] = {
    "num_hidden_layers": 6,
    "hidden_size": 384,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}
LLAMA: dict[str, Any] = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 12,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
    "pad_token_id": 0,
}
Spread = dict[str, float]


def small_bert() -> BertConfig:
    """The shape of MiniLM."""
    return BertConfig(**SMALL_BERT)


def llama(layers: int = LLAMA["num_hidden_layers"]) -> LlamaForCausalLM:
    """A language model of the shape of SmolLM2, with random weights."""
    torch.manual_seed(0)
    config = LlamaConfig(**(LLAMA | {"num_hidden_layers": layers}))
    return LlamaForCausalLM(config).eval()


def plain_pass(network: PreTrainedModel, ids: Tensor) -> Callable[[], object]:
    """A forward pass that does nothing beside: fastest attention, no graph, only the logits that are read."""
    assert network.config._attn_implementation == "sdpa"
    own: dict[str, Any] = {}
    if isinstance(network, LlamaForCausalLM):
        own = {"use_cache": False, "logits_to_keep": 1}
    attended = torch.ones_like(ids)

    def call() -> None:
        with torch.inference_mode():
            network(ids, attention_mask=attended, **own)

    return call


def there_and_back(network: PreTrainedModel, ids: Tensor) -> Callable[[], object]:
    """A forward pass and the gradient of one logit a row at the embeddings: the least that a gradient costs."""
    network.requires_grad_(False)
    is_llama = isinstance(network, LlamaForCausalLM)
    own: dict[str, Any] = {"use_cache": False, "logits_to_keep": 1} if is_llama else {}

    def call() -> None:
        leaf = network.get_input_embeddings()(ids).detach().requires_grad_()
        logits = network(inputs_embeds=leaf, attention_mask=torch.ones_like(ids), **own).logits
        torch.autograd.grad(logits.flatten(0, -2)[:, 0].sum(), leaf)

    return call


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """The wall seconds and the processor seconds of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def seconds(call: Callable[[], object]) -> float:
    """The wall seconds of a call."""
    return timed(call)[0]


def spread_of(values: list[float], digits: int = 2) -> Spread:
    """The median and the middle half."""
    low, _, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    )
    middle = statistics.median(values)
    named = {"median": middle, "quarter": low, "three quarters": high}
    return {name: round(value, digits) for name, value in named.items()}


def status(field: str) -> float:
    """A size of this process in megabytes, from the kernel: VmRSS now, VmHWM its peak."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{field}:")[1].split()[0]) * 1024 / 1e6


def peak_megabytes(call: Callable[[], object]) -> float:
    """The most memory that a call takes above what the process has before it.

    Memory that was freed goes back to the system first, or the call could use it unseen. Writing 5 to
    clear_refs sets the peak to what is there now; without that it is that of loading.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    call()
    return round(status("VmHWM") - before)


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module returns in a process that has imported everything and done nothing yet."""
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(function, *arguments).result()


def facts() -> dict[str, object]:
    """What the numbers depend on."""
    return {
        "threads": torch.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "headlight": headlight.__version__,
    }


def command(text: str | None) -> argparse.ArgumentParser:
    """The command line of a benchmark."""
    logging.set_verbosity_error()
    parser = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="One round of a part; written below build/bench."
    )
    return parser


def folder(is_quick: bool) -> Path:
    """Where results are written."""
    found = QUICK if is_quick else HOME
    found.mkdir(parents=True, exist_ok=True)
    return found
