"""What is beyond the limits of a server is refused in a sentence."""

from collections.abc import Iterator

import pytest

from headlight import Model
from headlight.web.limits import Limits
from tests.web.asking import ASKED, asked
from tests.web.sites import Site, site


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
    assert "tokens; this server explains up to 24. Shorten it." in sentence


@pytest.mark.parametrize("path", ["explain", "curves", "export"])
@pytest.mark.parametrize("method", ["occlusion", "attention_flow", "lime"])
def test_slow_methods_are_refused_on_longer_texts(small: Site, path: str, method: str) -> None:
    long = "the film is never boring but dull"
    status, sentence = small.refusal(path, **asked(path, text=long, methods=["attcat", method]))
    assert status == 413
    assert f"the text has 9 tokens; methods that need many passes ({method}) run" in sentence
    assert small.post(path, **asked(path, text="a film", methods=[method])).status_code == 200


def test_every_limit_is_kept(small: Site) -> None:
    long = "the film is never boring but the plot is very dull"
    for path, changes, part in (
        ("explain", {"methods": ["gae", "attcat", "grads"]}, "3 methods were asked for at once"),
        ("explain", {"methods": ["lime", "occlusion"]}, "runs up to 1 of them at once"),
        ("explain", {"text": "film " * 60}, "300 characters; this server takes up to 200"),
        ("explain", {"text": "film " * 30, "pair": "film " * 30}, "300 characters"),
        ("mix", {"text": long}, "matrices are shown for up to 12"),
        ("generate", {"tokens": 6}, "this server writes up to 5"),
        (
            "generate",
            {"text": "a film is dull but never boring and good"},
            "matrices are shown for up to 12",
        ),
        ("generate", {"text": "a", "continuation": "b b b b b b"}, "continuation has 6 tokens"),
        (
            "generate",
            {"text": "a film is bad but not bad", "method": "lime"},
            "need many passes (lime)",
        ),
    ):
        status, sentence = small.refusal(path, **asked(path, **changes))
        assert status == 413, sentence
        assert part in sentence
