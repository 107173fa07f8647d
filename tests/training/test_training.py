"""The training code: data without repeats, adapters of a given size, runs that can be taken up."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

HOME = Path(__file__).parents[2] / "training"
sys.path.insert(0, str(HOME))

import answer  # noqa: E402
import classify  # noqa: E402
import fill  # noqa: E402
import tag  # noqa: E402
from compress import adapter_of  # noqa: E402
from data import SOURCES, Question, Source, without_repeats  # noqa: E402
from examples import Example  # noqa: E402
from headlight.loading.adapters import changes  # noqa: E402
from headlight.loading.catalogue import CATALOGUE  # noqa: E402
from headlight.models.model import Task  # noqa: E402
from recipes import RECIPES, Recipe  # noqa: E402
from rows import Row  # noqa: E402
from run import Log, Run  # noqa: E402
from tests.known import known  # noqa: E402
from tests.networks import network  # noqa: E402

pytestmark = pytest.mark.slow


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
    assert sum(t.numel() * t.element_size() for t in found.values()) <= size
    assert "bert.same.delta" not in found
    values = changes({name: tensor.float() for name, tensor in found.items()})
    torch.testing.assert_close(
        values["classifier.weight"], tuned["classifier.weight"], atol=2e-3, rtol=0
    )
    left = tuned["bert.e.weight"] - base["bert.e.weight"] - values["bert.e.weight+"]
    assert float(left.norm()) < (0.9 if size < 400_000 else 1e-2) * 0.1 * 96**0.5 * 64**0.5


def test_recipes_name_known_data_and_fit_the_catalogue() -> None:
    for recipe in RECIPES.values():
        if recipe.task == "classify":
            assert {name for name, _ in (*recipe.train, recipe.shown)} <= set(SOURCES)
    for entry in CATALOGUE.values():
        if entry.is_shipped:
            assert RECIPES[entry.name].labels == entry.labels


def rows(count: int) -> list[Row]:
    return [
        Row([101, 2000 + n, 102], [0, 0, 0], (n % 2.0, 1 - n % 2.0, 0.0, 0.0)) for n in range(count)
    ]


def run(out: Path) -> Run:
    torch.manual_seed(0)
    recipe = Recipe(("no", "yes"), (), ("sst2", "dev"), epochs=1.0, batch=2)
    return Run(
        network("bert", Task.SEQUENCE, vocab_size=3000, num_labels=2), rows(8), recipe, 0, out
    )


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    whole = run(tmp_path)
    for chosen in whole.order():
        whole.learn(classify.loss(whole.network, chosen))
    first = run(tmp_path)
    for number, chosen in enumerate(first.order()):
        first.learn(classify.loss(first.network, chosen))
        if number == 1:
            break
    first.save()
    second = run(tmp_path)
    assert second.step == 2
    second.go(classify.loss, Log(tmp_path))
    for name, value in whole.average.items():
        torch.testing.assert_close(second.average[name], value, rtol=0, atol=1e-6)


def test_embeddings_stay_as_they_are(tmp_path: Path) -> None:
    trained = run(tmp_path).trained
    assert "bert.embeddings.word_embeddings.weight" not in trained
    assert "classifier.weight" in trained


def test_a_teacher_is_mixed_with_the_label_and_alone_without_one() -> None:
    recipe = Recipe(("no", "yes"), (), ("sst2", "dev"), trust=0.75)
    said = [1 / 9, 8 / 9]
    warm = (1 / 3, 2 / 3)
    assert classify.goal(Example("x", None, 1), recipe, None) == (0, 1, 0, 0)
    both = classify.goal(Example("x", None, 1), recipe, said)
    assert both == pytest.approx((0, 0.25, 0.75 * warm[0], 0.75 * warm[1]))
    assert classify.goal(Example("x", None, -1), recipe, said) == pytest.approx((0, 0, *warm))


def test_the_loss_of_a_teacher_is_least_at_its_own_probabilities() -> None:
    """At the teacher's logits the gradient of the warmed part vanishes."""
    logits = torch.tensor([[0.0, 8.0]]).log_softmax(-1).requires_grad_()
    recipe = Recipe(("no", "yes"), (), ("sst2", "dev"))
    said = logits.detach().exp()[0].tolist()
    row = Row([101, 102], [0, 0], classify.goal(Example("x", None, -1), recipe, said))

    def network(**_: object) -> SimpleNamespace:
        return SimpleNamespace(logits=logits)

    classify.loss(network, [row]).backward()  # type: ignore[arg-type]
    assert float(known(logits.grad).abs().max()) < 1e-4


def test_masked_verbs_have_the_number_of_their_form(tmp_path: Path) -> None:
    (tmp_path / "agreement").mkdir()
    base = tmp_path / "agreement" / "subj_agr_filtered"
    base.with_suffix(".text").write_text(
        "the keys to it are here . <eos>\nthe dog passes . <eos>\n"
    )
    base.with_suffix(".gold").write_text("4\tare\tis\t1\n2\tpasses\tpass\t0\n")
    assert list(SOURCES["agreement"].read("train", tmp_path)) == [
        Example("the keys to it [MASK] here .", None, 1),
        Example("the dog [MASK] .", None, 0),
    ]
    assert list(SOURCES["agreement"].read("test", tmp_path)) == []


def test_the_label_of_a_mask_is_learned_where_it_stands(tokenizer: Any) -> None:
    recipe = Recipe(("no", "yes"), (), ("sst2", "dev"), longest=6)
    found = [Example("a [MASK] film", None, 1), Example("a a a a a [MASK] film", None, 0)]
    rows = tag.encoded(found, recipe, tokenizer)
    assert [row.goal for row in rows] == [(2, 1), (0, 0)]
    net = network("bert", Task.TOKEN, vocab_size=3000, num_labels=2)
    logits, labels = tag.at_mask(net, rows[:1])
    expected = net(input_ids=torch.tensor([rows[0].ids])).logits[0, 2]
    torch.testing.assert_close(logits[0], expected)
    assert labels.tolist() == [1]
    torch.testing.assert_close(tag.loss(net, rows[:1]), -expected.log_softmax(-1)[1])


def test_answers_are_found_in_windows_and_scored_as_squad_does() -> None:
    question = Question("who?", "It was Ann Lee.", (("Ann Lee", 7),))
    places = [None, (0, 2), (3, 6), (7, 10), (11, 14), (14, 15), None]
    assert answer.span(places, question) == (3, 4)
    assert answer.span(places[:4], question) is None
    assert answer.normalised("The  Ann-Lee!") == "annlee"
    assert answer.f1(["ann", "lee"], ["ann"]) == pytest.approx(2 / 3)
    assert answer.f1([], ["ann"]) == 0.0


def test_an_untrained_head_fills_by_chance_and_special_tokens_are_never_hidden() -> None:
    inputs = {"input_ids": torch.tensor([[101, *range(1000, 1200), 102]])}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    ids, chosen = fill.hidden(inputs, torch.Generator().manual_seed(0))
    assert not chosen[0, 0]
    assert not chosen[0, -1]
    assert 10 < int(chosen.sum()) < 60
    assert bool((ids == inputs["input_ids"])[~chosen].all())
