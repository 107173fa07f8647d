"""What a method costs."""

from headlight.metrics.case import METRICS, Measure, Measures


@METRICS.register("runtime", group="cost", needs={"clock"}, better="lower", paper="time")
def runtime(seconds: float, plain: float) -> Measures:
    """Seconds for one example explained alone, and as a multiple of a plain forward pass.

    It is measured with a clock, so it is the one metric that differs from run to run.
    """
    return {"seconds": Measure(seconds), "passes": Measure(seconds / plain)}
