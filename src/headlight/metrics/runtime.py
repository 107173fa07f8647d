"""What a method costs."""

from headlight.metrics.case import METRICS, Measure, Measures


@METRICS.register("runtime", group="cost", needs={"clock"}, better="lower", paper="time")
def runtime(seconds: float, plain: float) -> Measures:
    """Seconds for one example explained alone, and as a multiple of a plain forward pass.

    It is measured with a clock, so it is the one metric that differs from run to run.
    """
    return {"seconds": Measure(seconds), "passes": Measure(seconds / plain)}


@METRICS.register(
    "passes", group="cost", needs={"work"}, better="lower", paper="counted operations"
)
def passes(operations: float, plain: float) -> Measures:
    """The work of explaining one example, as a multiple of a plain forward pass.

    Multiplications and additions in products of matrices, counted in every pass, forwards and backwards, and
    divided by those of one forward pass on the same text. Unlike `runtime` it is the same on every machine.
    """
    return {"": Measure(operations / plain)}
