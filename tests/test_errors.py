"""What errors say: what was asked, what is known, what would do."""

import pytest

from headlight import errors
from headlight.errors import HeadlightError, missing_extra, unknown_name


def test_every_error_is_a_headlight_error_and_stands_in_the_tree() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert all(issubclass(kind, HeadlightError) for kind in kinds)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)
    assert {kind.__bases__ for kind in kinds if kind is not HeadlightError} == {(HeadlightError,)}


def test_an_unknown_name_proposes_the_nearest_and_lists_the_rest() -> None:
    said = str(unknown_name("method", "rolout", ["rollout", "attcat"]))
    assert said == "no method named 'rolout'. Did you mean 'rollout'? Known: attcat, rollout."
    assert str(unknown_name("method", "x", ["b", "a"])) == "no method named 'x'. Known: a, b."


@pytest.mark.parametrize(("count", "ending"), [(40, "n39."), (41, "n39 … (41 in all).")])
def test_long_lists_are_cut_after_forty(count: int, ending: str) -> None:
    names = [f"n{number:02}" for number in range(count)]
    assert str(unknown_name("thing", "?", names)).endswith(ending)


def test_a_missing_package_comes_with_the_command_that_brings_it() -> None:
    assert str(missing_extra("ray", "cluster", "--engine ray")) == (
        "--engine ray needs the package 'ray', which is not installed. "
        "Run: pip install 'headlight[cluster]'."
    )
