"""What the API answers, held against the library; and what it refuses, always in a sentence."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Attribution, Batch, Example, HeadMask, Model, Target
from headlight.explaining.layers import has_layers
from headlight.heads.masks import chosen_mask
from headlight.methods import METHODS
from headlight.models.model import Task
from headlight.web.limits import Limits
from tests.networks import MASK, network
from tests.web.sites import Site, refused, site

NAMES = list(METHODS)
TEXT = "a charming but thin plot"
LONG = "the plot of this film is never boring but the story is not very good and they are bad"
ATTACK = "<img src=x onerror=alert(1)> a charming film"
QUESTIONS: dict[str, dict[str, Any]] = {
    "sentiment": {"text": "An unbelievably charming (if thin) journey — 10/10 😀!"},
    "classifier": {"text": "a charming film", "pair": "never dull,  but unlovely"},
    "reader": {"text": "who wrote it", "pair": "it was written by mary shelley in london"},
    "filler": {"text": "the film is [MASK] boring"},
    "tagger": {"text": "mary shelley wrote it in london"},
    "writer": {"text": "the keys to the cabinet 😀"},
    "rater": {"text": "a charming and often affecting journey"},
}
"""A question for every model."""


def inputs(question: dict[str, Any]) -> Any:
    return (question["text"], question["pair"]) if "pair" in question else question["text"]


def scores(attributed: dict[str, Any]) -> list[float]:
    return attributed["data"]["scores"]


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-6)


# -------------------------------------------------------------------------------- explaining


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


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("view", ["pieces", "words"])
def test_every_token_is_shown_once_and_the_text_is_whole(page: Site, name: str, view: str) -> None:
    found = page.answer("explain", model=name, **QUESTIONS[name], methods=["attcat"])
    (attributed,) = found["attributions"]
    shown = attributed[view]
    covered = sorted(p for each in shown for p in each["positions"])
    assert covered == list(range(len(found["tokens"])))
    for each in shown:
        total = sum(scores(attributed)[p] for p in each["positions"])
        assert each["score"] == pytest.approx(total, abs=1e-6)
        special = {attributed["data"]["is_special"][p] for p in each["positions"]}
        assert special == {each["special"]}
    for segment, text in enumerate(attributed["data"]["texts"]):
        own = [each for each in shown if each["segment"] == segment]
        assert "".join(each["before"] + each["text"] for each in own).strip() == text
    assert max(abs(e["share"]) for e in shown if not e["special"]) == pytest.approx(1)


def test_a_word_is_the_sum_of_its_tokens(page: Site, sentiment: Model) -> None:
    text = QUESTIONS["sentiment"]["text"]
    (found,) = page.answer("explain", model="sentiment", text=text, methods=["attcat"])[
        "attributions"
    ]
    words = headlight.explain(sentiment, text, "attcat").words()
    assert [each["text"] for each in found["words"]] == list(words.tokens)
    near([each["score"] for each in found["words"]], words.scores)
    assert len(found["words"]) < len(found["pieces"])


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


# -------------------------------------------------------------------------------- head masks


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
    given = page.answer("explain", **asked, mask=own["open"])["attributions"][0]
    near(scores(given), scores(page.answer("explain", **asked)["attributions"][0]))
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


def test_the_heads_of_a_model_are_told(page: Site, sentiment: Model) -> None:
    found = page.get("/api/heads", model="sentiment").json()
    own = chosen_mask(sentiment, "both")
    assert (found["layers"], found["heads"]) == tuple(own.heads.shape)
    assert found["open"] == own.heads.tolist()
    for layer in range(found["layers"]):
        for head in range(found["heads"]):
            assert found["kinds"][layer][head] == own.kind(layer, head)
            assert tuple(found["roles"][layer][head]) == own.roles.get((layer, head), ())
            assert (found["kinds"][layer][head] is not None) == found["open"][layer][head]


def test_every_head_of_a_model_without_a_mask_is_on(page: Site, classifier: Model) -> None:
    found = page.get("/api/heads", model="classifier").json()
    config = classifier.network.config
    assert found["open"] == [[True] * config.num_attention_heads] * config.num_hidden_layers
    assert {kind for layer in found["kinds"] for kind in layer} == {None}
    asked = {"model": "classifier", "text": TEXT}
    (masked,) = page.answer("explain", **asked, methods=["mask_lrp"], mask=found["open"])[
        "attributions"
    ]
    (whole,) = page.answer("explain", **asked, methods=["transformer_attribution"])["attributions"]
    assert masked["data"]["scores"] == pytest.approx(whole["data"]["scores"], rel=1e-5)


def test_heads_of_no_model_are_refused(page: Site) -> None:
    assert refused(page.get("/api/heads", model="none"))[0] == 404
    assert refused(page.get("/api/heads"))[0] == 422


# ---------------------------------------------------------------------------- taking away


def probability(model: Model, ids: list[int], label: str, seen: list[int] | None = None) -> float:
    """What the model gives a label on these ids."""
    batch = Batch.from_ids([ids], None if seen is None else [seen])
    return headlight.explain(model, batch, "random", Target(label=label)).target.probability


@pytest.mark.parametrize("change", ["delete", "mask", "pad"])
@pytest.mark.parametrize("hidden", [[], [2], [2, 4], [1, 2, 3, 4, 5]])
def test_hidden_tokens_leave_what_a_shorter_input_gives(
    page: Site, sentiment: Model, change: str, hidden: list[int]
) -> None:
    found = page.answer("hide", model="sentiment", text=TEXT, hidden=hidden, change=change)
    ids = sentiment.tokenizer(TEXT)["input_ids"]
    kept, seen = ids, None
    if change == "delete":
        kept = [i for p, i in enumerate(ids) if p not in hidden]
    else:
        stands = {"mask": sentiment.tokenizer.mask_token_id, "pad": sentiment.pad_id}[change]
        kept = [stands if p in hidden else i for p, i in enumerate(ids)]
        seen = [int(change == "mask" or p not in hidden) for p in range(len(ids))]
    assert found["label"] == "negative"
    assert found["before"] == pytest.approx(probability(sentiment, ids, "negative"), abs=1e-5)
    after = probability(sentiment, kept, "negative", seen)
    assert found["after"] == pytest.approx(after, abs=1e-5)
    assert found["predicted"] == ("negative" if after > 0.5 else "positive")


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "rater"])
def test_tokens_can_be_hidden_for_every_task_with_probabilities(page: Site, name: str) -> None:
    asked = {"model": name, **QUESTIONS[name]}
    explained = page.answer("explain", **asked, methods=["grads"])
    said, data = explained["prediction"], explained["attributions"][0]["data"]
    read_at = data["target"]["positions"]
    free = [p for p, s in enumerate(data["is_special"]) if not s and p not in read_at]
    found = page.answer("hide", **asked, hidden=free[:2])
    assert found["label"] == said["explained"]
    assert found["before"] == pytest.approx(said["probability"], abs=1e-5)
    assert 0 <= found["after"] <= 1
    assert (found["predicted"] is None) == (name == "reader")


def test_the_probability_of_another_target_can_be_watched(page: Site) -> None:
    asked = {"model": "sentiment", "text": TEXT, "hidden": [2]}
    one = page.answer("hide", **asked, target="positive")
    other = page.answer("hide", **asked, target="negative")
    assert one["before"] + other["before"] == pytest.approx(1)
    assert one["after"] + other["after"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("sentiment", [0]),
        ("sentiment", [1, 99]),
        ("sentiment", [-2]),
        ("sentiment", [10**30]),
        ("filler", [4]),
    ],
)
def test_special_outside_and_decided_tokens_cannot_be_hidden(
    page: Site, name: str, hidden: list[int]
) -> None:
    status, sentence = page.refusal("hide", model=name, **QUESTIONS[name], hidden=hidden)
    assert status == 400
    assert f"the tokens at {hidden[-1]} cannot be taken away" in sentence


def test_curves_go_from_the_whole_text_to_nothing(page: Site, classifier: Model) -> None:
    methods = ["attcat", "rollout"]
    found = page.answer("curves", model="classifier", text=LONG, methods=methods)
    ids = classifier.tokenizer(LONG)["input_ids"]
    whole = probability(classifier, ids, found["label"])
    nothing = probability(classifier, [ids[0], ids[-1]], found["label"])
    assert found["levels"] == [n / 10 for n in range(11)]
    assert [curve["method"] for curve in found["curves"]] == methods
    for curve in (*found["curves"], found["random"]):
        assert len(curve["probabilities"]) == 11
        assert curve["probabilities"][0] == pytest.approx(whole, abs=1e-5)
        assert curve["probabilities"][-1] == pytest.approx(nothing, abs=1e-5)
        fall = curve["probabilities"][0] - np.array(curve["probabilities"][1:])
        assert curve["aopc"] == pytest.approx(fall.mean(), abs=1e-6)
    random = found["random"]
    assert all(np.array(random["low"]) <= np.array(random["high"]) + 1e-9)
    measured = headlight.evaluate(classifier, [Example(LONG)], methods, ["aopc"], threads=1)
    for curve in found["curves"]:
        expected = measured.values("aopc", curve["method"])[0]
        assert curve["aopc"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["classifier", "reader", "filler", "tagger", "writer"])
def test_curves_begin_at_the_probability_of_every_task(page: Site, name: str) -> None:
    asked = {"model": name, **QUESTIONS[name], "methods": ["attcat"]}
    found = page.answer("curves", **asked)
    said = page.answer("explain", **asked)["prediction"]
    assert found["label"] == said["explained"]
    assert found["curves"][0]["probabilities"][0] == pytest.approx(said["probability"], abs=1e-5)


def test_curves_know_other_changes_and_methods_that_fail(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT}
    masked = page.answer("curves", **asked, methods=["attcat", "mask_lrp"], change="mask")
    deleted = page.answer("curves", **asked, methods=["attcat"])
    assert page.answer("curves", **asked, methods=["attcat"]) == deleted
    assert masked["curves"][0]["probabilities"][1:] != deleted["curves"][0]["probabilities"][1:]
    assert list(masked["failures"]) == ["mask_lrp"]


def test_a_number_has_no_probability_that_could_fall(page: Site) -> None:
    asked = {"model": "rater", "text": TEXT}
    for path, more in (("hide", {"hidden": [1]}), ("curves", {"methods": ["attcat"]})):
        status, sentence = page.refusal(path, **asked, **more)
        assert status == 400
        assert sentence == "tiny rater gives a number, not a probability that could fall."


# ------------------------------------------------------------------------ layers and matrices


def scores_by_token(view: dict[str, Any]) -> list[float]:
    return [each["score"] for each in view["pieces"]]


@pytest.mark.parametrize("method", [name for name in METHODS if has_layers(METHODS[name])])
def test_layers_are_those_of_the_library(page: Site, sentiment: Model, method: str) -> None:
    found = page.answer("layers", model="sentiment", text=TEXT, method=method)
    expected = headlight.explain_layers(sentiment, TEXT, method)
    assert found["method"] == method
    assert [each["layer"] for each in found["layers"]] == [a.options["layer"] for a in expected]
    for each, other in zip(found["layers"], expected, strict=True):
        near(scores_by_token(each), other.scores)
    near(scores_by_token(found["whole"]), headlight.explain(sentiment, TEXT, method).scores)


def test_the_layers_of_attcat_sum_to_it(page: Site) -> None:
    found = page.answer("layers", model="sentiment", text=TEXT, target="negative")
    assert found["method"] == "attcat"
    total = np.sum([scores_by_token(each) for each in found["layers"]], axis=0)
    near(total, scores_by_token(found["whole"]))


@pytest.mark.parametrize("view", ["pieces", "words"])
def test_layers_share_one_scale(page: Site, view: str) -> None:
    found = page.answer("layers", model="sentiment", **QUESTIONS["sentiment"])
    shown = [each for layer in found["layers"] for each in layer[view] if not each["special"]]
    largest = max(abs(each["score"]) for each in shown)
    assert max(abs(each["share"]) for each in shown) == pytest.approx(1)
    for each in shown:
        assert each["share"] == pytest.approx(each["score"] / largest, abs=1e-4)


@pytest.mark.parametrize("method", ["rollout", "alti", "norms"])
@pytest.mark.parametrize(("layer", "accumulated"), [(-1, True), (2, True), (0, False), (2, False)])
def test_mixing_is_that_of_the_library(
    page: Site, classifier: Model, method: str, layer: int, accumulated: bool
) -> None:
    found = page.answer(
        "mix", model="classifier", text=TEXT, method=method, layer=layer, accumulated=accumulated
    )
    expected = headlight.mix(classifier, TEXT, method)
    np.testing.assert_allclose(
        found["matrix"], expected.at(layer, accumulated=accumulated), atol=1e-5
    )
    assert found["tokens"] == list(expected.tokens)
    assert (found["layer"], found["layers"]) == (layer % 3, 3)


@pytest.mark.parametrize("continuation", [None, " are not very good"])
def test_a_continuation_is_explained_as_by_the_library(
    page: Site, writer: Model, continuation: str | None
) -> None:
    text = "the keys to the cabinet"
    found = page.answer(
        "generate", model="writer", text=text, tokens=4, continuation=continuation, method="gae"
    )
    expected = headlight.explain_generation(
        writer, text, "gae", continuation=continuation, max_new_tokens=4
    )
    assert len(found["prompt"]) == len(expected.prompt)
    assert len(found["output"]) == len(expected.output)
    assert "".join(found["prompt"]) == text
    assert continuation is None or "".join(found["output"]) == continuation
    np.testing.assert_allclose(found["matrix"], expected.matrix, atol=1e-6)
    assert (found["method"], found["signed"]) == ("gae", False)


def test_a_text_is_not_continued_beyond_what_the_model_can_read(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    net = network("gpt2", Task.CAUSAL, vocab_size=360)
    with site({"short": headlight.wrap(net, byte_tokenizer, name="short")}) as page:
        for text, tokens in (("a " * 60, 40), ("a " * 90, 1), ("a " * 600, 1)):
            status, sentence = page.refusal("generate", model="short", text=text, tokens=tokens)
            assert status in (400, 413), sentence
        page.answer("generate", model="short", text="a " * 35, tokens=5)


# ------------------------------------------------------------------------------------- files


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag, *(name for name, _ in attrs)]


def exported(page: Site, kind: str, **more: Any) -> str:
    """A file, which must come as one."""
    asked = {"model": "sentiment", "text": ATTACK, "methods": ["attcat", "gae"], **more}
    response = page.post("export", **asked, format=kind)
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"].startswith("attachment; filename=")
    return response.text


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("target", [None, "negative"])
def test_a_text_cannot_write_markup_into_files(
    page: Site, words: bool, difference: bool, target: str | None
) -> None:
    more = {"words": words, "difference": difference, "target": target}
    html = exported(page, "html", **more)
    assert "onerror" in html or not words
    assert not {"img", "script", "iframe", "onerror", "src"} & set(Tags(html).found)
    svg = exported(page, "svg", **more)
    elements = list(ElementTree.fromstring(svg).iter())
    assert "onerror" in "".join(element.text or "" for element in elements) or not words
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert not names & {"img", "image", "script", "foreignObject", "a"}
    assert not any(name.startswith("on") for element in elements for name in element.attrib)


def test_a_json_file_holds_the_attributions(page: Site, sentiment: Model) -> None:
    several = json.loads(exported(page, "json"))
    expected = headlight.explain(sentiment, ATTACK, ["attcat", "gae"])
    for stored, (method, attribution) in zip(several, expected.items(), strict=True):
        read = Attribution.from_dict(stored)
        assert (read.method, read.tokens) == (method, attribution.tokens)
        near(read.scores, attribution.scores)
    whole = json.loads(exported(page, "json", words=True))[0]
    assert whole["unit"] == "word"


def test_files_say_what_they_are(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT, "methods": ["attcat"]}
    for kind, name, media in (
        ("html", "headlight.html", "text/html; charset=utf-8"),
        ("svg", "headlight.svg", "image/svg+xml"),
        ("json", "headlight.json", "application/json"),
        ("latex", "headlight.tex", "application/x-tex"),
    ):
        response = page.post("export", **asked, format=kind)
        assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert response.headers["content-type"] == media
    assert r"\colorbox" in response.text


def test_a_file_of_nothing_but_failures_is_refused(page: Site) -> None:
    status, sentence = page.refusal("export", model="rater", text=TEXT, methods=["mask_lrp"])
    assert status == 400
    assert "comes without a head mask" in sentence


# --------------------------------------------------------------------------------- refusals

ASKED: dict[str, dict[str, Any]] = {
    "explain": {"methods": ["attcat"]},
    "curves": {"methods": ["attcat"]},
    "export": {"methods": ["attcat"]},
    "hide": {"hidden": [1]},
    "layers": {},
    "mix": {},
    "generate": {"model": "writer", "tokens": 2},
}
"""What every route is asked, beside the model and the text."""


def asked(path: str, **changes: Any) -> dict[str, Any]:
    return {"model": "classifier", "text": TEXT, **ASKED[path], **changes}


@pytest.mark.parametrize("path", ASKED)
def test_every_route_refuses_in_a_sentence(page: Site, path: str) -> None:
    assert page.post(path, **asked(path)).status_code == 200
    for changes, status, part in (
        ({"model": "clasifier"}, 404, "no model on this server named 'clasifier'. Did you mean"),
        ({"text": ""}, 400, "nothing to explain"),
        ({"text": " \n\t"}, 400, "nothing to explain"),
        ({"text": "x" * 20_001}, 413, "20,001 characters and this server takes 20,000"),
        ({"text": "\ud800 film"}, 400, "lone surrogate"),
        ({"text": None}, 422, "text: Input should be a valid string"),
        ({"text": ["a"]}, 422, "text: Input should be a valid string"),
        ({"model": "x" * 201}, 422, "model: String should have at most 200 characters"),
        ({"surprise": 1}, 422, "surprise: Extra inputs are not permitted"),
        ({"surprise\ud800": 1}, 422, "not understood"),
    ):
        found, sentence = page.refusal(path, **asked(path, **changes))
        assert found == status, sentence
        assert part in sentence


@pytest.mark.parametrize(
    ("path", "changes", "status", "part"),
    [
        ("explain", {"methods": ["atcat"]}, 404, "Did you mean 'attcat'?"),
        ("explain", {"methods": []}, 422, "methods: List should have at least 1 item"),
        ("explain", {"methods": ["attcat"] * 9}, 413, "9 methods were asked for at once"),
        ("explain", {"target": "sad"}, 404, "no label named 'sad'"),
        ("explain", {"contrast": "sad"}, 404, "no label named 'sad'"),
        ("explain", {"target": "\ud800"}, 422, "target: Input should be a valid string"),
        ("explain", {"model": "reader"}, 400, "a question and a context"),
        ("explain", {"model": "filler"}, 400, "no mask token to predict"),
        ("explain", {"model": "rater", "target": "a"}, 404, "no label named 'a'"),
        ("explain", {"model": "rater", "contrast": "value"}, 400, "nothing for regression"),
        ("explain", {"model": "writer", "target": "unpalatable"}, 400, "is not one token"),
        ("explain", {"pair": ""}, 400, "nothing to explain"),
        ("explain", {"pair": "\ud800"}, 400, "lone surrogate"),
        ("explain", {"mask": [[2]]}, 422, "mask.0.0: Input should be a valid boolean"),
        ("explain", {"mask": [[True]] * 513}, 422, "mask: List should have at most 512 items"),
        ("hide", {"change": "explode"}, 400, "change='explode' does not exist"),
        ("hide", {"change": "mask", "model": "writer"}, 400, "needs a mask token"),
        ("hide", {"hidden": [1.5]}, 422, "hidden.0: Input should be a valid integer"),
        ("hide", {"hidden": [float("nan")]}, 422, "hidden.0: Input should be a finite number"),
        ("hide", {"hidden": [1] * 10_001}, 422, "hidden: List should have at most 10000 items"),
        ("curves", {"change": "explode"}, 400, "change='explode' does not exist"),
        ("curves", {"methods": ["atcat"]}, 404, "Did you mean 'attcat'?"),
        ("curves", {"model": "filler", "text": "[MASK]"}, 400, "no token may be taken away"),
        ("export", {"format": "pdf"}, 422, "format: Input should be"),
        ("export", {"methods": ["atcat"]}, 404, "Did you mean 'attcat'?"),
        ("layers", {"method": "gae"}, 400, "method 'gae' has no layers"),
        ("layers", {"method": "atcat"}, 404, "Did you mean 'attcat'?"),
        ("layers", {"method": "decoded_simple"}, 400, "no language-model head"),
        ("mix", {"method": "gae"}, 400, "method 'gae' has no token-to-token matrices"),
        ("mix", {"layer": 3}, 400, "layer 3 does not exist"),
        ("mix", {"layer": 10**400}, 400, "does not exist"),
        ("mix", {"layer": float("inf")}, 422, "layer: Input should be a finite number"),
        ("generate", {"model": "classifier"}, 400, "only a causal language model"),
        ("generate", {"tokens": 0}, 422, "tokens: Input should be greater than or equal to 1"),
        ("generate", {"tokens": 41}, 413, "41 tokens were asked for"),
        ("generate", {"tokens": 10**400}, 413, "tokens were asked for"),
        ("generate", {"continuation": ""}, 400, "the continuation has no token"),
        ("generate", {"continuation": "\ud800"}, 422, "continuation: Input should be a valid"),
        ("generate", {"continuation": "film " * 41}, 413, "continuation has"),
        ("generate", {"continuation": "😀" * 30}, 413, "continuation has"),
        ("generate", {"continuation": "a" * 2_001}, 422, "should have at most 2000 characters"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(
    page: Site, path: str, changes: dict[str, Any], status: int, part: str
) -> None:
    found, sentence = page.refusal(path, **asked(path, **changes))
    assert found == status, sentence
    assert part in sentence


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    "method", ["mask_lrp:mask=/etc/passwd", "decoded_simple:decoder=/etc", "alti:memory=100000"]
)
def test_options_of_methods_cannot_be_asked_for(page: Site, path: str, method: str) -> None:
    changes = {"methods": [method]} if "methods" in ASKED[path] else {"method": method}
    if path == "hide":
        return
    status, sentence = page.refusal(path, **asked(path, model="sentiment", **changes))
    assert status == 404
    assert sentence.startswith(f"no method named '{method}'.")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "NaN",
        "{",
        '{"text": "a"',
        "\x00",
        "[" * 100_000,
        '{"model":' * 20_000,
        "1" * 5_000,
        '{"model": "classifier", "text": "a", "methods": ["attcat"], "target": 1e999}',
        '{"model": "classifier", "text": "a", "methods": ["attcat"], "target": '
        + "9" * 5_000
        + "}",
    ],
    ids=range(12),
)
@pytest.mark.parametrize("path", ["explain", "generate"])
def test_what_is_no_question_is_refused_in_a_sentence(page: Site, path: str, body: str) -> None:
    assert refused(page.post_raw(path, body))[0] in (400, 422)


def test_what_is_not_even_text_is_refused_in_a_sentence(page: Site) -> None:
    headers = {"Content-Type": "application/json"}
    response = page.request("POST", "/api/explain", content=b"\xff\xfe\x80{", headers=headers)
    assert refused(response)[0] in (400, 422)


STRANGE = {
    "nul": "a\x00film \x00",
    "only nul": "\x00\x00",
    "controls": "a \x07\x0b\x1b[31m film\x7f\x85",
    "marks": "a" + "\u0301" * 10_000 + " film",
    "overrides": "\u202ea film\u202c \u2066never\u2069 dull",
    "no width": "\u200b\u200d\ufeff",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈" * 20,
    "not characters": "a \ufffe\uffff\U0010ffff film",
    "one word": "a" * 5_000,
    "special tokens": "[CLS] [SEP] [PAD] [MASK] [UNK] </s> <pad> film",
    "markup": ATTACK + "]]>&amp;<!--",
    "latex": r"\input{/etc/passwd} $x_1^2$ % # ~ film",
    "scripts": "電影很好看 фильм أفلام רעה",
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["classifier", "writer"])
def test_no_text_is_too_strange(page: Site, name: str, kind: str) -> None:
    paths = ASKED if name == "writer" else ("explain", "hide", "layers", "export")
    for path in paths:
        formats = ("html", "svg", "json", "latex") if path == "export" else (None,)
        for each in formats:
            more = {"format": each} if each else {}
            response = page.post(path, **asked(path, model=name, text=STRANGE[kind], **more))
            assert response.status_code == 200 or 400 <= refused(response)[0] < 500
            if response.status_code == 200 and each == "svg":
                ElementTree.fromstring(response.text)


# ----------------------------------------------------------------------------------- limits


@pytest.fixture(scope="module")
def small(classifier: Model, writer: Model) -> Iterator[Site]:
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


@pytest.mark.parametrize("path", ASKED)
def test_texts_of_too_many_tokens_are_refused(small: Site, path: str) -> None:
    status, sentence = small.refusal(path, **asked(path, text="a film " * 20))
    assert status == 413
    assert "tokens and this server explains up to 24. Shorten it." in sentence


@pytest.mark.parametrize("path", ["explain", "curves", "export"])
@pytest.mark.parametrize("method", ["occlusion", "attention_flow", "lime"])
def test_slow_methods_are_refused_on_longer_texts(small: Site, path: str, method: str) -> None:
    long = "the film is never boring but dull"
    status, sentence = small.refusal(path, **asked(path, text=long, methods=["attcat", method]))
    assert status == 413
    assert f"the text has 9 tokens; {method} take many passes" in sentence
    assert small.post(path, **asked(path, text="a film", methods=[method])).status_code == 200


def test_every_limit_is_kept(small: Site) -> None:
    long = "the film is never boring but the plot is very dull"
    for path, changes, part in (
        ("explain", {"methods": ["gae", "attcat", "grads"]}, "3 methods were asked for at once"),
        ("explain", {"methods": ["lime", "occlusion"]}, "uses up to 1 such methods at once"),
        ("explain", {"text": "film " * 60}, "300 characters and this server takes 200"),
        ("explain", {"text": "film " * 30, "pair": "film " * 30}, "300 characters"),
        ("mix", {"text": long}, "a matrix is shown up to 12"),
        ("generate", {"tokens": 6}, "this server writes up to 5"),
        (
            "generate",
            {"text": "a film is dull but never boring and good"},
            "a matrix is shown up to 12",
        ),
        ("generate", {"text": "a", "continuation": "b b b b b b"}, "continuation has 6 tokens"),
        (
            "generate",
            {"text": "a film is bad but not bad", "method": "lime"},
            "lime take many passes",
        ),
    ):
        status, sentence = small.refusal(path, **asked(path, **changes))
        assert status == 413, sentence
        assert part in sentence
