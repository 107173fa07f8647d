"""Sources are found where they stand in a prompt, or put where it wants them."""

from typing import Any

import pytest

from headlight import HeadlightError
from headlight.explaining.passages import Passage, found_passages, named_sources, with_sources


def texts_of(texts: list[str], passages: list[Passage]) -> dict[str, str]:
    return {each.name: texts[each.number][slice(*each.span)] for each in passages}


def test_sources_have_names() -> None:
    assert named_sources([" a ", "b"]) == {"1": "a", "2": "b"}
    assert named_sources({"notes": "a\n"}) == {"notes": "a"}
    assert named_sources(None) == {}


def test_sources_are_found_in_place() -> None:
    texts = ["Read this: one two. And: three.", "four"]
    sources = {"b": "three.", "a": "one two.", "c": "four"}
    same, found = with_sources(texts, 0, sources)
    assert same == texts
    assert [each.name for each in found] == ["a", "b", "c"]
    assert texts_of(same, found) == sources


def test_sources_that_are_not_in_the_prompt_are_put_before_the_question() -> None:
    made, found = with_sources(
        ["hello", "Who?"], 1, {"1": "Ann.", "2": "Ben {sources}"}, "\nAnswer:"
    )
    assert made[0] == "hello"
    assert made[1].endswith("[1] Ann.\n\n[2] Ben {sources}\n\nQuestion: Who?\nAnswer:")
    assert texts_of(made, found) == {"1": "Ann.", "2": "Ben {sources}"}


def test_sources_are_put_where_the_prompt_wants_them() -> None:
    made, found = with_sources(["Who? See:\n{sources}\nWell?"], 0, {"x": "Ann.", "y": "Ann."})
    assert made == ["Who? See:\n[x] Ann.\n\n[y] Ann.\nWell?"]
    assert texts_of(made, found) == {"x": "Ann.", "y": "Ann."}
    assert found[0].span != found[1].span


def test_without_sources_a_prompt_stays_as_it_is() -> None:
    assert with_sources(["print('{sources}')"], 0, {}) == (["print('{sources}')"], [])


def test_a_source_may_begin_like_another() -> None:
    text = "Paris is big. It is old. / Paris is big."
    found = found_passages([text], {"short": "Paris is big.", "long": "Paris is big. It is old."})
    assert {each.name: each.span for each in found} == {"long": (0, 24), "short": (27, 40)}


def test_sources_of_the_same_text_are_found_in_their_order() -> None:
    found = found_passages(["same. same."], {"a": "same.", "b": "same."})
    assert [(each.name, each.span) for each in found] == [("a", (0, 5)), ("b", (6, 11))]


@pytest.mark.parametrize(
    ("texts", "sources", "message"),
    [
        (
            ["a one b"],
            {"x": "one", "y": "two"},
            "some sources are in the prompt, but not source 'y'",
        ),
        (["one one"], {"x": "one"}, "source 'x' is in the prompt 2 times, so it is not clear"),
        (["one", "one"], {"x": "one"}, "source 'x' is in the prompt 2 times"),
        (["x y z"], {"a": "x y", "b": "y z"}, "source 'a' and source 'b' overlap in the prompt"),
        (
            ["x y z"],
            {"a": "x y", "b": "x"},
            "source 'b' is in the prompt only as a part of source 'a'",
        ),
        (["{sources} {sources}"], {"a": "x"}, "the prompt says {sources} 2 times. Say it once"),
        (["{sources}", "{sources}"], {"a": "x"}, "the prompt says {sources} 2 times"),
    ],
)
def test_places_that_are_not_clear_are_refused(
    texts: list[str], sources: dict[str, str], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        with_sources(texts, 0, sources)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a text", "sources are a list of texts, or a dict of texts by name"),
        (5, "sources are a list of texts"),
        ([], r"sources=\[\] has no source"),
        ([" "], "source '1' is empty"),
        (["a", 5], "source '2' is a int, not text"),
        ([None], "source '1' is None, not text"),
        ({1: "a"}, "source 1 is not named by text"),
        (["\ud800"], "source '1' has a lone surrogate"),
    ],
)
def test_sources_that_are_none_are_refused(given: Any, message: str) -> None:
    with pytest.raises(HeadlightError, match=message):
        named_sources(given)
