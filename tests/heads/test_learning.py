"""Head statistics: against a slow count, on heads whose behaviour is known, and what bad input gets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import InvalidInput, InvalidOption, Model
from headlight.heads import Parse, learn, learning
from headlight.heads.statistics import FARTHEST, RELATIONS
from headlight.heads.synthetic_corpus import made_up_corpus
from tests.heads.made_up import PARSES, Slow, arranged
from tests.known import known


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
