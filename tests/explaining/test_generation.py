"""Every token of a continuation is explained: by itself, in lists of prompts, and by its words."""

import numpy as np
import pytest

import headlight
from headlight import HeadlightError, InvalidInput, Model
from headlight.explaining.generation import until
from tests.known import known

TEXT = "a charming and often affecting journey"


@pytest.mark.parametrize("method", ["attcat", "rollout", "gae", "input_x_gradient"])
def test_generation_is_a_matrix_of_input_and_output(writer: Model, method: str) -> None:
    made = headlight.explain_generation(writer, "the keys", method, max_new_tokens=4)
    count = len(made.prompt)
    assert made.matrix.shape == (len(made.output), count + len(made.output) - 1)
    assert (np.triu(made.matrix[:, count:], 0) == 0).all()
    first = headlight.explain(writer, "the keys", method)
    np.testing.assert_allclose(made.matrix[0, :count], first.scores, rtol=1e-3, atol=1e-6)
    given = headlight.explain_generation(writer, "the keys", method, continuation=" are good")
    assert "".join(given.output).replace("Ġ", " ") == " are good"


def test_several_prompts_and_methods_give_lists_and_a_dict(writer: Model) -> None:
    prompts, methods = ["the keys to", "a film is"], ["gradient_l2", "rollout"]
    found = headlight.explain_generation(writer, prompts, methods, max_new_tokens=3)
    assert list(found) == methods
    for method in methods:
        for made, prompt in zip(found[method], prompts, strict=True):
            alone = headlight.explain_generation(writer, prompt, method, max_new_tokens=3)
            assert (made.prompt, made.output) == (alone.prompt, alone.output)
            np.testing.assert_allclose(made.matrix, alone.matrix, rtol=1e-3, atol=1e-5)
    only = headlight.explain_generation(writer, prompts[:1], "rollout", max_new_tokens=2)
    assert [type(each) for each in only] == [headlight.Generation]
    given = headlight.explain_generation(writer, prompts, "rollout", continuation=[" are", " not"])
    assert ["".join(each.output) for each in given] == ["Ġare", "Ġnot"]


def test_steps_of_a_generation_know_their_words(writer: Model) -> None:
    made = headlight.explain_generation(
        writer, "the keys", "rollout", continuation=" are unboring!"
    )
    last = made.attributions[-1]
    assert last.texts == ("the keys are unboring",)
    assert [last.texts[0][slice(*span)] for span in last.offsets][-1].strip()  # type: ignore[union-attr]
    assert last.words().tokens == ("the", "keys", "are", "unboring")
    assert made.attributions[0].texts == ("the keys",)
    words = made.words()
    assert words.inputs == ("the", "keys", "are", "unboring")
    assert words.matrix.shape == (len(made.output), 4)
    np.testing.assert_allclose(words.matrix.sum(1), made.matrix.sum(1), rtol=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_a_step_has_no_text_of_later_tokens(writer: Model, count: int) -> None:
    whole = headlight.explain(writer, "the keys are", "input_x_gradient")
    step = until(whole, count)
    assert len(step) == count
    assert step.texts[0] == step.texts[0][: known(step.offsets)[-1][1]]
    assert "the keys are".startswith(step.texts[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens=0 is not possible"),
        ({"max_new_tokens": -2}, "max_new_tokens=-2 is not possible"),
        ({"max_new_tokens": 2.5}, "max_new_tokens=2.5 is not possible"),
        ({"max_new_tokens": True}, "max_new_tokens=True is not possible"),
        ({"max_new_tokens": "3"}, "max_new_tokens='3' is not possible"),
        ({"continuation": 5}, "continuation 0 is a int, not text"),
        ({"continuation": ["a", "b"]}, "2 continuations were given for 1 prompts"),
        ({"continuation": ""}, "the continuation has no token"),
        ({"continuation": "\ud800"}, "continuation 0 has a lone surrogate"),
        ({"prompt": [{"role": "user", "content": "hi"}]}, "input 0 is a chat message"),
    ],
)
def test_what_cannot_be_continued_is_refused(
    writer: Model, call: dict[str, object], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        headlight.explain_generation(writer, **{"prompt": "the keys", "method": "rollout", **call})  # type: ignore[call-overload]


def test_a_text_that_would_grow_too_long_is_not_begun(writer: Model) -> None:
    with pytest.raises(InvalidInput, match=r"and tiny .* takes"):
        headlight.explain_generation(writer, "the keys", max_new_tokens=10_000)


def test_only_causal_models_generate(classifier: Model) -> None:
    with pytest.raises(InvalidInput, match="only a causal language model"):
        headlight.explain_generation(classifier, TEXT)
