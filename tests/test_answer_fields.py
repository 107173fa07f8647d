"""Fields of a stored answer: those of the class, each with a check and words; damaged ones are refused."""

from dataclasses import fields

from headlight import Answer
from headlight.answer import Other, Part
from headlight.answer_fields import FIELDS, OTHER_FIELDS, PART_FIELDS, UNIT_FIELDS, is_object
from headlight.units import Unit


def test_every_field_of_an_answer_is_stored() -> None:
    assert set(FIELDS) == {"format", *(field.name for field in fields(Answer))}
    for kind, stored in ((Part, PART_FIELDS), (Unit, UNIT_FIELDS), (Other, OTHER_FIELDS)):
        assert set(stored) == {field.name for field in fields(kind)}


def test_an_object_needs_all_its_fields_and_each_of_its_kind() -> None:
    is_unit = is_object(UNIT_FIELDS)
    assert is_unit({"name": "a", "start": 0, "end": 1})
    for damaged in (
        {"name": "a", "start": 0},
        {"name": 1, "start": 0, "end": 1},
        ["a", 0, 1],
        None,
    ):
        assert not is_unit(damaged)
