"""Probes: short made-up inputs on which a network is first run, and checks of its first output."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import PreTrainedModel

from headlight.batch import Batch, Inputs, Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import POOLED, Model, is_half_precision
from headlight.running.double import double
from headlight.running.logits import check_finite, logits_of
from headlight.trace.recorder import is_shifted

PROBE_LENGTHS = (6, 7, 9, 12)


def size_of_error(model: Model) -> float:
    """How far the numbers of two passes may differ, relative to their size."""
    return 0.05 if is_half_precision(model.network) else 1e-4


def shift(model: Model, seen: Tensor, expected: Tensor) -> float:
    """How far the largest difference to the expected numbers is, if it is more than rounding, else 0."""
    difference = float((seen.detach() - expected.detach()).abs().max())
    is_same = difference <= size_of_error(model) * (1 + float(expected.detach().abs().max()))
    return 0.0 if is_same else difference


def probe_rows(model: Model) -> Sequence[Row]:
    """Inputs of several lengths, contents and types; the second hides its last token.

    They end with the end token, as texts do. The last has the network's own pad token after it, because
    decoders use it to find where a text ends.
    """
    pad, end = model.own_pad_id, model.end_id
    # The first ids are special tokens in most vocabularies.
    ordinary = [i for i in range(5, model.vocabulary_size) if i not in (pad, end)] or [0]
    ids = [
        [ordinary[(p * (3 * n + 1) + 7 * n) % len(ordinary)] for p in range(length)]
        for n, length in enumerate(PROBE_LENGTHS)
    ]
    if end is not None:
        ids = [[*row[:-1], end] for row in ids]
    if pad is not None:
        ids[-1].append(pad)
    masks = [[1] * (len(row) - (n == 1)) + [0] * (n == 1) for n, row in enumerate(ids)]
    fields = [ids, masks]
    if model.type_count:  # networks without types look them up as words, as GPT-2 does
        has_two = model.type_count > 1
        fields += [[[int(has_two and p > 2 + n) for p in range(len(r))] for n, r in enumerate(ids)]]
    room = slice(model.token_limit)
    return Batch.from_ids(*([row[room] for row in values] for values in fields)).rows


def inputs_of(model: Model, rows: Sequence[Row]) -> Inputs:
    """Probes as the tensors that a network receives."""
    return collate(rows, model.pad_id or 0, model.device)


def first_run(model: Model, inputs: Inputs) -> tuple[Tensor, str | None]:
    """The logits of the unwatched network, and the name of the module that makes its last hidden states."""
    seen: list[object] = []
    model = double(model)
    with ExitStack() as undo:
        undo.enter_context(torch.no_grad())
        stage = undo.enter_context(finding_stage(model))
        undo.enter_context(WeightsKept(model))
        for table in model.embedding_lookups:
            undo.callback(table.register_forward_hook(lambda *call: seen.append(call[-1])).remove)
        logits = logits_of(model, inputs)
    check_answer(model, inputs, logits)
    check_embeddings(model, inputs, seen)
    check_finite(logits, model)
    return logits, stage() or stage_of_row(model)


def check_answer(model: Model, inputs: Inputs, logits: Tensor) -> None:
    """Refuse logits that do not have the shape of the task."""
    tokens = 1 if model.task in POOLED else inputs.ids.shape[1]
    if logits.dim() != 3 or logits.shape[:2] != (1, tokens):
        shape = list(logits[:, 0].shape if model.task in POOLED else logits.shape)
        raise UnsupportedModel(
            f"{model.family} gives logits of the shape {shape} for one input of "
            f"{inputs.ids.shape[1]} tokens, which is not {model.task}. "
            "Say what its head does: wrap(network, tokenizer, task=…)."
        )


def check_embeddings(model: Model, inputs: Inputs, seen: Sequence[object]) -> None:
    """Refuse embeddings that are not made once, or again one token later, with one vector per token."""
    is_once = len(seen) < 2 or (
        len(seen) == 2 and isinstance(seen[0], Tensor) and is_shifted(seen[0], seen[1])
    )
    if not is_once:
        raise UnsupportedModel(
            f"{model.family} embeds its input {len(seen)} times in a pass, so the gradient of one embedding "
            "would miss the others. Use a network that embeds each token once, or again in a decoder that "
            "reads the text one token later."
        )
    made = seen[0] if seen else None
    if not isinstance(made, Tensor) or made.dim() != 3 or made.shape[:2] != inputs.ids.shape:
        raise UnsupportedModel(
            f"{model.family} does not make its embeddings as [text, token, feature], one vector per input "
            "token, so there would be no tokens to score."
        )


class WeightsKept(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types here
    """Refuses a pass before it writes to the weights or buffers of a network, which are the user's."""

    def __init__(self, model: Model) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.family = model.family
        held = [*model.network.parameters(), *model.network.buffers()]
        plain = [t for t in held if type(t) in (Tensor, nn.Parameter) and not t.is_meta]
        self.places = {t.untyped_storage().data_ptr() for t in plain if t.numel()}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        for number, name in written_arguments(func):
            value = args[number] if number < len(args) else named.get(name)
            if self.holds(value):
                raise UnsupportedModel(
                    f"{self.family} changes its own weights or buffers while it runs ({func}), so every "
                    "explanation would change the network. Make it do so beforehand, such as in a first "
                    "run in evaluation mode, or not at all."
                )
        return func(*args, **named)

    def holds(self, value: Any) -> bool:
        """Whether this is a tensor in the memory of a weight or buffer."""
        if type(value) not in (Tensor, nn.Parameter) or value.is_meta:
            return False
        return value.untyped_storage().data_ptr() in self.places


@cache
def written_arguments(func: Any) -> tuple[tuple[int, str], ...]:
    """The places and names of the arguments that an operation writes to; looked up once, which is slow."""
    return tuple(
        (number, argument.name)
        for number, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


# ----------------------------------------------------------------------------- the last hidden states


@contextmanager
def finding_stage(model: Model) -> Iterator[Callable[[], str | None]]:
    """Find in a pass which module of the body makes what the body returns as its last hidden states."""
    makers: dict[int, str] = {}
    stages: dict[nn.Module, str | None] = {}

    def see(name: str) -> Callable[..., None]:
        def hook(_module: nn.Module, _args: Any, output: Any) -> None:
            states = output[0] if isinstance(output, tuple) and output else output
            if isinstance(states, Tensor):
                makers[states.data_ptr()] = name

        return hook

    def see_body(module: nn.Module, _args: Any, output: Any) -> None:
        states = output if isinstance(output, Tensor) else output[0]
        stages[module] = makers.get(states.data_ptr()) if isinstance(states, Tensor) else None

    body = model.network.base_model
    bodies = [m for m in model.network.modules() if isinstance(m, PreTrainedModel)][1:]
    with ExitStack() as undo:
        inside = {id(module) for module in body.modules()} - {id(body)}
        for name, module in model.network.named_modules():
            if id(module) in inside:
                undo.callback(module.register_forward_hook(see(name)).remove)
        for part in bodies:
            undo.callback(part.register_forward_hook(see_body).remove)
        # A head may run only a part of the body, as OPT's head runs its decoder; the outermost part ends last.
        yield lambda: stages.get(body, next(reversed(stages.values()), None))


def stage_of_row(model: Model) -> str | None:
    """The module that makes the last hidden states according to the table, for bodies run piece by piece."""
    if model.architecture is None:
        return None
    last = (model.final_norms or model.blocks)[-1]
    names: dict[int, str] = {id(module): name for name, module in model.network.named_modules()}
    return names[id(last)]
