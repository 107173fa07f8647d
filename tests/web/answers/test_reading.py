"""Questions are read within the limits of the server."""

import pytest

from tests.web.asking import ASKED, asked
from tests.web.sites import Site


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
    assert (
        f"the text has 9 tokens; methods that need many passes ({method}) run here on up to 8"
        in sentence
    )
    assert small.post(path, **asked(path, text="a film", methods=[method])).status_code == 200
