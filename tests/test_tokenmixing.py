"""Token-to-token matrices as a result of their own: read, accumulated, stored, drawn."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import headlight
from headlight import METHODS, Batch, InvalidInput, InvalidOption, Model, Target, TokenMixing
from headlight.models.model import Task
from headlight.plot import matrix, save
from tests.networks import TARGETS, model, rows

MIXED = [name for name in METHODS if METHODS[name].mixing]


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize(
    ("family", "task"),
    [
        ("bert", Task.SEQUENCE),
        ("bert", Task.TOKEN),
        ("deberta-v2", Task.MASKED),
        ("llama", Task.CAUSAL),
        ("roberta", Task.QUESTION),
    ],
)
def test_the_row_where_the_prediction_is_read_is_the_explanation(
    name: str, family: str, task: Task
) -> None:
    batch = Batch.from_ids(rows())
    mixed = headlight.mix(model(family, task), batch, name)
    target = TARGETS.get(task) or Target()
    explained = headlight.explain(model(family, task), batch, name, target)
    for found, answer in zip(mixed, explained, strict=True):
        places = answer.target.positions or (0,)
        expected = sum(found.at()[place] for place in places)
        np.testing.assert_allclose(expected, answer.scores, rtol=1e-5, atol=1e-7)


def test_products_are_of_the_layers_so_far() -> None:
    layers = np.random.default_rng(0).random((3, 4, 4))
    mixing = TokenMixing(tuple("abcd"), layers, "alti", "m")
    np.testing.assert_allclose(mixing.at(1), layers[1] @ layers[0])
    np.testing.assert_allclose(mixing.at(2), layers[2] @ layers[1] @ layers[0])
    np.testing.assert_allclose(mixing.at(2, accumulated=False), layers[2])
    with pytest.raises(ValueError, match="read-only"):
        mixing.layers[0, 0, 0] = 1
    with pytest.raises(InvalidOption, match="layer 3 does not exist: there are 3"):
        mixing.at(3)


def test_matrices_are_stored_and_read_back(tmp_path: Path) -> None:
    mixing = TokenMixing(("a", "<b>"), np.eye(2)[None], "alti", "m", {"p": 1})
    mixing.save(tmp_path / "mixing.json")
    assert TokenMixing.load(tmp_path / "mixing.json").to_dict() == mixing.to_dict()
    for content in ("[]", "{}", '{"format": 7}', "nonsense"):
        (tmp_path / "mixing.json").write_text(content)
        with pytest.raises(InvalidInput, match="no token mixing can be read"):
            TokenMixing.load(tmp_path / "mixing.json")


def test_a_matrix_is_printed_and_drawn(classifier: Model, tmp_path: Path) -> None:
    mixing = headlight.mix(classifier, "a charming $1 journey", "rollout")
    console = Console(width=100, record=True, file=StringIO())
    console.print(mixing)
    text = console.export_text()
    assert "charming" in text
    assert "up to layer" in text
    save(matrix(mixing, 0, accumulated=False), tmp_path / "matrix.svg")
    drawn = (tmp_path / "matrix.svg").read_text(encoding="utf-8")
    assert "charming" in drawn
    assert "in layer 0" in drawn


def test_methods_without_matrices_and_unknown_options_are_refused(classifier: Model) -> None:
    with pytest.raises(InvalidOption, match=r"no token-to-token matrices\. Use rollout, alti"):
        headlight.mix(classifier, "a text", "attcat")
    with pytest.raises(InvalidOption, match="no option 'second'"):
        headlight.mix(classifier, "a text", "alti", second=True)
