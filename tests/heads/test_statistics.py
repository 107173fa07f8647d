"""Counts of what heads do, and the masks that are selected from them."""

from contextlib import suppress
from pathlib import Path

import pytest
import torch

from headlight import HeadlightError, InvalidInput, Model
from headlight.files.storage import write_tensors
from headlight.heads import HeadStatistics, learn, learning
from headlight.heads.statistics import COUNTED, FARTHEST, KIND
from headlight.heads.synthetic_corpus import made_up_corpus
from tests.heads.made_up import PARSES, arranged, flips
from tests.mutations import mutated_objects


def small_statistics() -> HeadStatistics:
    return HeadStatistics(
        relations=("nsubj", "obj"),
        pairs=torch.tensor([2, 1]),
        to_head=torch.ones(2, 1, 3),
        from_head=torch.ones(2, 1, 3),
        distances=torch.ones(2, 2 * FARTHEST + 1),
        offsets=torch.ones(1, 3, 2 * FARTHEST + 1),
        tokens=5,
        facts={"model": "m", "texts": 2, "corpus": "c"},
    )


def test_heads_of_known_behaviour_are_selected(
    sentiment: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verb head is syntactic for nsubj and obj; the next-token head is positional; self by choice."""
    monkeypatch.setattr(learning, "attention_of", arranged)
    parses = [parse for parse in made_up_corpus(400) if "sold" in parse.words]
    found = learn(sentiment, parses)
    assert float(found.frequency("nsubj")[0, 2]) == 1.0
    assert float(found.offset_shares[0, 0, FARTHEST + 1]) > 0.8
    mask = found.mask()
    assert mask.parts["syntactic"].tolist() == [[False, False, True]]
    assert mask.parts["positional"].tolist() == [[True, False, False]]
    assert found.mask(counts_self=True).parts["positional"].tolist() == [[True, True, False]]
    assert found.mask(relations=["amod"]).parts["syntactic"].tolist() == [[False] * 3]
    assert mask.facts["thresholds"]["syntactic"] == 0.1


def test_statistics_are_saved_and_selected_from_again(sentiment: Model, tmp_path: Path) -> None:
    found = learn(sentiment, PARSES, name="made up")
    found.save(tmp_path / "s.safetensors")
    again = HeadStatistics.load(tmp_path / "s.safetensors")
    for settings in ({}, {"syntactic": 0.3, "positional": 0.5}, {"reverse": True}):
        assert torch.equal(again.mask(**settings).heads, found.mask(**settings).heads)
    assert again.facts["corpus"] == "made up"
    (tmp_path / "s.safetensors").write_bytes(b"x")
    with pytest.raises(InvalidInput, match="no head statistics"):
        HeadStatistics.load(tmp_path / "s.safetensors")


def test_statistics_that_were_damaged_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.safetensors"
    small_statistics().save(path)
    for content in flips(path.read_bytes(), 150):
        path.write_bytes(content)
        with suppress(HeadlightError):
            found = HeadStatistics.load(path)
            (found + found).mask()


def test_statistics_that_say_something_else_are_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "s.safetensors", small_statistics()
    counts = {name: getattr(whole, name) for name in COUNTED}
    about = {"relations": list(whole.relations), "tokens": 5, "facts": dict(whole.facts)}
    for changed in mutated_objects(about, 150):
        write_tensors(path, counts, KIND, changed)
        with suppress(HeadlightError):
            found = HeadStatistics.load(path)
            (found + found).mask()
    for name, wrong in [
        ("pairs", torch.ones(3)),
        ("to_head", torch.ones(2, 3)),
        ("offsets", torch.ones(())),
        ("offsets", torch.ones(0, 3, 2 * FARTHEST + 1)),
        ("distances", -torch.ones(2, 2 * FARTHEST + 1)),
        ("from_head", torch.full((2, 1, 3), torch.nan)),
        ("from_head", torch.ones(2, 1, 3, dtype=torch.complex64)),
    ]:
        write_tensors(path, {**counts, name: wrong}, KIND, about)
        with pytest.raises(InvalidInput, match=r"no head statistics .* Learn it again\."):
            HeadStatistics.load(path)
    write_tensors(path, {"pairs": whole.pairs}, KIND, about)
    with pytest.raises(InvalidInput, match=r"it holds \['pairs'\], not"):
        HeadStatistics.load(path)
