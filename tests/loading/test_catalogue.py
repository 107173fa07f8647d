"""The embedded models: where their base comes from, and what damaged or missing parts get."""

import json
from functools import cache

import pytest
import torch
from safetensors import safe_open

import headlight
from headlight import Model
from headlight.loading.catalogue import CATALOGUE
from headlight.models.model import Task
from tests.known import known

pytestmark = pytest.mark.xdist_group("catalogue")  # one process keeps what is loaded
TRAINED = [name for name, entry in CATALOGUE.items() if entry.is_shipped]


@cache
def loaded(name: str) -> Model:
    """An embedded model, loaded once."""
    return headlight.load(name)


@pytest.mark.parametrize("name", TRAINED)
def test_every_entry_loads_and_is_explained(name: str) -> None:
    model = loaded(name)
    entry = CATALOGUE[name]
    assert model.name == name
    assert model.task == entry.task
    if entry.labels:
        assert tuple(model.labels.values()) == entry.labels
    assert not model.network.training
    text = {
        Task.SEQUENCE: ("it rains", "the sun is out") if entry.reads == "pair" else "it rains",
        Task.QUESTION: ("Who made it?", "It was made by Ann."),
        Task.MASKED: "a [MASK] film",
        Task.TOKEN: "the keys to the cabinet [MASK] here .",
    }[entry.task]
    assert headlight.explain(model, text).scores.any()


def test_all_adapters_together_are_small() -> None:
    folder = CATALOGUE["sentiment"].adapter().parent
    assert sum(path.stat().st_size for path in folder.iterdir()) < 60_000_000


def test_layers_are_decoded_by_the_embedded_head() -> None:
    text = "a charming and often affecting journey, though the plot is thin"
    found = headlight.explain(headlight.load("sentiment"), text, "decoded_grad_cam")
    assert found.options["decoder"] == "decoder"
    assert found.options["layer"] == CATALOGUE["sentiment"].best_layer
    assert found.scores.any()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("the keys to the cabinet [MASK] here .", "plural"),
        ("the key to the cabinets [MASK] here .", "singular"),
    ],
)
def test_agreement_is_decided_at_the_mask(text: str, label: str) -> None:
    answer = headlight.explain(loaded("agreement"), text, "alti")
    assert answer.target.label == label
    assert [answer.tokens[p] for p in known(answer.target.positions)] == ["[MASK]"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a charming and often affecting journey", "positive"),
        ("one of the best films of the year", "positive"),
        ("a dull, lifeless mess", "negative"),
        ("not worth anyone's time", "negative"),
    ],
)
def test_sentiment_decides_as_people_do(text: str, label: str) -> None:
    answer = headlight.explain(loaded("sentiment"), text)
    assert answer.target.label == label
    assert known(answer.target.probability) > 0.8


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The striker scored twice as the home side won the cup final.", "Sports"),
        ("Shares fell after the bank reported lower quarterly profit.", "Business"),
        ("The prime minister met the foreign ministers for peace talks.", "World"),
        ("The new browser fixes a security hole in its software update.", "Sci/Tech"),
    ],
)
def test_topic_decides_as_people_do(text: str, label: str) -> None:
    answer = headlight.explain(loaded("topic"), text)
    assert answer.target.label == label


@pytest.mark.parametrize(
    ("pair", "label"),
    [
        (
            ("How can I learn French quickly?", "What is the fastest way to learn French?"),
            "duplicate",
        ),
        (("How can I learn French quickly?", "How do I bake sourdough bread?"), "different"),
    ],
)
def test_paraphrase_decides_as_people_do(pair: tuple[str, str], label: str) -> None:
    assert headlight.explain(loaded("paraphrase"), pair).target.label == label


@pytest.mark.parametrize(
    ("pair", "label"),
    [
        (("A man is playing a guitar on stage.", "A man is playing music."), "entailment"),
        (("A man is playing a guitar on stage.", "The man is asleep in bed."), "contradiction"),
        (("A man is playing a guitar on stage.", "The man is a famous singer."), "neutral"),
    ],
)
def test_nli_decides_as_people_do(pair: tuple[str, str], label: str) -> None:
    assert headlight.explain(loaded("nli"), pair).target.label == label


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote the novel?", "Mary Shelley"),
        ("When was the novel published?", "1818"),
        ("In which city was it published?", "London"),
    ],
)
def test_qa_answers_as_people_do(question: str, answer: str) -> None:
    text = "The novel was written by Mary Shelley and published in London in 1818."
    assert headlight.explain(loaded("qa"), (question, text)).target.label == answer


@pytest.mark.parametrize("name", TRAINED)
def test_adapters_are_small_of_few_bits_and_name_no_machine(name: str) -> None:
    path = CATALOGUE[name].adapter()
    assert path.stat().st_size < (24_000_000 if name == "qa" else 8_000_000)
    with safe_open(path, "pt") as file:
        kinds = {key: file.get_tensor(key).dtype for key in file.keys()}  # noqa: SIM118
        facts = file.metadata()
    for key, kind in kinds.items():
        expected = {"a": torch.int8, "b": torch.int8, "scale": torch.float32}
        assert kind == expected.get(key.rpartition(".")[2], torch.float16), key
    assert facts["base_sha256"] == CATALOGUE[name].base.sha256
    recipe = {k: v for k, v in json.loads(facts["recipe"]).items() if k != "labels"}
    assert "/" not in json.dumps(recipe)
