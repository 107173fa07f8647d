"""Models from folders, and what a wrong one gets."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from accelerate import dispatch_model
from peft import LoraConfig, PromptTuningConfig, get_peft_model
from transformers import PreTrainedTokenizerFast, pipeline

import headlight
from headlight import Model, UnsupportedModel
from headlight.models.model import Task
from tests.networks import network

TEXT = "a charming film"


def test_peft_models_are_explained_with_their_adapters(classifier: Model) -> None:
    net = network("bert", Task.SEQUENCE)
    adapted = get_peft_model(
        net, LoraConfig(target_modules=["query"], init_lora_weights=False)
    ).eval()
    wrapped = headlight.wrap(adapted, classifier.tokenizer)
    found = headlight.explain(wrapped, TEXT, target=0)
    plain = headlight.explain(classifier, TEXT, target=0)
    assert np.abs(found.scores - plain.scores).max() > 1e-4


def test_learned_prompts_are_refused() -> None:
    config = PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3)
    with pytest.raises(UnsupportedModel, match="learned prompts"):
        headlight.wrap(get_peft_model(network("bert", Task.SEQUENCE), config))


def test_a_pipeline_that_says_more_than_its_head_is_refused(classifier: Model) -> None:
    chooser = pipeline(
        "zero-shot-classification",
        model=classifier.network,
        tokenizer=cast(PreTrainedTokenizerFast, classifier.tokenizer),
    )
    with pytest.raises(UnsupportedModel, match=r"zero-shot-classification.*wrap\(pipeline\.model"):
        headlight.wrap(chooser)


def test_a_cross_encoder_is_the_network_in_it_and_a_bi_encoder_is_refused(
    classifier: Model,
) -> None:
    class CrossEncoder:
        model, tokenizer = classifier.network, classifier.tokenizer

    class SentenceTransformer:
        pass

    wrapped = headlight.wrap(CrossEncoder())  # type: ignore[arg-type]
    assert (wrapped.network, wrapped.tokenizer) == (classifier.network, classifier.tokenizer)
    with pytest.raises(UnsupportedModel, match="gives vectors and decides nothing"):
        headlight.wrap(SentenceTransformer())  # type: ignore[arg-type]


def test_a_head_that_peft_saves_whole_and_the_active_of_several_adapters_are_explained(
    classifier: Model,
) -> None:
    def scores(model: Any) -> np.ndarray:
        return headlight.explain(headlight.wrap(model, classifier.tokenizer), TEXT, target=0).scores

    config = LoraConfig(
        target_modules=["query"], init_lora_weights=False, modules_to_save=["classifier"]
    )
    adapted = get_peft_model(network("bert", Task.SEQUENCE), config, adapter_name="one")
    adapted.add_adapter("two", config)
    adapted.eval()
    adapted.set_adapter("one")
    one = scores(adapted)
    adapted.set_adapter("two")
    two = scores(adapted)
    assert np.abs(one - two).max() > 1e-4
    merged = scores(adapted.merge_and_unload())
    np.testing.assert_allclose(merged, two, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("place", ["disk", "meta"])
def test_weights_that_are_not_in_memory_are_refused(place: str, tmp_path: Path) -> None:
    net: Any = network("bert", Task.SEQUENCE)
    if place == "disk":
        parts = {"bert.encoder": "disk", "bert.embeddings": "cpu", "bert.pooler": "cpu"}
        parts |= dict.fromkeys(("dropout", "classifier"), "cpu")
        net = dispatch_model(net, parts, main_device="cpu", offload_dir=str(tmp_path))
    else:
        net.to("meta")
    with pytest.raises(UnsupportedModel, match=r"weights of Bert.* are not in memory.*bfloat16"):
        headlight.wrap(net)
