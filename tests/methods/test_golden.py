"""The authors' own numbers: outputs of their released code on small networks, weights included."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    GPT2Config,
    GPT2ForQuestionAnswering,
    PreTrainedModel,
)

import headlight
from headlight import Batch, Model

HOME = Path(__file__).parent.parent / "golden" / "authors"
MASK_LRP = json.loads((HOME / "golden_masklrp.json").read_text())
ALTI = json.loads((HOME / "golden_alti.json").read_text())
CONFIG = MASK_LRP["bert_cls"]["config"]
IDS = MASK_LRP["bert_cls"]["input_ids"]


def load(net: PreTrainedModel, file: str) -> Model:
    weights = np.load(HOME / file)
    net.load_state_dict({name: torch.tensor(weights[name]) for name in weights.files})
    return headlight.wrap(net.eval())


@pytest.fixture(scope="module")
def classifier() -> Model:
    return load(BertForSequenceClassification(BertConfig(**CONFIG)), "bert_cls_weights.npz")


@pytest.fixture(scope="module")
def reader() -> Model:
    config = BertConfig(**{**CONFIG, **MASK_LRP["bert_qa"]["config"]})
    return load(BertForQuestionAnswering(config), "bert_qa_weights.npz")


@pytest.fixture(scope="module")
def decoder_reader() -> Model:
    config = GPT2Config(
        vocab_size=120, n_positions=64, n_embd=32, n_layer=2, n_head=4, activation_function="gelu"
    )
    return load(GPT2ForQuestionAnswering(config), "gpt2_qa_weights.npz")


def assert_close(found: Any, expected: Any) -> None:
    expected = np.array(expected)
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


CLASSIFIED = {
    "RawAtt": "raw_attention",
    "Rollout": "rollout",
    "GradCAM(generate_attn_gradcam)": "attention_gradcam",
    "CAM(generate_gradcam)": "grads",
    "AttCAT": "attcat",
    "CAT_inputs_h0..hL-1": "cat",
    "GAE_ICCV21": "gae",
}


@pytest.mark.parametrize(("key", "method"), CLASSIFIED.items())
@pytest.mark.parametrize(("masked", "mask"), [("sep_masked", [[1] * 10 + [0]]), ("no_mask", None)])
def test_released_mask_lrp_and_attcat(
    classifier: Model, key: str, method: str, masked: str, mask: list[list[int]] | None
) -> None:
    batch = Batch.from_ids([IDS], attention_mask=mask)
    found = headlight.explain(classifier, batch, method, target=1, variant="released")
    assert_close(found.scores, MASK_LRP["bert_cls"][masked][key])
    assert found.target.logit == pytest.approx(MASK_LRP["bert_cls"][masked]["logits"][1], rel=1e-5)


@pytest.mark.parametrize("part", ["start", "end"])
@pytest.mark.parametrize(
    ("key", "method"), [("RawAtt", "raw_attention"), ("Rollout", "rollout"), ("AttCAT", "attcat")]
)
def test_released_question_answering(reader: Model, part: str, key: str, method: str) -> None:
    found = headlight.explain(reader, Batch.from_ids(IDS), method, part, variant="released")
    assert_close(found.scores, MASK_LRP["bert_qa"][part][key])


def test_released_answers_add_start_and_end(reader: Model) -> None:
    found = headlight.explain(reader, Batch.from_ids(IDS), "attcat", variant="released")
    golden = MASK_LRP["bert_qa"]
    assert_close(found.scores, np.add(golden["start"]["AttCAT"], golden["end"]["AttCAT"]))


def test_released_question_answering_with_gpt2(decoder_reader: Model) -> None:
    found = headlight.explain(
        decoder_reader, Batch.from_ids(IDS), "attcat", "start", variant="released"
    )
    assert_close(found.scores, MASK_LRP["gpt2_qa"]["start"]["AttCAT"])


def test_alti_reads_attention_as_the_papers_write_it(classifier: Model) -> None:
    for key, method in (("RawAtt", "raw_attention"), ("Rollout", "rollout")):
        assert_close(headlight.explain(classifier, Batch.from_ids(IDS), method).scores, ALTI[key])


def test_released_alti_gradients(classifier: Model) -> None:
    methods = {
        "Grad_l2(as coded)": "gradient_l2",
        "GxI_l2(as coded)": "input_x_gradient_l2",
        "GxI_mu(as coded)": "input_x_gradient_mean",
    }
    for key, method in methods.items():
        found = headlight.explain(classifier, Batch.from_ids(IDS), method, variant="released")
        assert_close(found.scores, ALTI[key])
