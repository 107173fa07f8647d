"""The parts of a network of an unknown family, found by watching it run: embeddings, blocks, norms.

Blocks are the longest list of modules of which each is given what the one before it returns. Other parts are
known by what goes into them and what comes out. What is found is proved like a row of the table.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.architectures import Architecture, BlockPaths
from headlight.models.model import Model
from headlight.proof.probes import WeightsKept
from headlight.running.double import double
from headlight.running.logits import logits_of
from headlight.trace.forward import forward
from headlight.trace.recorder import Wants


@dataclass(frozen=True, eq=False)
class Run:
    """What a module was given, and the states [batch, token, feature] that it returned."""

    path: str
    module: nn.Module
    given: Tensor
    returned: Tensor


def found_architecture(model: Model, inputs: Inputs) -> Architecture | None:
    """The parts of a network, as a row of the table would name them; None if no blocks were found."""
    runs = watched_runs(model, inputs)
    by_path: dict[str, list[Run]] = {}
    for run in runs:
        by_path.setdefault(run.path, []).append(run)
    stacks = (chain_of(path, part, by_path) for path, part in lists_of(model.network.base_model))
    blocks = max((stack for stack in stacks if stack), key=len, default=None)
    if blocks is None:
        return None
    home = blocks[0].path.rpartition(".")[0]
    outside = [run for run in runs if not run.path.startswith(f"{home}.")]
    last = blocks[-1].returned
    first = outside if is_by_token(model, inputs, blocks[0]) else []
    row = Architecture(
        (embeddings_path(model, first, blocks[0].given),),
        home,
        final_norm=next((r.path for r in outside if is_norm(r) and same(r.given, last)), None),
    )
    return replace(row, parts=block_parts(replace(model, architecture=row), inputs, blocks, runs))


def watched_runs(model: Model, inputs: Inputs) -> list[Run]:
    """Every call of a part of the body that takes states and returns states."""
    runs: list[Run] = []
    network = double(model).network

    def see(path: str) -> Callable[..., None]:
        def hook(
            module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any], output: Any
        ) -> None:
            given = args[0] if args else named.get("hidden_states")
            returned = output[0] if isinstance(output, tuple) and output else output
            if is_states(returned) and isinstance(given, Tensor):
                # copies, because some networks change states in place
                runs.append(Run(path, module, given.detach().clone(), returned.detach().clone()))

        return hook

    with ExitStack() as undo:
        for path, module in network.base_model.named_modules():
            if path:
                handle = module.register_forward_hook(see(path), with_kwargs=True)
                undo.callback(handle.remove)
        with torch.no_grad(), WeightsKept(model):
            logits_of(replace(model, network=network), inputs)
    return runs


def is_states(value: Any) -> bool:
    """Whether a value may be hidden states."""
    return isinstance(value, Tensor) and value.dim() == 3 and value.is_floating_point()


def same(one: Tensor, other: Tensor, most: float = 1e-5) -> bool:
    """Whether two values are equal but for rounding."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    error = 0.05 if one.dtype in (torch.float16, torch.bfloat16) else most
    return bool((one - other).abs().max() <= error * (1 + other.abs().max()))


def lists_of(body: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The lists of modules in a body, by path."""
    return ((p, m) for p, m in body.named_modules() if isinstance(m, nn.ModuleList) and len(m))


def chain_of(path: str, part: nn.Module, runs: Mapping[str, list[Run]]) -> list[Run] | None:
    """The runs of a list's modules, if each ran once and was given what the one before it returned."""
    several = [runs.get(f"{path}.{name}", []) for name, _ in part.named_children()]
    if any(len(each) != 1 or not same_shape(each[0]) for each in several):
        return None
    chain = [each[0] for each in several]
    return chain if all(same(b.given, a.returned) for a, b in pairwise(chain)) else None


def same_shape(run: Run) -> bool:
    """Whether a module returns states as it was given."""
    return run.given.shape == run.returned.shape


def is_by_token(model: Model, inputs: Inputs, block: Run) -> bool:
    """Whether the input of the first block has one vector per token, in which no other token is mixed."""
    ids = inputs.ids.clone()
    ids[:, 1] = ids[:, 2]
    other = next(r for r in watched_runs(model, replace(inputs, ids=ids)) if r.path == block.path)
    moved = (other.given != block.given).any(-1)
    if moved.shape != ids.shape:  # states of XLNet are [token, batch, feature]
        return False
    moved[:, 1] = False
    return not bool(moved.any())


def embeddings_path(model: Model, outside: list[Run], states: Tensor) -> str:
    """The module that makes the input of the first block; the word embeddings if no module does."""
    table = model.word_embeddings
    names = (path for path, module in model.network.base_model.named_modules() if module is table)
    makers = [r.path for r in outside if torch.equal(r.returned, states)]
    return makers[-1] if makers else next(names, "")


def is_norm(run: Run) -> bool:
    """Whether a module normalises states: it has a gain per feature, and no parts."""
    weight = getattr(run.module, "weight", None)
    is_gain = isinstance(weight, Tensor) and weight.shape == run.given.shape[-1:]
    return is_gain and same_shape(run) and next(run.module.children(), None) is None


# ------------------------------------------------------------------------------------ inside blocks


def block_parts(
    model: Model, inputs: Inputs, blocks: list[Run], runs: list[Run]
) -> BlockPaths | None:
    """The parts of blocks that mix tokens; None if blocks are not built from such parts, or not all alike."""
    try:
        attended = forward(model, inputs, Wants(attention=True)).captured.attended
    except UnsupportedModel:
        return None
    if len(attended) != len(blocks):
        return None
    found = set()
    for block, seen in zip(blocks, attended, strict=True):
        inside = [
            replace(r, path=r.path.removeprefix(f"{block.path}."))
            for r in runs
            if r.path.startswith(f"{block.path}.")
        ]
        found.add(parts_of(block, inside, seen.result.transpose(1, 2).flatten(2)))
    parts = found.pop() if len(found) == 1 else None
    assert model.architecture is not None
    row = replace(model.architecture, parts=parts)
    is_whole = parts is not None and seen_blocks(replace(model, architecture=row), inputs) == len(
        blocks
    )
    return parts if is_whole else None


def seen_blocks(model: Model, inputs: Inputs) -> int:
    """How many attention blocks are recorded; fewer than there are if a part runs twice, or not in each."""
    wants = Wants(attention=True, blocks=True, parts=True)
    return len(forward(model, inputs, wants).captured.blocks)


def parts_of(block: Run, inside: list[Run], mixed: Tensor) -> BlockPaths | None:
    """The projection that is given what the heads mixed, and the norms of the sum with the residual."""
    linear = [
        r for r in inside if isinstance(r.module, nn.Linear | Conv1D) and same(r.given, mixed)
    ]
    if len(linear) != 1:
        return None
    total = block.given + linear[0].returned
    norms = [r for r in inside if is_norm(r)]
    of_sum = [r for r in norms if same(r.given, total)]
    ends = [r for r in norms if same(r.returned, block.returned)]
    if len(of_sum) != 1 or len(ends) > 1:
        return None
    if not ends:
        return BlockPaths(linear[0].path, None, of_sum[0].path)
    if not all(isinstance(r.module, nn.LayerNorm) for r in (of_sum[0], ends[0])):
        return None
    return BlockPaths(linear[0].path, of_sum[0].path, ends[0].path)
