"""Head statistics: against a slow count, on heads whose behaviour is known, and what bad input gets."""

import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import HeadlightError, HeadMask, InvalidInput, InvalidOption, Model
from headlight.files.storage import write_tensors
from headlight.heads import HeadStatistics, Parse, learn, learning
from headlight.heads.masks import chosen_mask, own_mask
from headlight.heads.parse_cache import remembered
from headlight.heads.statistics import COUNTED, FARTHEST, KIND, RELATIONS
from headlight.heads.synthetic_corpus import made_up_corpus
from headlight.models.fingerprint import fingerprint
from headlight.trace.attention_pass import attention_of
from tests.known import known
from tests.mutations import mutated_objects

PARSES = list(made_up_corpus(12, seed=3))


@pytest.fixture(scope="module")
def sentiment() -> Model:
    return headlight.load("sentiment")


def slow_counts(model: Model, parses: list[Parse]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Hits and offsets by loops, one text at a time, words found by searching the text."""
    layers, heads = 6, 12
    hits = {name: np.zeros((layers, heads)) for name in RELATIONS}
    offsets = np.zeros((layers, heads, 2 * FARTHEST + 1))
    for parse in parses:
        tokens = known(model.tokenizer)(parse.text, return_offsets_mapping=True)
        places = tokens["offset_mapping"]
        last = len(places) - 1
        ids = torch.tensor([tokens["input_ids"]])
        maps = model.network.base_model(ids, output_attentions=True).attentions
        for layer in range(layers):
            for head in range(heads):
                weights = maps[layer][0, head]
                best = {
                    q: max(range(1, last), key=lambda k: float(weights[q, k]))
                    for q in range(1, last)
                }
                for q, k in best.items():
                    offsets[layer, head, k - q + FARTHEST] += 1
                for word, (governor, name) in enumerate(
                    zip(parse.heads, parse.relations, strict=True)
                ):
                    if name in hits:
                        start = parse.places[word][0]
                        query = next(n for n in range(1, last) if places[n][0] == start)
                        begin, end = parse.places[governor]
                        key = places[best[query]]
                        hits[name][layer, head] += begin <= key[0] and key[1] <= end
    return hits, offsets


def test_counts_equal_slow_counts(sentiment: Model) -> None:
    sentiment.network.set_attn_implementation("eager")
    found = learn(sentiment, PARSES, batch_size=5)
    with torch.no_grad():
        hits, offsets = slow_counts(sentiment, PARSES)
    for name in RELATIONS:
        k = found.relations.index(name)
        np.testing.assert_array_equal(found.to_head[k].numpy(), hits[name])
        assert int(found.pairs[k]) == sum(p.relations.count(name) for p in PARSES)
        assert found.distance_shares(name).sum() == pytest.approx(1)
    np.testing.assert_array_equal(found.offsets.numpy(), offsets)
    assert found.tokens == offsets[0, 0].sum()


def arranged(model: Model, rows: list[headlight.batch.Row]) -> list[torch.Tensor]:
    """Attention of three heads: to the next token, to the token itself, to the last word's verb."""
    size = max(len(row) for row in rows)
    steps = torch.arange(size)
    ahead = torch.nn.functional.one_hot((steps + 1).clamp(max=size - 1), size).float()
    verb = torch.zeros(len(rows), size, size)
    for number, row in enumerate(rows):
        verb[number, :, row.tokens.index("sold")] = 1
    maps = torch.stack([ahead.expand(len(rows), -1, -1), torch.eye(size).expand_as(verb), verb], 1)
    return [maps]


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


def flips(content: bytes, count: int) -> Iterator[bytes]:
    """The content with one bit flipped, or cut, in so many places."""
    chance = random.Random(0)
    for _ in range(count):
        place = chance.randrange(len(content))
        flipped = bytes([content[place] ^ 1 << chance.randrange(8)])
        yield content[:place] + flipped + content[place + 1 :]
        yield content[:place]


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


def test_pairs_are_counted_text_by_text(sentiment: Model) -> None:
    """Relations are those of both texts; the model reads the pair, so what attends to what may differ."""
    pairs = list(zip(PARSES[:6], PARSES[6:], strict=True))
    found, single = learn(sentiment, pairs), learn(sentiment, PARSES)
    assert dict(zip(found.relations, found.pairs.tolist(), strict=True)) == dict(
        zip(single.relations, single.pairs.tolist(), strict=True)
    )
    assert found.tokens == single.tokens
    assert found.facts["texts"] == 6
    texts = [(one.text, other.text) for one, other in pairs]
    assert learn(sentiment, texts, parser=Slow()).to_head.sum() == found.to_head.sum()
    mixed: list[Any] = [[("a b", 3)], ["a b", PARSES[0]], [("a", "b", "c")]]
    for odd in mixed:
        with pytest.raises(InvalidInput, match="all of one kind"):
            learn(sentiment, odd)


def test_the_second_text_of_a_pair_is_matched_to_its_own_tokens(
    sentiment: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "attention_of", arranged)
    parses = [parse for parse in made_up_corpus(400) if "sold" in parse.words][:8]
    others = [parse for parse in made_up_corpus(40) if "sold" not in parse.words][:8]
    found = learn(sentiment, list(zip(others, parses, strict=True)))
    assert float(found.frequency("nsubj")[0, 2]) == 0.5


def test_texts_are_parsed_and_spacy_names_understood(sentiment: Model) -> None:
    found = learn(sentiment, ["The young doctor quickly sold an old clock."])
    assert {"nsubj", "obj", "amod", "advmod"} <= set(found.relations)
    renamed = Parse(**{**vars(PARSES[0]), "relations": tuple(
        {"obj": "dobj"}.get(r, r) for r in PARSES[0].relations
    )})  # fmt: skip
    assert "obj" in learn(sentiment, [renamed]).relations


@dataclass
class Slow:
    """A parser that counts what it is asked, and may break."""

    name: str = "slow"
    version: str = "1"
    asked: int = 0
    breaks: bool = False

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]:
        by_text = {parse.text: parse for parse in PARSES}
        for number, text in enumerate(texts):
            self.asked += 1
            if self.breaks and number == 3:
                raise KeyboardInterrupt
            yield by_text[text]


def test_parses_are_remembered_whole_or_not_at_all(
    sentiment: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    texts = [parse.text for parse in PARSES]
    with pytest.raises(KeyboardInterrupt):
        learn(sentiment, texts, parser=Slow(breaks=True))
    assert list((tmp_path / "parses").iterdir()) == []
    parser = Slow()
    first = learn(sentiment, texts, parser=parser, limit=8)
    again = learn(sentiment, texts, parser=parser, limit=8)
    assert parser.asked == 8
    assert torch.equal(first.to_head, again.to_head)
    learn(sentiment, texts, parser=Slow(version="2"))
    assert len(list((tmp_path / "parses").glob("*.jsonl"))) == 2


def test_parses_that_were_damaged_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    texts, parser = [parse.text for parse in PARSES[:3]], Slow()
    right = list(remembered(parser, texts))
    (path,) = (tmp_path / "parses").iterdir()
    whole = path.read_bytes()
    contents = [*flips(whole, 30), b"", b"null\n", whole + whole, whole.split(b"\n")[0]]
    for content in contents:
        path.write_bytes(content)
        assert list(remembered(parser, texts)) == right
        assert path.read_bytes() == whole
    assert parser.asked == 3 * (1 + len(contents))


def test_a_mask_of_another_model_is_refused(sentiment: Model, tmp_path: Path) -> None:
    path = tmp_path / "mask.safetensors"
    learn(headlight.load("topic"), PARSES).mask().save(path)
    with pytest.raises(InvalidInput, match="was learned on 'topic'"):
        headlight.explain(sentiment, "a fine film", "mask_lrp", mask=path)
    with pytest.raises(InvalidInput, match="was learned on 'topic'"):
        headlight.explain(sentiment, "a fine film", "mask_lrp", mask=HeadMask.load(path))


def test_the_fingerprint_is_the_same_in_half_precision(sentiment: Model) -> None:
    half = headlight.load("sentiment", dtype=torch.bfloat16)
    assert fingerprint(half) == fingerprint(sentiment)
    assert fingerprint(headlight.load("topic")) != fingerprint(sentiment)


@pytest.mark.slow
def test_an_automatic_mask_is_learned_once(
    sentiment: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    first = chosen_mask(sentiment, "auto")
    assert first.facts["corpus"] == "made-up sentences"
    monkeypatch.setattr("headlight.heads.masks.learn", None)
    assert torch.equal(chosen_mask(sentiment, "auto").heads, first.heads)


def test_an_embedded_model_has_its_own_mask(sentiment: Model) -> None:
    mask = own_mask(sentiment)
    assert 0 < mask.count < 72
    found = headlight.explain(sentiment, "a charming film", "mask_lrp")
    assert found.options["mask"] == str(mask)
    syntactic, positional = (
        headlight.explain(sentiment, "a charming film", "mask_lrp", mask=part).scores
        for part in ("syntactic", "positional")
    )
    assert not np.allclose(syntactic, positional)


def test_a_network_trained_in_place_no_longer_fits_its_mask() -> None:
    model = headlight.load("sentiment")
    assert own_mask(model) is own_mask(model)  # read once
    weight = model.network.get_parameter("classifier.weight")
    weight.data.mul_(-1)  # which torch's counter of changes does not see
    with pytest.raises(InvalidInput, match="was learned on 'sentiment'"):
        own_mask(model)


def test_attention_is_seen_without_a_target(sentiment: Model) -> None:
    rows = headlight.batch.encode(["a fine film", "bad"], known(sentiment.tokenizer))
    maps = attention_of(sentiment, rows)
    assert [tuple(layer.shape) for layer in maps] == [(2, 12, 5, 5)] * 6


def test_bad_corpora_and_thresholds_are_refused(sentiment: Model, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no text in it"):
        learn(sentiment, [])
    with pytest.raises(InvalidInput, match="no text in it"):
        learn(sentiment, [" "])
    with pytest.raises(InvalidInput, match="not a CoNLL-U file"):
        learn(sentiment, "corpus.txt")
    lonely = Parse("yes", ("yes",), ((0, 3),), (0,), ("root",), ("UH",))
    with pytest.raises(InvalidInput, match="no dependency relation"):
        learn(sentiment, [lonely])
    found = learn(sentiment, PARSES)
    with pytest.raises(InvalidInput, match="none of the relations vocative"):
        found.mask(relations=["vocative"])
    with pytest.raises(InvalidOption, match="syntactic=-1 is not a share"):
        found.mask(syntactic=-1)
    with pytest.raises(InvalidOption, match=r"positional=1\.5 is not a share"):
        found.mask(positional=1.5)
    bare = headlight.wrap(sentiment.network)
    with pytest.raises(InvalidInput, match="without a tokenizer"):
        learn(bare, PARSES)
