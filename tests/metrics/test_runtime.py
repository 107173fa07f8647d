"""What a method costs."""

from headlight.metrics import METRICS
from headlight.metrics.case import metric_of
from headlight.metrics.runtime import passes, runtime


def test_the_cost_is_told_in_seconds_and_in_plain_passes() -> None:
    found = runtime(0.5, 0.125)
    assert {part: measure.value for part, measure in found.items()} == {
        "seconds": 0.5,
        "passes": 4.0,
    }


def test_it_is_measured_with_a_clock_and_the_less_the_better() -> None:
    entry = metric_of("runtime.passes")
    assert entry is METRICS["runtime"]
    assert entry.needs == {"clock"}
    assert entry.better == "lower"


def test_work_is_told_in_plain_passes() -> None:
    assert passes(300.0, 150.0)[""].value == 2
    assert METRICS["passes"].needs == {"work"}
