"""What a target may be, and its short forms."""

import pytest

from headlight import (
    InvalidOption,
    Target,
)


def test_bad_target_fields_are_refused() -> None:
    with pytest.raises(InvalidOption, match="Use one of 'logit', 'probability'"):
        Target(output="odds")  # type: ignore[arg-type]
