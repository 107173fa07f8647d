"""One application over models of every kind."""

from collections.abc import Iterator

import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Model
from headlight.models.model import Task
from headlight.web.limits import Limits
from tests.cli.conftest import folder
from tests.networks import network
from tests.web.sites import Site, site

__all__ = ["folder"]


@pytest.fixture(scope="session")
def sentiment() -> Model:
    return headlight.load("sentiment")


@pytest.fixture(scope="session")
def rater(tokenizer: PreTrainedTokenizerFast) -> Model:
    """A BERT that gives a number."""
    return headlight.wrap(network("bert", Task.REGRESSION), tokenizer, name="tiny rater")


@pytest.fixture(scope="session")
def models(
    sentiment: Model,
    classifier: Model,
    reader: Model,
    filler: Model,
    tagger: Model,
    writer: Model,
    rater: Model,
) -> dict[str, Model]:
    return {
        "sentiment": sentiment,
        "classifier": classifier,
        "reader": reader,
        "filler": filler,
        "tagger": tagger,
        "writer": writer,
        "rater": rater,
    }


@pytest.fixture(scope="session")
def page(models: dict[str, Model]) -> Iterator[Site]:
    """An application over all of them."""
    with site(models) as found:
        yield found


@pytest.fixture(scope="session")
def small(classifier: Model, writer: Model) -> Iterator[Site]:
    """An application that takes little."""
    limits = Limits(
        characters=200,
        tokens=24,
        slow_tokens=8,
        slow_methods=1,
        matrix_tokens=12,
        generated_tokens=5,
        methods=2,
    )
    with site({"classifier": classifier, "writer": writer}, limits=limits) as found:
        yield found
