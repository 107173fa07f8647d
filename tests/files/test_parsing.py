"""JSON as it is met in files."""

import pytest

from headlight import InvalidInput
from headlight.files.parsing import parse_json


def test_json_is_read() -> None:
    assert parse_json('{"a": [1, null, "é"], "b": {"a": 2}}', "it") == {
        "a": [1, None, "é"],
        "b": {"a": 2},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 3 is not JSON: Expecting property name"),
        ('{"a": 1, "b": 2, "a": 3}', "line 3 is not JSON: it has 'a' twice in one object"),
        ('[{"x": {"y": 1, "y": 2}}]', "it has 'y' twice"),
        ("[" * 100_000, "line 3 is nested too deeply to be read"),
    ],
)
def test_what_cannot_be_read_says_whose_it_is(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_json(text, "line 3")
