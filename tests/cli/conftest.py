"""Folders of small models for the commands."""

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
