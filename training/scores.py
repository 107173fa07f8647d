"""Shares with intervals."""

import math


def share(right: int, count: int) -> dict[str, object]:
    """The number of right answers, and the interval of their share."""
    return {
        "right": right,
        "rows": count,
        "accuracy": round(right / count, 4),
        "interval": interval(right, count),
    }


def interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, found = 1.959964, right / count
    middle = (found + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(found * (1 - found) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return round(middle - half, 4), round(middle + half, 4)
