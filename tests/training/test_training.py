"""The training code: data without repeats, adapters of a given size, runs that can be taken up."""

import json
import sys
from pathlib import Path

import pytest
import torch

HOME = Path(__file__).parents[2] / "training"
sys.path.insert(0, str(HOME))

from compress import adapter_of  # noqa: E402
from data import SOURCES, Example, Source, without_repeats  # noqa: E402
from recipes import RECIPES, Recipe  # noqa: E402

from headlight.models.adapter import changes  # noqa: E402
from headlight.models.catalogue import CATALOGUE  # noqa: E402


def test_repeats_contradictions_and_held_out_rows_are_left_out() -> None:
    rows = [
        Example(t, None, k)
        for t, k in (("Good!", 1), ("good", 1), ("odd", 0), ("Odd", 1), ("x", 0))
    ]
    assert without_repeats(rows, [Example("X.", None, 1)]) == [rows[0]]


def test_local_files_are_read_and_label_words_translated(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    records = [
        {"a": "one ", "b": "two", "label": "no"},
        {"a": "one", "b": "two", "label": "-"},
        {"a": "one", "b": "two", "label": "1"},
    ]
    (tmp_path / "set" / "train.jsonl").write_text("\n".join(map(json.dumps, records)))
    source = Source("set", ("none", None), ("a", "b"), ("yes", "no"))
    assert list(source.read("train", tmp_path)) == [Example("one", "two", 1)] * 2


@pytest.mark.parametrize("size", [60_000, 90_000, 400_000])
def test_an_adapter_keeps_to_its_size_and_holds_what_it_can(size: int) -> None:
    torch.manual_seed(0)
    base = {
        "bert.e.weight": torch.randn(96, 64),
        "bert.e.bias": torch.randn(96),
        "bert.same": torch.ones(3),
    }
    tuned = {name: value + 0.1 * torch.randn_like(value) for name, value in base.items()}
    tuned["bert.same"], tuned["classifier.weight"] = base["bert.same"], torch.randn(2, 64)
    found = adapter_of(tuned, base, size)
    assert sum(2 * tensor.numel() for tensor in found.values()) <= size
    assert "bert.same.delta" not in found
    values = changes({name: tensor.float() for name, tensor in found.items()})
    torch.testing.assert_close(
        values["classifier.weight"], tuned["classifier.weight"], atol=2e-3, rtol=0
    )
    left = tuned["bert.e.weight"] - base["bert.e.weight"] - values["bert.e.weight+"]
    assert float(left.norm()) < (0.9 if size < 400_000 else 1e-2) * 0.1 * 96**0.5 * 64**0.5


def test_recipes_name_known_data_and_fit_the_catalogue() -> None:
    for recipe in RECIPES.values():
        assert {name for name, _ in (*recipe.train, recipe.shown)} <= set(SOURCES)
    for name, entry in CATALOGUE.items():
        assert RECIPES[name].labels == entry.labels


def test_a_killed_run_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import train

    recipe = Recipe(("no", "yes"), (), ("sst2", "dev"), epochs=1.0, batch=2)
    monkeypatch.setitem(RECIPES, "tiny", recipe)
    rows = [([101, 2000 + n, 102], [0, 0, 0], n % 2) for n in range(8)]
    whole = train.Run("tiny", 0, rows, tmp_path)
    for chosen in whole.order():
        whole.learn(chosen)
    first = train.Run("tiny", 0, rows, tmp_path)
    for number, chosen in enumerate(first.order()):
        first.learn(chosen)
        if number == 1:
            break
    first.save()
    second = train.Run("tiny", 0, rows, tmp_path)
    assert second.step == 2
    for chosen in second.order():
        second.learn(chosen)
    for name, value in whole.average.items():
        torch.testing.assert_close(second.average[name], value, rtol=0, atol=1e-6)
