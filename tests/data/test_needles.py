"""A planted fact is in one passage, the prompt is as long as asked for, and a seed gives it again."""

import pytest

from headlight import InvalidOption
from headlight.data import needles


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("length", [200, 1_000])
def test_one_source_holds_the_fact_and_all_have_the_length(length: int) -> None:
    examples = needles(6, length, words, source_count=5)
    for example in examples:
        assert len(example.sources) == 5
        assert example.right_source is not None
        assert length <= sum(map(words, example.sources)) <= length + 5 * 20
        holder = example.sources[example.right_source]
        assert str(example.text).removeprefix("What is the").removesuffix("?") in holder
    assert len({example.right_source for example in examples}) > 1


def test_a_seed_gives_the_same_needles() -> None:
    assert needles(3, 200, words, seed=4) == needles(3, 200, words, seed=4)
    assert needles(3, 200, words, seed=4) != needles(3, 200, words, seed=5)


@pytest.mark.parametrize(("count", "length", "sources"), [(0, 200, 5), (1, 50, 5), (1, 200, 1)])
def test_what_leaves_nothing_to_find_is_refused(count: int, length: int, sources: int) -> None:
    with pytest.raises(InvalidOption, match="needles need count=1, length=100 and source_count=2"):
        needles(count, length, words, source_count=sources)
