"""Files as inseq's `save` writes them: wrapped classes, arrays as lists or as bytes."""

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headlight
from headlight import HeadlightError, Model
from headlight.foreign import from_inseq
from tests.known import known

PROMPT = "the film is"


def wrapped(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"__instance_type__": ["inseq.data.attribution", kind], "attributes": fields}


def array(values: np.ndarray, how: str) -> dict[str, Any]:
    """An array as inseq stores it: as lists, or as bytes in base 64."""
    content: Any = values.tolist()
    if how == "b64":
        content = f"b64:{b64encode(values.tobytes()).decode()}"
    elif how == "b64.gz":
        content = f"b64.gz:{b64encode(gzip.compress(values.tobytes())).decode()}"
    return {
        "__ndarray__": content,
        "dtype": str(values.dtype),
        "shape": list(values.shape),
        "Corder": True,
    }


def saved(
    model: Model, values: Any, written: int = 2, how: str = "lists", **fields: Any
) -> dict[str, Any]:
    """A file with one sequence: the prompt and the tokens that were written after it."""
    tokenizer = known(model.tokenizer)
    ids = tokenizer(PROMPT)["input_ids"]
    every = [*ids, *tokenizer(" dull but")["input_ids"]][: len(ids) + written]
    tokens = [
        wrapped("TokenWithId", {"token": tokenizer.convert_ids_to_tokens(number), "id": number})
        for number in every
    ]
    sequence = {
        "source": tokens[: len(ids)],
        "target": tokens,
        "source_attributions": None,
        "target_attributions": None if values is None else array(values(len(every), written), how),
        "step_scores": {},
        "sequence_scores": None,
        "attr_pos_start": len(ids),
        "attr_pos_end": len(every),
        **fields,
    }
    info = {"attribution_method": "saliency", "model_name": "gpt2"}
    return wrapped(
        "FeatureAttributionOutput",
        {
            "sequence_attributions": [wrapped("FeatureAttributionSequenceOutput", sequence)],
            "step_attributions": None,
            "info": info,
        },
    )


def numbers(rows: int, columns: int) -> np.ndarray:
    found = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) + 1
    for column in range(columns):
        found[rows - columns + column :, column] = np.nan  # as yet unwritten
    return found


@pytest.mark.parametrize("how", ["lists", "b64", "b64.gz"])
def test_every_written_token_is_explained_over_those_before_it(
    writer: Model, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(saved(writer, numbers, how=how)), encoding="utf-8")
    first, second = from_inseq(writer, path)
    count = len(headlight.explain(writer, PROMPT, "random"))
    assert (first.texts, first.method, len(first)) == ((PROMPT,), "inseq_saliency", count)
    assert first.scores.tolist() == [2.0 * n + 1 for n in range(count)]
    written = known(writer.tokenizer)(" dull but")["input_ids"]
    ours = headlight.explain(writer, PROMPT, "random", headlight.Target(label=written[0]))
    assert first.target == ours.target
    assert len(second) == count + 1
    assert second.scores.tolist() == [2.0 * n + 2 for n in range(count + 1)]


def test_files_of_plain_values_and_compressed_ones_are_read(writer: Model, tmp_path: Path) -> None:
    def bare(stored: Any) -> Any:
        if isinstance(stored, list):
            return [bare(each) for each in stored]
        if isinstance(stored, dict):
            stored = stored.get("attributes", stored)
            stored = stored.get("__ndarray__", stored)
        return {n: bare(v) for n, v in stored.items()} if isinstance(stored, dict) else stored

    path = tmp_path / "saved.json.gz"
    content = json.dumps(bare(saved(writer, numbers))).encode()
    path.write_bytes(gzip.compress(content))
    assert len(from_inseq(writer, path, method="mine")) == 2
    assert {each.method for each in from_inseq(writer, path, method="mine")} == {"mine"}


def test_features_are_merged(writer: Model, tmp_path: Path) -> None:
    def features(rows: int, columns: int) -> np.ndarray:
        return np.tile(np.array([3.0, -4.0]), (rows, columns, 1))

    path = tmp_path / "saved.json"
    path.write_text(json.dumps(saved(writer, features, 1)), encoding="utf-8")
    assert set(from_inseq(writer, path)[0].scores) == {-1.0}
    assert set(from_inseq(writer, path, merge="norm")[0].scores) == {5.0}


def layers(rows: int, columns: int) -> np.ndarray:
    return np.ones((rows, columns, 2, 2))


@pytest.mark.parametrize(
    ("values", "fields", "sentence"),
    [
        (numbers, {"source_attributions": [[1.0]]}, "sequence 0 explains an encoder-decoder"),
        (None, {}, "sequence 0 has no 'target_attributions'. Attribute with attribute_target=True."),
        (layers, {}, "the scores of inseq have 3 axes for each explained token, such as layers and heads."),
        (numbers, {"attr_pos_start": 0}, "sequence 0 has "),
        (numbers, {"target": [{"token": "a"}]}, "sequence 0 has a token that is not written as its text"),
        (numbers, {"target": None}, "sequence 0 has no list of tokens 'target'."),
        (
            numbers,
            {"target_attributions": {"__ndarray__": "b64:!!", "dtype": "float32", "shape": [1]}},
            "an array of the file cannot be read: ",
        ),
        (
            numbers,
            {"target_attributions": {"__ndarray__": [], "dtype": "O", "shape": [0]}},
            "an array of the file cannot be read: it holds objects, not numbers.",
        ),
    ],
)  # fmt: skip
def test_what_does_not_match_is_refused(
    writer: Model, tmp_path: Path, values: Any, fields: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(saved(writer, values, **fields)), encoding="utf-8")
    with pytest.raises(HeadlightError) as raised:
        from_inseq(writer, path)
    assert str(raised.value).startswith(sentence)


def test_other_files_and_models_are_refused(
    writer: Model, classifier: Model, tmp_path: Path
) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(
        HeadlightError, match="is not a file of inseq: it has no 'sequence_attributions'"
    ):
        from_inseq(writer, path)
    with pytest.raises(HeadlightError, match="tiny classifier"):
        from_inseq(classifier, path)
    (tmp_path / "cut.json").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(HeadlightError, match="cannot be read"):
        from_inseq(writer, tmp_path / "cut.json")
