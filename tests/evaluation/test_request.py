"""What a call asks for: read, drawn and checked before anything is computed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import headlight
from headlight import Example, InvalidInput, InvalidOption, Model, UnknownName
from headlight.evaluation.request import (
    Request,
    check_labels,
    examples_of,
    loader,
    prepare,
)
from headlight.evaluation.settings import Settings


def test_a_request_becomes_settings_and_examples(
    classifier: Model, examples: list[Example]
) -> None:
    ready = prepare(
        Request(
            classifier, examples, ["AttCAT"], ["lodds@mask_lrp"], limit=5, seed=3, explain="gold",
            rivals=["other"], labels=("a", "b"), options={}, variant="released", sanity=2, shard=3, threads=7,
        )
    )  # fmt: skip
    own = ready.settings
    assert (own.model, own.data, own.count) == ("tiny classifier", "11 examples", 5)
    assert (own.limit, own.seed, own.explain, own.variant) == (5, 3, "gold", "released")
    assert (own.rivals, own.labels) == (("other",), ("a", "b"))
    assert (own.sanity, own.shard, own.threads) == (2, 3, 7)
    assert own.versions.keys() == {"headlight", "torch", "transformers"}
    assert len(ready.examples) == 5
    assert ready.methods == ("AttCAT",)
    assert ready.metrics == {"log_odds@mask_lrp": {"protocol": "mask_lrp"}}
    assert ready.models(own.model) is classifier


def test_labels_of_the_data_are_named_by_the_data_unless_the_caller_names_them(
    folder_model: str, table_file: Path
) -> None:
    data = f"{table_file}:text,label"
    assert prepare(Request(folder_model, data, labels=("x",))).settings.labels == ("x",)
    assert prepare(Request(folder_model, data)).settings.labels == ()


def test_models_are_loaded_once(folder_model: str, classifier: Model) -> None:
    models = loader(Request(classifier, [Example("a film")]))
    assert models(classifier.name) is classifier
    assert models(folder_model) is models(folder_model)


def test_models_are_loaded_in_the_type_and_place_of_the_request(folder_model: str) -> None:
    request = Request(folder_model, [Example("a film")], device="cpu", dtype="float64")
    ready = prepare(request)
    assert ready.settings.dtype == "float64"
    assert ready.models("sentiment").network.dtype is torch.float64
    with pytest.raises(InvalidOption, match="no device 'cuda:99'"):
        prepare(replace(request, device="cuda:99"))


def test_a_given_model_has_its_type_and_place(classifier: Model) -> None:
    assert prepare(Request(classifier, [Example("a film")])).settings.dtype == "float32"
    for asked in ({"device": "cpu"}, {"dtype": "float64"}):
        with pytest.raises(InvalidOption, match="are for a model that is given by its name"):
            Request(classifier, [Example("a film")], **asked)  # type: ignore[arg-type]


def test_one_process_uses_all_threads_and_workers_one(folder_model: str) -> None:
    local = Request(folder_model, [Example("a film")])
    assert prepare(local).settings.threads == torch.get_num_threads()
    assert prepare(replace(local, engine="ray")).settings.threads == 1


def test_a_limit_draws_from_a_list_as_from_a_file(tmp_path: Path) -> None:
    listed = [Example(f"text {n}", "positive") for n in range(50)]
    path = tmp_path / "a.csv"
    path.write_text(
        "text,label\n" + "".join(f"{e.text},{e.label}\n" for e in listed), encoding="utf-8"
    )
    from_file, _ = examples_of(Request("m", str(path), limit=5, seed=3))
    assert examples_of(Request("m", listed, limit=5, seed=3))[0] == from_file != listed[:5]
    with pytest.raises(InvalidInput, match="limit=0 leaves nothing to evaluate"):
        examples_of(Request("m", listed, limit=0))


def test_strict_refuses_an_example_without_a_text() -> None:
    listed = [Example("a film"), Example(" ")]
    assert examples_of(Request("m", listed))[0] == listed
    with pytest.raises(InvalidInput, match="example 1 has no text"):
        examples_of(Request("m", listed, strict=True))


def test_labels_under_another_name_are_said_and_unknown_ones_refused(
    classifier: Model, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings("m", "f", "d", "h", 3)
    check_labels(classifier, settings, [Example("a", "POS"), Example("b", "Negative")])
    assert caplog.messages == ["labels of the data matched to the model's: POS → positive."]
    many = [Example("a", "positive")] * 60
    with pytest.raises(InvalidInput, match="the label 'joy' is not known"):
        check_labels(classifier, settings, [*many, Example("b", "joy")])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"methods": []}, InvalidOption, "at least one method"),
        ({"methods": ["rolout"]}, UnknownName, "Did you mean 'rollout'"),
        ({"metrics": ["apoc"]}, UnknownName, "Did you mean 'aopc'"),
        ({"metrics": ["jaccard"]}, InvalidOption, "needs another model"),
        ({"metrics": ["precision_at_k"]}, InvalidOption, "needs answers"),
        ({"metric_settings": {"aopc": {"k": 1}}}, InvalidOption, "has no option 'k'"),
        ({"metric_settings": {"lodds": {}}}, UnknownName, "no metric of this run named 'lodds'"),
        ({"data": "sst3"}, InvalidInput, "no data set named 'sst3'. Did you mean 'sst2'"),
        ({"data": []}, InvalidInput, "list of examples is empty"),
        ({"data": [Example("a film", "great")]}, InvalidInput, "the label 'great' is not known"),
        ({"engine": "spark"}, InvalidOption, "engine='spark'"),
        ({"engine": "ray"}, InvalidOption, "Give its name or folder"),
        ({"explain": "best"}, InvalidOption, "explain='best'"),
        ({"shard": 0}, InvalidOption, "must be 1 or more"),
        ({"options": {"steps": 3}}, InvalidOption, "has no option 'steps'"),
    ],
)
def test_bad_calls_get_a_sentence(
    classifier: Model, examples: list[Example], call: dict[str, Any], error: type, message: str
) -> None:
    given = {"data": examples, "methods": ["attcat"], "metrics": ["aopc"], **call}
    with pytest.raises(error, match=message):
        headlight.evaluate(classifier, **given)
