"""Explanations of the API are those of the library."""

import json

import numpy as np
import pytest

import headlight
from headlight import Attribution, HeadMask, Model, Target
from headlight.methods import METHODS
from tests.networks import MASK
from tests.web.asking import QUESTIONS, TEXT, inputs, near, scores
from tests.web.sites import Site

NAMES = list(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(NAMES), 4))
def test_every_method_is_that_of_the_library(page: Site, sentiment: Model, first: int) -> None:
    methods = NAMES[first : first + 4]
    found = page.answer("explain", model="sentiment", text=TEXT, methods=methods)
    expected = headlight.explain(sentiment, TEXT, methods)
    assert found["failures"] == {}
    assert [each["method"] for each in found["attributions"]] == methods
    for each in found["attributions"]:
        near(scores(each), expected[each["method"]].scores)
        assert each["signed"] == METHODS[each["method"]].signed
        for shown in each["pieces"]:
            (position,) = shown["positions"]
            assert shown["score"] == pytest.approx(scores(each)[position])


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_task_is_explained_as_by_the_library(
    page: Site, models: dict[str, Model], name: str
) -> None:
    methods = ["attcat", "rollout", "gae"]
    found = page.answer("explain", model=name, **QUESTIONS[name], methods=methods)
    expected = headlight.explain(models[name], inputs(QUESTIONS[name]), methods)
    target = expected["gae"].target
    assert found["tokens"] == list(expected["gae"].tokens)
    assert found["prediction"]["predicted"] == target.predicted
    assert found["prediction"]["explained"] == target.label
    assert found["prediction"]["logit"] == pytest.approx(target.logit, abs=1e-5)
    assert found["prediction"]["probability"] == pytest.approx(target.probability, abs=1e-5)
    for each in found["attributions"]:
        near(scores(each), expected[each["method"]].scores)
        assert Attribution.from_dict(each["data"]).tokens == expected["gae"].tokens


@pytest.mark.parametrize("name", ["sentiment", "classifier", "tagger"])
def test_probabilities_of_classes_sum_to_one(page: Site, name: str) -> None:
    said = page.answer("explain", model=name, **QUESTIONS[name], methods=["grads"])["prediction"]
    assert sum(said["probabilities"]) == pytest.approx(1)
    best = said["labels"][int(np.argmax(said["probabilities"]))]
    assert best == said["predicted"] == said["explained"]
    assert max(said["probabilities"]) == pytest.approx(said["probability"], abs=1e-5)


@pytest.mark.parametrize("name", ["filler", "writer"])
def test_the_likeliest_tokens_are_told(page: Site, name: str) -> None:
    said = page.answer("explain", model=name, **QUESTIONS[name], methods=["grads"])["prediction"]
    assert len(said["labels"]) == 5
    assert said["probabilities"] == sorted(said["probabilities"], reverse=True)
    assert said["labels"][0] == said["predicted"]


def test_an_answer_is_told_with_its_probability_and_a_number_with_none(page: Site) -> None:
    said = page.answer("explain", model="reader", **QUESTIONS["reader"], methods=["grads"])
    assert said["prediction"]["labels"] == [said["prediction"]["predicted"]]
    assert said["prediction"]["probabilities"][0] == pytest.approx(
        said["prediction"]["probability"], abs=1e-5
    )
    said = page.answer("explain", model="rater", **QUESTIONS["rater"], methods=["grads"])
    assert said["prediction"]["labels"] == []
    assert said["prediction"]["probabilities"] is said["prediction"]["probability"] is None


@pytest.mark.parametrize(
    ("name", "target", "contrast"),
    [
        ("sentiment", "negative", None),
        ("sentiment", "positive", "negative"),
        ("classifier", "Neutral", "positive"),
        ("tagger", "LOC", None),
        ("reader", "mary shelley", None),
        ("filler", "never", "often"),
        ("writer", "a", None),
    ],
)
def test_targets_and_contrasts_are_those_of_the_library(
    page: Site, models: dict[str, Model], name: str, target: str, contrast: str | None
) -> None:
    found = page.answer(
        "explain",
        model=name,
        **QUESTIONS[name],
        methods=["attcat"],
        target=target,
        contrast=contrast,
    )
    expected = headlight.explain(
        models[name],
        inputs(QUESTIONS[name]),
        "attcat",
        Target(label=target, contrast=contrast),
    )
    assert found["prediction"]["explained"] == expected.target.label
    near(scores(found["attributions"][0]), expected.scores)


def test_a_method_that_fails_says_why_and_the_others_answer(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT}
    found = page.answer("explain", **asked, methods=["mask_lrp", "attcat", "decoded_simple"])
    assert [each["method"] for each in found["attributions"]] == ["attcat"]
    assert sorted(found["failures"]) == ["decoded_simple", "mask_lrp"]
    assert "comes without a head mask" in found["failures"]["mask_lrp"]
    status, sentence = page.refusal("explain", **asked, methods=["mask_lrp"])
    assert status == 400
    assert "comes without a head mask" in sentence


def test_names_of_methods_are_read_as_in_the_library(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT}
    found = page.answer("explain", **asked, methods=["AttCAT", "attcat"])
    assert [each["method"] for each in found["attributions"]] == ["attcat"]


@pytest.mark.parametrize("method", ["mask_lrp", "random_mask_lrp"])
def test_a_mask_in_the_request_is_used(page: Site, classifier: Model, method: str) -> None:
    mask = [[bool(head) for head in layer] for layer in MASK]
    asked = {"model": "classifier", "text": TEXT, "mask": mask}
    found = page.answer("explain", **asked, methods=["attcat", method])
    expected = headlight.explain(classifier, TEXT, method, mask=HeadMask.of(MASK))
    near(scores(found["attributions"][1]), expected.scores)
    curve = page.answer("curves", **asked, methods=[method])["curves"][0]
    assert curve["method"] == method
    lines = page.post("export", **asked, methods=[method], format="json").text.splitlines()
    near(json.loads(lines[0])["scores"], expected.scores)


def test_without_a_mask_the_model_has_its_own(page: Site, sentiment: Model) -> None:
    asked = {"model": "sentiment", "text": TEXT, "methods": ["mask_lrp"]}
    own = page.get("/api/heads", model="sentiment").json()
    expected = headlight.explain(sentiment, TEXT, ["mask_lrp", "mask_lrp:parts=union"])
    left_out = page.answer("explain", **asked)["attributions"][0]
    near(scores(left_out), expected["mask_lrp"].scores)
    # The heads that a page shows are sent as one part.
    given = page.answer("explain", **asked, mask=own["open"])["attributions"][0]
    near(scores(given), expected["mask_lrp:parts=union"].scores)
    inverted = [[not head for head in layer] for layer in own["open"]]
    other = page.answer("explain", **asked, mask=inverted)["attributions"][0]
    assert not np.allclose(scores(other), scores(given))


@pytest.mark.parametrize("mask", [[], [[]], [[True]], [[True] * 4] * 2, [[True], [True, False]]])
def test_a_mask_of_a_wrong_shape_is_refused(page: Site, mask: list[list[bool]]) -> None:
    for path in ("explain", "export"):
        status, sentence = page.refusal(
            path, model="classifier", text=TEXT, methods=["mask_lrp"], mask=mask
        )
        assert status == 400
        assert "head mask is" in sentence
