"""A prompt and its continuation, as one row with the places of its tokens in the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from headlight.batch import Batch, Row, located, with_token_names
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.inputs import whole_number
from headlight.models.model import Model, Task
from headlight.running.double import double
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.text import check_characters, wrong_kind

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What tokenizers write for the first bytes of an unfinished character."""


def continuations_of(given: Any, count: int) -> list[str | None]:
    """One continuation per prompt; a single one, or None, is used for all of them."""
    texts = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(texts) != count:
        raise InvalidInput(
            f"{len(texts)} continuations were given for {count} prompts. Give one for each."
        )
    for number, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise InvalidInput(f"continuation {number} is {wrong_kind(text)}")
        check_characters(text or "", f"continuation {number}")
    return texts


@dataclass(frozen=True)
class Writing:
    """How a model writes: how many tokens at most, and other arguments of transformers' generate.

    seed: of the sampling that these arguments may ask for.
    """

    max_new_tokens: int = 20
    seed: int = 0
    arguments: Mapping[str, Any] = field(default_factory=dict)


def check_writes(model: Model) -> None:
    """Refuse a model that does not write text."""
    if model.task is not Task.CAUSAL or model.tokenizer is None:
        raise InvalidInput(
            f"only a causal language model with a tokenizer continues a text; {model.name} does {model.task}."
        )


def added_ids(model: Model, row: Row, continuation: str | None, writing: Writing) -> list[int]:
    """The ids after a prompt: those of the continuation, or what the model itself would write."""
    assert model.tokenizer is not None
    if continuation is None:
        count = whole_number(writing.max_new_tokens, "max_new_tokens", 1)
        model.check_row_length(0, len(row) + count - 1)
        added = generate(model, row, replace(writing, max_new_tokens=count))
    else:
        added = model.tokenizer(continuation, add_special_tokens=False)["input_ids"]
    if not added:
        raise InvalidInput("the continuation has no token: there is nothing to explain.")
    model.check_row_length(0, len(row) + len(added) - 1)
    return added


OURS = {
    "input_ids",
    "inputs_embeds",
    "attention_mask",
    "max_new_tokens",
    "max_length",
    "pad_token_id",
}
"""Arguments of generate that are not the caller's."""
SEVERAL = ("num_return_sequences", "return_dict_in_generate")
"""Arguments of generate that would change what it returns."""


def generate(model: Model, row: Row, writing: Writing) -> list[int]:
    """The ids the model itself would write after the row."""
    for name in writing.arguments:
        if name in OURS or name in SEVERAL:
            raise InvalidOption(
                f"generation={{{name!r}: …}} is not possible here. "
                f"{'Use max_new_tokens=.' if name == 'max_length' else 'Leave it out.'}"
            )
    ids = torch.tensor([row.ids], device=model.device)
    attended = torch.tensor([row.attended], device=model.device).long()
    writer: Any = double(model).network
    generation = partial(
        writer.generate,
        ids,
        attention_mask=attended,
        max_new_tokens=writing.max_new_tokens,
        pad_token_id=model.pad_id or 0,
        **{"do_sample": False, **writing.arguments},
    )
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(whole_number(writing.seed, "seed", 0))
            written: Tensor = undisturbed(generation, plain_state(), torch.no_grad())
    except (TypeError, ValueError) as error:
        said = " ".join(str(error).split())[:300]
        raise InvalidOption(
            f"transformers' generate does not take generation={dict(writing.arguments)!r}: {said}"
        ) from error
    return [int(token) for token in written[0, len(row) :]]


def continued(row: Row, added: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> Row:
    """The row with these tokens added, as one text if the tokenizer shows where each token is in it."""
    bare = with_token_names(Batch.from_ids(list(added)).rows[0], tokenizer)
    whole = replace(
        row,
        ids=(*row.ids, *bare.ids),
        attended=(*row.attended, *bare.attended),
        tokens=(*row.tokens, *bare.tokens),
        is_special=(*row.is_special, *bare.is_special),
        types=None,
    )
    surfaces = surfaces_of(row.ids, added, tokenizer)
    if surfaces is None or row.offsets is None or row.segments is None or len(row.texts) != 1:
        return replace(whole, texts=(), offsets=None, segments=None, word_ids=None)
    spans, text = [], row.texts[0]
    for surface, is_special in zip(surfaces, bare.is_special, strict=True):
        spans.append((len(text), len(text) if is_special else len(text) + len(surface)))
        text += "" if is_special else surface
    segments = (None if special else 0 for special in bare.is_special)
    return located(
        replace(whole, texts=(text,)),
        (*row.offsets, *widened_spans(spans)),
        (*row.segments, *segments),
    )


def surfaces_of(
    prompt: Sequence[int], added: Sequence[int], tokenizer: PreTrainedTokenizerBase
) -> list[str] | None:
    """What each added token adds to the text; None if it would change the text before it.

    A character of several byte tokens is added by the last of them.
    """

    def decoded(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    before, whole = decoded(prompt), decoded([*prompt, *added])
    if not whole.startswith(before):
        return None
    shown = [decoded([*prompt, *added[:count]]) for count in range(1, len(added))]
    inner = [max(len(text.rstrip(UNFINISHED)), len(before)) for text in shown]
    return [whole[start:end] for start, end in pairwise([len(before), *inner, len(whole)])]


def widened_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in which a token that only begins a character covers the whole character."""
    widened = list(spans)
    for place in reversed(range(len(widened) - 1)):
        start, end = widened[place]
        if start == end == widened[place + 1][0]:
            widened[place] = (start, widened[place + 1][1])
    return widened
