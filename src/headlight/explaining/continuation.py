"""A prompt and its continuation, as one row with the places of its tokens in the text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Self

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase, StoppingCriteriaList

from headlight.batch import Batch, Row, located, with_token_names
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.inputs import whole_number
from headlight.models.model import Model, Task
from headlight.progress import Advance, progress_of
from headlight.running.double import double
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.text import check_characters, wrong_kind

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What tokenizers write for the first bytes of an unfinished character."""


def continuations_of(given: Any, count: int, name: str = "continuation") -> list[str | None]:
    """One continuation per prompt; a single one, or None, is used for all of them."""
    texts = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(texts) != count:
        raise InvalidInput(
            f"{len(texts)} {name}s were given for {count} prompts. Give one for each."
        )
    for number, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise InvalidInput(f"{name} {number} is {wrong_kind(text)}")
        check_characters(text or "", f"{name} {number}")
    return texts


@dataclass(frozen=True)
class Writing:
    """How a model writes: how many tokens at most, and other arguments of transformers' generate.

    seed: of the sampling that these arguments may ask for. progress: whether tokens are counted on the screen.
    """

    max_new_tokens: int = 20
    seed: int = 0
    arguments: Mapping[str, Any] = field(default_factory=dict)
    progress: bool = False

    @classmethod
    def of(cls, max_new_tokens: int, generation: Any, progress: bool = False) -> Self:
        """How a model writes, from the arguments of generate; a seed may be among them."""
        if not isinstance(generation, Mapping) or not all(isinstance(n, str) for n in generation):
            raise InvalidOption(
                f"generation={generation!r} is not possible. Give arguments of transformers' generate by name, "
                "such as {'do_sample': True, 'temperature': 0.7, 'seed': 1}."
            )
        arguments = dict(generation)
        return cls(max_new_tokens, arguments.pop("seed", 0), arguments, progress)


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
        check_room(model, len(row), count, ", or lower max_new_tokens")
        return generate(model, row, replace(writing, max_new_tokens=count))
    added: list[int] = model.tokenizer(continuation, add_special_tokens=False)["input_ids"]
    if not added:
        raise InvalidInput("the continuation has no token: there is nothing to explain.")
    check_room(model, len(row), len(added), "")
    return added


def check_room(model: Model, prompt: int, added: int, advice: str) -> None:
    """Refuse a text that is longer than the network can read; the last token is written, not read."""
    if model.token_limit is not None and prompt + added - 1 > model.token_limit:
        raise InvalidInput(
            f"the prompt has {prompt} tokens, with {added} more after it, and {model.name} takes "
            f"{model.token_limit}. Shorten the prompt{advice}."
        )


OURS = (
    "input_ids",
    "inputs",
    "inputs_embeds",
    "attention_mask",
    "max_new_tokens",
    "max_length",
    "pad_token_id",
    "num_return_sequences",
    "return_dict_in_generate",
)
"""Arguments of generate that headlight sets, or that would change what it returns."""


def generate(model: Model, row: Row, writing: Writing) -> list[int]:
    """The ids the model itself would write after the row."""
    arguments: dict[str, Any] = {"do_sample": False, **writing.arguments}
    for name in arguments:
        if name in OURS:
            advice = "Use max_new_tokens=." if name.startswith("max_") else "Leave it out."
            raise InvalidOption(f"generation={{{name!r}: …}} is not possible here. {advice}")
    if "stop_strings" in arguments:
        arguments["tokenizer"] = model.tokenizer
    # Whoever streams the answer sees how far it is.
    is_shown = writing.progress and "streamer" not in arguments
    with progress_of("writing, tokens", writing.max_new_tokens, is_shown=is_shown) as advance:
        if is_shown:
            own = arguments.get("stopping_criteria") or ()
            arguments["stopping_criteria"] = StoppingCriteriaList([*own, counting(advance)])
        written = sampled(model, row, writing, arguments)
    return [int(token) for token in written[0, len(row) :]]


def counting(advance: Advance) -> Callable[..., Tensor]:
    """What generate calls after each token to ask whether it should stop: it never should."""

    def stop(ids: Tensor, *_: object, **__: object) -> Tensor:
        advance(1)
        return torch.zeros(len(ids), dtype=torch.bool, device=ids.device)

    return stop


def sampled(model: Model, row: Row, writing: Writing, arguments: Mapping[str, Any]) -> Tensor:
    """The ids [1, token] of the row and what generate writes after it, with the seed that was asked for."""
    writer: Any = double(model).network
    generation = partial(
        writer.generate,
        torch.tensor([row.ids], device=model.device),
        attention_mask=torch.tensor([row.attended], device=model.device).long(),
        max_new_tokens=writing.max_new_tokens,
        pad_token_id=model.pad_id or 0,
        **arguments,
    )
    seed = whole_number(writing.seed, "seed", 0)
    try:
        with torch.random.fork_rng([model.device] if model.device.type == "cuda" else []):
            torch.manual_seed(seed)
            written: Tensor = undisturbed(generation, plain_state(), torch.no_grad())
            return written
    except (TypeError, ValueError, AttributeError) as error:
        said = " ".join(str(error).split())[:300]
        raise InvalidOption(
            f"transformers' generate does not take generation={dict(writing.arguments)!r}: {said}"
        ) from error


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
    spans: list[tuple[int, int]] = []
    text = row.texts[0]
    for token, surface, is_special in zip(added, surfaces, bare.is_special, strict=True):
        # Bytes before a special token are finished by it; its own name is no text.
        shown = surface.removesuffix(str(tokenizer.decode([token]))) if is_special else surface
        text += shown
        if is_special and shown and spans:
            spans[-1] = (spans[-1][0], len(text))
        spans.append((len(text) if is_special else len(text) - len(shown), len(text)))
    segments = (None if special else 0 for special in bare.is_special)
    return located(
        replace(whole, texts=(text,)),
        (*row.offsets, *widened_spans(spans, bare.is_special)),
        (*row.segments, *segments),
    )


def placed_by_decoding(row: Row, tokenizer: PreTrainedTokenizerBase) -> Row:
    """A row of a tokenizer that does not say where tokens are, with the places that its decoder shows.

    Refused unless the decoded tokens, one after the other, are the text itself.
    """
    own = [token for token, special in zip(row.ids, row.is_special, strict=True) if not special]
    surfaces = surfaces_of((), own, tokenizer)
    if surfaces is None or "".join(surfaces) != row.texts[0]:
        raise InvalidInput(
            "the tokenizer does not say where its tokens are in the text, and decoded they are another text. "
            "Use its fast version (AutoTokenizer does), or explain_generation, which explains tokens."
        )
    ends = list(accumulate(map(len, surfaces), initial=0))
    places = iter(widened_spans(list(pairwise(ends)), [False] * len(own)))
    spans = [(0, 0) if special else next(places) for special in row.is_special]
    return located(row, spans, [None if special else 0 for special in row.is_special])


CONTEXT, CHUNK = 8, 64
"""How many tokens are decoded before those that are looked for, and how many of these at once: the time of
decoding grows with the square of both together."""


def surfaces_of(
    prompt: Sequence[int], added: Sequence[int], tokenizer: PreTrainedTokenizerBase
) -> list[str] | None:
    """What each added token adds to the text; None if it would change the text before it.

    A character of several byte tokens is added by the last of them.
    """

    def decoded(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    ids, surfaces, start = [*prompt, *added], [], len(prompt)
    while start < len(ids):
        before, end = ids[max(0, start - CONTEXT) : start], min(start + CHUNK, len(ids))
        while end < len(ids) and decoded([*before, *ids[start:end]]).endswith(UNFINISHED):
            end += 1
        known, whole = decoded(before), decoded([*before, *ids[start:end]])
        if not whole.startswith(known):
            return None
        steps = [decoded([*before, *ids[start:place]]) for place in range(start + 1, end)]
        # What is not finished may be shorter than what was known before it.
        lengths = accumulate(
            (len(step.rstrip(UNFINISHED)) for step in steps), max, initial=len(known)
        )
        places = [min(length, len(whole)) for length in lengths]
        surfaces += [whole[a:b] for a, b in pairwise([*places, len(whole)])]
        start = end
    return surfaces


def widened_spans(
    spans: Sequence[tuple[int, int]], is_special: Sequence[bool]
) -> list[tuple[int, int]]:
    """Spans in which a token that only begins a character covers all of it; special ones stay empty."""
    widened = list(spans)
    for place in reversed(range(len(widened) - 1)):
        start, end = widened[place]
        if start == end == widened[place + 1][0] and not is_special[place]:
            widened[place] = (start, widened[place + 1][1])
    return widened
