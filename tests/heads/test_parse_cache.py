"""Parses are remembered whole or not at all."""

from pathlib import Path

import pytest
import torch

from headlight import Model
from headlight.heads import learn
from headlight.heads.parse_cache import remembered
from tests.heads.made_up import PARSES, Slow, flips


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
