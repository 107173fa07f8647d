"""Names of the inputs and outputs of a generated text."""

import pytest

from headlight import Generation, Model, explain_generation
from headlight.renderers.token_names import generation_names, output_name
from tests.renderers.test_html import generated


@pytest.mark.parametrize(
    ("token", "label", "expected"),
    [
        ("Ġare", "are", "are"),
        ("âĢĶ", "—", "—"),
        ("âĢĶ", "other", "âĢĶ"),
        ("▁good", "good", "good"),
        ("Ċ", "'\\n'", "⏎"),
        ("Ġ", "' '", "␣"),
    ],
)
def test_a_label_tells_whether_a_token_is_spelled_in_bytes(
    token: str, label: str, expected: str
) -> None:
    assert output_name(token, label) == expected


def test_inputs_are_named_as_they_stand_in_the_text(writer: Model) -> None:
    made = explain_generation(writer, "the keys", "rollout", continuation=" are good")
    inputs, outputs = generation_names(made)
    assert "".join(inputs).startswith("thekeys")
    assert "".join(outputs).startswith("are")
    assert len(inputs) == len(made.attributions[-1])


def test_without_the_text_inputs_are_their_tokens() -> None:
    found = generated(2)
    inputs, outputs = generation_names(found)
    assert inputs == ("the", "<b>", "w0")
    assert outputs == ("w0", "w1")
    spelled = Generation(("the", "Ġkeys"), found.output, found.attributions)
    assert generation_names(spelled)[0] == ("the", "keys", "w0")
