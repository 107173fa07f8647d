"""What is beyond the limits of a server is refused in a sentence."""

from tests.web.asking import asked
from tests.web.sites import Site


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
