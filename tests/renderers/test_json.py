"""Attributions as JSON are read back."""

import json

import headlight
from headlight import Attribution
from tests.test_attribution import made


def test_json_lines_can_be_read_back() -> None:
    lines = headlight.render([made(), made().words()], "jsonl").splitlines()
    assert [Attribution.from_dict(json.loads(line)) for line in lines] == [made(), made().words()]
