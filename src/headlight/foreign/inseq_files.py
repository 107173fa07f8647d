"""Attributions that inseq saved: a matrix of prefix tokens × written tokens for every sequence, as JSON."""

import gzip
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.attribution import Attribution
from headlight.batch import plain
from headlight.errors import InvalidInput
from headlight.explaining.continuation import check_writes
from headlight.files.opening import existing
from headlight.files.parsing import parse_json
from headlight.foreign.captum_results import Merge, merged
from headlight.foreign.scores import from_scores
from headlight.models.model import Model
from headlight.target import Target

GZIP = b"\x1f\x8b"
"""The first bytes of a compressed file."""


def from_inseq(
    model: Model, path: str | Path, *, method: str | None = None, merge: Merge = "sum"
) -> list[Attribution]:
    """The attributions in a file of inseq's `save`: one per token that the model wrote, sequence by sequence.

    Each explains one token over all tokens before it, as `explain_generation` does, so its text is the prompt
    and what was written until then. method: a name; by default 'inseq_' and its method's. merge: as in
    `from_captum`, where inseq kept a number for every feature of an embedding.
    """
    check_writes(model)
    stored = read_inseq(path)
    info = stored.get("info") or {}
    name = method or "_".join(filter(None, ("inseq", info.get("attribution_method"))))
    return [
        attribution
        for number, sequence in enumerate(stored["sequence_attributions"])
        for attribution in sequence_attributions(model, sequence, f"sequence {number}", name, merge)
    ]


def read_inseq(path: str | Path) -> Mapping[str, Any]:
    """The content of a file of inseq, without the wrappers of classes and arrays."""
    found = unwrapped(parse_json(text_of(Path(path)), f"'{path}'"))
    if not is_inseq(found):
        raise InvalidInput(f"'{path}' is not a file of inseq: it has no 'sequence_attributions'.")
    return dict(found)


def text_of(path: Path) -> str:
    """The text of a file, which may be compressed."""
    content = existing(path).read_bytes()
    try:
        return (gzip.decompress(content) if content.startswith(GZIP) else content).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(f"'{path}' cannot be read: {error}.") from error


def is_inseq(stored: Any) -> bool:
    """Whether a value is the content of a file of inseq, with or without wrappers."""
    inside = stored.get("attributes", stored) if isinstance(stored, Mapping) else stored
    return isinstance(inside, Mapping) and isinstance(inside.get("sequence_attributions"), list)


def unwrapped(stored: Any) -> Any:
    """Objects as their fields, and arrays as arrays, at every depth."""
    if isinstance(stored, list):
        return [unwrapped(each) for each in stored]
    if not isinstance(stored, Mapping):
        return stored
    if "__instance_type__" in stored:
        return unwrapped(stored.get("attributes", {}))
    if "__ndarray__" in stored:
        return array_of(stored)
    return {name: unwrapped(value) for name, value in stored.items()}


def array_of(stored: Mapping[str, Any]) -> NDArray[Any]:
    """A stored array: nested lists, or its bytes in base 64, perhaps compressed."""
    data = stored["__ndarray__"]
    try:
        dtype, shape = np.dtype(stored["dtype"]), tuple(stored["shape"])
        if dtype.hasobject:
            raise ValueError("it holds objects, not numbers")
        if not isinstance(data, str):
            return np.asarray(data, dtype).reshape(shape)
        kind, _, letters = data.partition(":")
        content = b64decode(letters, validate=True)
        if kind not in ("b64", "b64.gz"):
            raise ValueError(f"its bytes are written as '{kind}'")
        content = gzip.decompress(content) if kind == "b64.gz" else content
        return np.frombuffer(content, dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, OSError, EOFError, NotBase64) as error:
        raise InvalidInput(f"an array of the file cannot be read: {error}.") from error


def sequence_attributions(
    model: Model, sequence: Any, where: str, method: str, merge: Merge
) -> Iterator[Attribution]:
    """The attributions of one sequence, one per written token."""
    if not isinstance(sequence, Mapping) or not isinstance(sequence.get("target"), list):
        raise InvalidInput(f"{where} has no list of tokens 'target'.")
    if sequence.get("source_attributions") is not None:
        raise InvalidInput(
            f"{where} explains an encoder-decoder (it has source_attributions), and {model.name} has no "
            "encoder. Only attributions of decoders can be read."
        )
    if sequence.get("target_attributions") is None:
        raise InvalidInput(
            f"{where} has no 'target_attributions'. Attribute with attribute_target=True."
        )
    assert model.tokenizer is not None
    tokens = [named_token(each, where) for each in sequence["target"]]
    start = sequence.get("attr_pos_start", 0)
    matrix = np.asarray(plain(sequence["target_attributions"]), np.float64)
    if (
        matrix.ndim < 2
        or len(matrix) != len(tokens)
        or not 0 < start <= len(tokens) - matrix.shape[1]
    ):
        raise InvalidInput(
            f"{where} has {len(tokens)} tokens, of which number {start} is the first that was written, and "
            f"scores of the shape {matrix.shape}; they must be [token, written token], after a prompt."
        )
    for column in range(matrix.shape[1]):
        end = start + column
        before = [number for _, number in tokens[:end]]
        yield from_scores(
            model,
            str(
                model.tokenizer.decode(
                    before, skip_special_tokens=True, clean_up_tokenization_spaces=False
                )
            ),
            merged(matrix[:end, column], merge, "inseq"),
            tokens=[token for token, _ in tokens[:end]],
            target=Target(label=tokens[end][1]),
            method=method,
            signed=merge == "sum",
        )


def named_token(stored: Any, where: str) -> tuple[str, int]:
    """A token and its id."""
    if isinstance(stored, Mapping):
        token, number = stored.get("token"), stored.get("id")
        if isinstance(token, str) and isinstance(number, int) and number >= 0:
            return token, number
    raise InvalidInput(f"{where} has a token that is not written as its text and id: {stored!r}.")
