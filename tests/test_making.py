"""Attributions of foreign scores are made by a function that is found when it is needed."""

from headlight.making import MAKING, Making
from headlight.models.model import Model


def test_what_is_given_goes_to_the_function_that_is_found(classifier: Model) -> None:
    making = Making(lambda: lambda *given, **options: (given, options))
    assert making.from_scores(classifier, "a", [1], method="x") == (
        (classifier, "a", [1]),
        {"method": "x"},
    )


def test_the_package_says_which_function_that_is() -> None:
    assert MAKING.find is not None
    assert MAKING.find().__module__ == "headlight.foreign.scores"
