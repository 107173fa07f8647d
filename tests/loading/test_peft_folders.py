"""The folder of a PEFT adapter says what it is."""

import json
from pathlib import Path

import pytest

from headlight import InvalidInput
from headlight.loading.names import check_name
from headlight.loading.peft_folders import peft_folder
from headlight.models.task import Task
from tests.loading.test_names import folder_of


def adapter_of(path: Path, config: object, *files: str) -> Path:
    """A folder with the config of an adapter and empty files of these names."""
    path.mkdir(parents=True)
    (path / "adapter_config.json").write_text(json.dumps(config))
    for name in files:
        (path / name).touch()
    return path


def test_an_adapter_names_its_base_and_its_task(tmp_path: Path) -> None:
    base = folder_of(tmp_path / "base", "model.safetensors")
    config = {"base_model_name_or_path": str(base), "task_type": "SEQ_CLS"}
    folder = adapter_of(tmp_path / "own", config, "adapter_model.safetensors")
    found = peft_folder(folder)
    assert found is not None
    assert (found.base, found.task) == (str(base), Task.SEQUENCE)
    assert found.described_at == found.spelled_at == str(base)
    for name in ("config.json", "tokenizer.json"):
        (folder / name).touch()
    assert found.described_at == found.spelled_at == str(folder)
    assert peft_folder(base) is None
    check_name(folder)


def test_a_base_may_be_named_relative_to_its_adapter(tmp_path: Path) -> None:
    base = folder_of(tmp_path / "base", "model.safetensors")
    config = {"base_model_name_or_path": "../base", "task_type": None}
    found = peft_folder(adapter_of(tmp_path / "own", config, "adapter_model.bin"))
    assert found is not None
    assert (found.base, found.task) == (str(base), None)


@pytest.mark.parametrize(
    ("config", "files", "reason"),
    [
        ([], ["adapter_model.bin"], "does not name a base"),
        ({"base_model_name_or_path": None}, ["adapter_model.bin"], "does not name a base"),
        ({"base_model_name_or_path": "gpt2"}, [], "but no weights (adapter_model.safetensors)"),
        (
            {"base_model_name_or_path": "/nowhere"},
            ["adapter_model.bin"],
            "'/nowhere', which is not",
        ),
    ],
)
def test_an_adapter_without_its_parts_is_refused(
    config: object, files: list[str], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as error:
        check_name(adapter_of(tmp_path / "own", config, *files))
    assert reason in str(error.value)


def test_an_adapter_on_an_adapter_is_refused(tmp_path: Path) -> None:
    config = {"base_model_name_or_path": "gpt2"}
    first = adapter_of(tmp_path / "one", config, "adapter_model.bin")
    config = {"base_model_name_or_path": str(first)}
    second = adapter_of(tmp_path / "two", config, "adapter_model.bin")
    with pytest.raises(InvalidInput, match="which is an adapter itself"):
        check_name(second)
