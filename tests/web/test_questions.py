"""What cannot be answered is refused in a sentence, and no text is too strange."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.web.asking import ASKED, asked
from tests.web.sites import Site, refused
from tests.web.test_exports import ATTACK


@pytest.mark.parametrize("path", ASKED)
def test_every_route_refuses_in_a_sentence(page: Site, path: str) -> None:
    assert page.post(path, **asked(path)).status_code == 200
    for changes, status, part in (
        ({"model": "clasifier"}, 404, "no model on this server named 'clasifier'. Did you mean"),
        ({"text": ""}, 400, "nothing to explain"),
        ({"text": " \n\t"}, 400, "nothing to explain"),
        ({"text": "x" * 20_001}, 413, "20,001 characters; this server takes up to 20,000"),
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
        ("curves", {"model": "filler", "text": "[MASK]"}, 400, "no token may be removed"),
        ("export", {"format": "pdf"}, 422, "format: Input should be"),
        ("export", {"methods": ["atcat"]}, 404, "Did you mean 'attcat'?"),
        ("layers", {"method": "gae"}, 400, "method 'gae' has no layers"),
        ("layers", {"method": "atcat"}, 404, "Did you mean 'attcat'?"),
        ("layers", {"method": "decoded_simple"}, 400, "no language-model head"),
        ("mix", {"method": "gae"}, 400, "method 'gae' has no token-to-token matrices"),
        ("mix", {"layer": 4}, 400, "layer 4 does not exist: there are 3, from 1 to 3, and -1 is"),
        ("mix", {"layer": 0}, 400, "layer 0 does not exist"),
        ("mix", {"layer": -9}, 400, "layer -9 does not exist"),
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
    if path in ("hide", "heads/off"):
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
