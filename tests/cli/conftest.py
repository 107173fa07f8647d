"""Folders of small models for the commands."""

from copy import deepcopy

import pytest

from headlight import Model


@pytest.fixture(scope="session")
def folder(classifier: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    classifier.network.save_pretrained(path)
    classifier.tokenizer.save_pretrained(path)  # type: ignore[union-attr]
    return str(path)


@pytest.fixture(scope="session")
def writer_folder(writer: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("writer")
    writer.network.save_pretrained(path)
    writer.tokenizer.save_pretrained(path)  # type: ignore[union-attr]
    return str(path)


@pytest.fixture(scope="session")
def chat_folder(writer: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose tokenizer has a chat template."""
    path = tmp_path_factory.mktemp("chat")
    writer.network.save_pretrained(path)
    tokenizer = deepcopy(writer.tokenizer)
    assert tokenizer is not None
    tokenizer.chat_template = (
        "{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}</s>\n{% endfor %}"
        "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
    )
    tokenizer.save_pretrained(path)
    return str(path)
