"""The fields of a stored answer: how each is checked, and what it must hold, in words."""

from collections.abc import Mapping

from headlight.files.fields import (
    Check,
    is_count,
    is_named,
    is_number,
    is_text,
    is_truth,
    list_of,
    or_none,
)

FORMAT_VERSION = 1


def is_object(fields: Mapping[str, tuple[Check, str]]) -> Check:
    """A check of an object with these fields."""
    return lambda value: (
        is_named(value) and all(n in value and check(value[n]) for n, (check, _) in fields.items())
    )


PLACE_FIELDS = {"start": (is_count, "a number"), "end": (is_count, "a number")}
UNIT_FIELDS = {"name": (is_text, "text"), **PLACE_FIELDS}
PART_FIELDS = {
    **PLACE_FIELDS,
    "value": (is_number, "a number"),
    "log_probability": (is_number, "a number"),
}
OTHER_FIELDS = {
    "text": (is_text, "text"),
    "tokens": (list_of(is_text), "a list of texts"),
    "scores": (list_of(is_number), "a list of finite numbers"),
}
FIELDS = {
    "format": (lambda value: value == FORMAT_VERSION, str(FORMAT_VERSION)),
    "text": (is_text, "text"),
    "prompt_end": (is_count, "a number of characters"),
    "tokens": (list_of(is_text), "a list of texts"),
    "offsets": (list_of(list_of(is_count, size=2)), "a list of spans"),
    "is_special": (list_of(is_truth), "a list of true and false"),
    "is_sink": (list_of(is_truth), "a list of true and false"),
    "parts": (list_of(is_object(PART_FIELDS)), "a list of parts"),
    "scores": (list_of(list_of(is_number)), "a list of lists of finite numbers"),
    "units": (list_of(is_object(UNIT_FIELDS)), "a list of units"),
    "unit": (is_text, "text"),
    "method": (is_text, "text"),
    "model": (is_text, "text"),
    "signed": (is_truth, "true or false"),
    "known": (is_named, "an object"),
    "through_thoughts": (or_none(list_of(list_of(is_number))), "a list of lists or null"),
    "other": (or_none(is_object(OTHER_FIELDS)), "an object or null"),
    "options": (is_named, "an object"),
    "versions": (is_named, "an object"),
    "notes": (list_of(is_text), "a list of texts"),
}
