"""One application over models of every kind."""

from collections.abc import Iterator
from copy import deepcopy

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


CHAT_TEMPLATE = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant:{% endif %}"
)


@pytest.fixture(scope="session")
def chatter(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A language model with a chat template and room for sources."""
    tokenizer = deepcopy(byte_tokenizer)
    tokenizer.chat_template = CHAT_TEMPLATE
    net = network("llama", Task.CAUSAL, vocab_size=360, max_position_embeddings=1024)
    return headlight.wrap(net, tokenizer, name="tiny chatter")


@pytest.fixture(scope="session")
def asking(chatter: Model, classifier: Model) -> Iterator[Site]:
    """An application that answers questions."""
    limits = Limits(
        sources=3, source_characters=200, prompt_tokens=300, answer_tokens=24, answer_words=12
    )
    with site({"chatter": chatter, "classifier": classifier}, limits=limits) as found:
        yield found


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
