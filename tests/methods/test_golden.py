"""The authors' own numbers: outputs of their released code on small networks, weights included."""

import json
from copy import deepcopy
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
from headlight import Batch, Model, Target
from headlight.trace.relevance.sweep import Flow
from headlight.trace.trace import trace

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


# ------------------------------------------------------------------------------- relevance

RELEVANCE = {
    "LRP_full": ("lrp", {}),
    "PartialLRP": ("partial_lrp", {}),
    "TransAtt_norm_rollout(GAE in Mask-LRP)": ("transformer_attribution", {}),
    "TransAtt_start_layer_2": ("transformer_attribution", {"first_layer": 3}),
    "MaskLRP_mask": ("mask_lrp", {"mask": MASK_LRP["bert_cls"]["head_mask"]}),
    "MaskLRP_all_ones": ("mask_lrp", {"mask": np.ones((3, 4))}),
}
UNSTABLE = {"LRP_full", "TransAtt_norm_rollout(GAE in Mask-LRP)", "MaskLRP_all_ones"}
"""Chains through all layers with signed denominators: 1e-3 in 32 bits; oracles in 64 bits agree to 1e-8."""


@pytest.mark.parametrize("key", RELEVANCE)
@pytest.mark.parametrize(("masked", "mask"), [("sep_masked", [[1] * 10 + [0]]), ("no_mask", None)])
def test_released_relevance(
    classifier: Model, key: str, masked: str, mask: list[list[int]] | None
) -> None:
    method, options = RELEVANCE[key]
    batch = Batch.from_ids([IDS], attention_mask=mask)
    found = headlight.explain(classifier, batch, method, 1, variant="released", **options)
    expected = np.array(MASK_LRP["bert_cls"][masked][key])
    tolerance = 1e-3 if key in UNSTABLE else 1e-4
    assert np.abs(found.scores - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize(("masked", "hidden"), [("sep_masked", "hidden"), ("no_mask", "seen")])
def test_readings_of_transformer_attribution_come_to_the_authors_numbers(
    masked: str, hidden: str
) -> None:
    """In 64 bits by the names of the readings alone, without the released variant or a mask of tokens."""
    config = BertConfig(**{**CONFIG, "sep_token_id": IDS[-1]})
    own = load(BertForSequenceClassification(config), "bert_cls_weights.npz")
    method = f"transformer_attribution:rows=normalised,diagonal=zero,separators={hidden}"
    found = headlight.explain(own, Batch.from_ids(IDS), method, 1)
    expected = np.array(MASK_LRP["bert_cls"][masked]["TransAtt_norm_rollout(GAE in Mask-LRP)"])
    assert np.abs(found.scores - expected).max() <= 1e-3 * np.abs(expected).max()


def test_released_relevance_of_attention_has_the_authors_sums(classifier: Model) -> None:
    rows = Batch.from_ids([IDS], attention_mask=[[1] * 10 + [0]]).rows
    flow = Flow("chefer_released")
    found = trace(classifier, rows, [Target(label=1)], {"relevance"}).relevance(flow)
    expected = MASK_LRP["bert_cls"]["sep_masked"]["attn_cam_sum_per_layer"]
    assert [float(r.sum()) for r in found.attention] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("part", ["start", "end"])
def test_released_relevance_of_answers_forgets_the_mask(reader: Model, part: str) -> None:
    expected = MASK_LRP["bert_qa"][part]["MGAE_unmasked"]
    cases: dict[str, dict[str, Any]] = {
        "transformer_attribution": {},
        "mask_lrp": {"mask": np.eye(2, 4)},
    }
    for method, options in cases.items():
        found = headlight.explain(
            reader, Batch.from_ids(IDS), method, part, variant="released", **options
        )
        np.testing.assert_allclose(found.scores, expected, rtol=1e-3, atol=1e-8)


def test_released_relevance_of_answers_with_gpt2(decoder_reader: Model) -> None:
    """In 64 bits, to half a unit in the last place of the authors' 32-bit sums, which end just below 1."""
    found = headlight.explain(
        headlight.wrap(deepcopy(decoder_reader.network).double()),
        Batch.from_ids(IDS),
        "transformer_attribution",
        "start",
        variant="released",
    )
    expected = MASK_LRP["gpt2_qa"]["start"]["MGAE_unmasked"]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-6, atol=2**-25)


def test_alti_reads_attention_as_the_papers_write_it(classifier: Model) -> None:
    for key, method in (("RawAtt", "raw_attention"), ("Rollout", "rollout")):
        assert_close(headlight.explain(classifier, Batch.from_ids(IDS), method).scores, ALTI[key])


MIXED = [
    ("ALTI_l1", "alti", {}),
    ("ALTI_l2", "alti", {"p": 2}),
    ("Norms(sum_one)", "norms", {}),
    ("GlobEnc(norm2, unnormalised)", "globenc", {}),
    ("ALTI_LN2", "alti_ln2", {}),
]


@pytest.mark.parametrize(("key", "method", "options"), MIXED)
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_alti_and_its_family(
    classifier: Model, key: str, method: str, options: dict[str, Any], variant: str
) -> None:
    batch = Batch.from_ids(IDS)
    found = headlight.explain(classifier, batch, method, variant=variant, **options)
    np.testing.assert_allclose(found.scores, ALTI[key], rtol=1e-4)


@pytest.mark.parametrize(("p", "key"), [(1, "ALTI_l1_layerC0"), (2, "ALTI_l2_layerC0")])
def test_the_first_matrix_of_alti(classifier: Model, p: int, key: str) -> None:
    found = headlight.mix(classifier, Batch.from_ids(IDS), "alti", p=p)
    np.testing.assert_allclose(found.layers[0], ALTI[key], rtol=1e-4, atol=1e-6)


def test_released_alti_gradients(classifier: Model) -> None:
    methods = {
        "Grad_l2(as coded)": "gradient_l2",
        "GxI_l2(as coded)": "input_x_gradient_l2",
        "GxI_mu(as coded)": "input_x_gradient_mean",
    }
    for key, method in methods.items():
        found = headlight.explain(classifier, Batch.from_ids(IDS), method, variant="released")
        assert_close(found.scores, ALTI[key])
