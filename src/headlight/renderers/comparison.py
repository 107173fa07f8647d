"""What is shown together: attributions, and where the first differs from the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from headlight.attribution import Attribution
from headlight.errors import InvalidInput
from headlight.renderers.colours import Palette, palette


@dataclass(frozen=True)
class Panel:
    """One attribution and the colours it is drawn in."""

    attribution: Attribution
    colours: Palette


def differences(attributions: Sequence[Attribution]) -> list[Attribution]:
    """The shares of the first minus those of each of the others (Mask-LRP, Fig. 6 to 13)."""
    first, *others = (each.normalised("sum") for each in attributions)
    return [first - other for other in others]


def panels(
    attributions: Sequence[Attribution], *, difference: bool = False, colours: str = "blue_red"
) -> list[Panel]:
    """The attributions as heat maps; with `difference`, followed by the first minus each of the others."""
    if not attributions:
        raise InvalidInput("there is no attribution to show. Give at least one.")
    found = [Panel(each, palette(colours)) for each in attributions]
    if difference:
        found += [Panel(each, palette("difference")) for each in differences(attributions)]
    return found


def are_of_one_text(attributions: Sequence[Attribution]) -> bool:
    """Whether several attributions explain the same input, so that they can be shown side by side."""
    inputs = {each.texts or each.tokens for each in attributions}
    return len(attributions) > 1 and len(inputs) == 1
