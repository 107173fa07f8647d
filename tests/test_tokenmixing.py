"""Token-to-token matrices as a result of their own: read, accumulated, stored, drawn."""

import json
from contextlib import suppress
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import headlight
from headlight import (
    HeadlightError,
    InvalidInput,
    InvalidOption,
    Model,
    TokenMixing,
)
from headlight.plot import matrix, save
from tests.mutations import mutated_objects


def test_products_are_of_the_layers_so_far() -> None:
    layers = np.random.default_rng(0).random((3, 4, 4))
    mixing = TokenMixing(tuple("abcd"), layers, "alti", "m")
    np.testing.assert_allclose(mixing.at(2), layers[1] @ layers[0])
    np.testing.assert_allclose(mixing.at(3), layers[2] @ layers[1] @ layers[0])
    np.testing.assert_allclose(mixing.at(3, accumulated=False), layers[2])
    with pytest.raises(ValueError, match="read-only"):
        mixing.layers[0, 0, 0] = 1
    with pytest.raises(InvalidOption, match="layer 4 does not exist: there are 3, from 1 to 3"):
        mixing.at(4)
    with pytest.raises(InvalidOption, match="layer 0 does not exist"):
        mixing.at(0)


def test_matrices_are_stored_and_read_back(tmp_path: Path) -> None:
    mixing = TokenMixing(("a", "<b>"), np.eye(2)[None], "alti", "m", {"p": 1})
    mixing.save(tmp_path / "mixing.json")
    assert TokenMixing.load(tmp_path / "mixing.json").to_dict() == mixing.to_dict()
    marked = TokenMixing(
        ("a", "b"), np.eye(2)[None], "alti", "m", is_special=(False, True), is_sink=(True, False)
    )
    marked.save(tmp_path / "marked.json")
    again = TokenMixing.load(tmp_path / "marked.json")
    assert (again.is_special, again.is_sink) == ((False, True), (True, False))
    old = marked.to_dict() | {"format": 1}
    del old["is_special"], old["is_sink"]
    (tmp_path / "old.json").write_text(json.dumps(old), encoding="utf-8")
    assert TokenMixing.load(tmp_path / "old.json").in_scale.tolist() == [True, True]
    with pytest.raises(InvalidInput, match="2 tokens need as many values of 'is_sink', not 1"):
        TokenMixing(("a", "b"), np.eye(2)[None], "alti", "m", is_sink=(True,))
    for content in ("[]", "{}", '{"format": 7}', "nonsense"):
        (tmp_path / "mixing.json").write_text(content)
        with pytest.raises(InvalidInput, match="token mixing"):
            TokenMixing.load(tmp_path / "mixing.json")


def test_a_matrix_is_printed_and_drawn(classifier: Model, tmp_path: Path) -> None:
    mixing = headlight.mix(classifier, "a charming $1 journey", "rollout")
    console = Console(width=100, record=True, file=StringIO())
    console.print(mixing)
    text = console.export_text()
    assert "charming" in text
    assert "up to layer" in text
    save(matrix(mixing, 1, accumulated=False), tmp_path / "matrix.svg")
    drawn = (tmp_path / "matrix.svg").read_text(encoding="utf-8")
    assert "charming" in drawn
    assert "in layer 1" in drawn


def test_damaged_matrices_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    whole = TokenMixing(("a", "b"), np.eye(2)[None], "alti", "m", {"p": 1}).to_dict()
    path, read = tmp_path / "damaged.json", 0
    for stored in mutated_objects(whole, 200):
        path.write_text(json.dumps(stored))
        with suppress(HeadlightError):
            read += TokenMixing.load(path).at().shape == (2, 2)
    assert 0 < read < 100


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([[[1.0, 0.0], [0.0]]], "differ in length"),
        ([[[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], "differ in size"),
        ([[[1.0]]], r"2 tokens need matrices \[layer, token, token\]; these are \[1, 1, 1\]"),
        ([[["1", "0"], ["0", "1"]]], "'layers' of a token mixing must hold matrices of finite"),
        ([[[float("nan"), 0.0], [0.0, 1.0]]], "must hold matrices of finite numbers"),
        ([], "2 tokens need matrices"),
    ],
)
def test_matrices_must_be_of_the_tokens(tmp_path: Path, layers: object, message: str) -> None:
    whole = TokenMixing(("a", "b"), np.eye(2)[None], "alti", "m").to_dict()
    (tmp_path / "mixing.json").write_text(json.dumps({**whole, "layers": layers}))
    with pytest.raises(InvalidInput, match=message):
        TokenMixing.load(tmp_path / "mixing.json")
