"""Chooses the limits of the verdict on one half of the texts, and writes how it does on the other."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.metrics.trust import CLEAR, LITTLE, ORDERS, SLIGHT, SOME, level_of

LEVELS = ("good", "fair", "poor")
RARE, UNCOMMON = 0.05, 0.25
"""Full ranks of maps that are clearly and somewhat better than chance."""
TRIED = [n / 10 for n in range(41)]
"""Leads that are tried as limits."""


@dataclass(frozen=True)
class Map:
    """One map: the numbers that the verdict sees, and the full measurement."""

    data: str
    text: int
    method: str
    fall: float
    gain: float
    lead: float
    full_gain: float
    full_rank: float

    @property
    def truth(self) -> str:
        """What the full measurement says, with the same least gains as the verdict."""
        if self.full_rank <= RARE and self.full_gain >= LITTLE:
            return "good"
        return "fair" if self.full_rank <= UNCOMMON and self.full_gain >= SLIGHT else "poor"

    def verdict(self, clear: float, some: float) -> str:
        """What the verdict says with these limits."""
        return level_of(self.fall, self.gain, self.lead, clear=clear, some=some)


def agreement(maps: Sequence[Map], clear: float, some: float) -> float:
    """How often the verdict says what the full measurement says, where it says anything."""
    said = [(each.verdict(clear, some), each.truth) for each in maps]
    judged = [(one, other) for one, other in said if one != "unknown"]
    return sum(one == other for one, other in judged) / max(1, len(judged))


def chosen(maps: Sequence[Map]) -> tuple[float, float]:
    """The limits with the best agreement; of equals the highest, which promise least."""
    pairs = [(clear, some) for clear in TRIED for some in TRIED if some <= clear]
    return max(pairs, key=lambda pair: (agreement(maps, *pair), *pair))


def share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else "–"


def table(maps: Sequence[Map], clear: float, some: float) -> Iterator[str]:
    """The verdicts against the full measurement."""
    counts = Counter((each.verdict(clear, some), each.truth) for each in maps)
    yield "| verdict | maps | fully good | fully fair | fully poor |"
    yield "|---|---|---|---|---|"
    for said in (*LEVELS, "unknown"):
        row = [counts[said, truth] for truth in LEVELS]
        cells = (f"{n} ({share(n, sum(row))})" if sum(row) else "0" for n in row)
        yield f"| {said} | {sum(row)} | {' | '.join(cells)} |"


def by_method(maps: Sequence[Map], clear: float, some: float) -> Iterator[str]:
    """What is said of every method, and how often that is right."""
    yield "| method | good | fair | poor | unknown | fully good | agreement |"
    yield "|---|---|---|---|---|---|---|"
    for method in dict.fromkeys(each.method for each in maps):
        own = [each for each in maps if each.method == method]
        said = Counter(each.verdict(clear, some) for each in own)
        cells = [share(said[level], len(own)) for level in (*LEVELS, "unknown")]
        fully = share(sum(each.truth == "good" for each in own), len(own))
        right = f"{100 * agreement(own, clear, some):.1f} %"
        yield f"| {method} | {' | '.join(cells)} | {fully} | {right} |"


PAGE = """# How often is the verdict on one map right?

{count:,} maps: {methods} methods on {texts} texts ({source}) of the networks `sentiment` and `topic`. Made
by `python -m benchmarks.trust.run`, {seconds} s on one core; this page is written from
[results.json](results.json).

**The verdict** of `headlight.trust` and the page sees ten levels and {orders} random orders. **The full
measurement** is `{metric}` at up to {full_levels} levels, beside {full_orders} other random orders of the
same text: a map is fully *good* if at most one order in twenty is as good (rank ≤ {rare}) and its gain is
{little} or more, *fair* if at most one in four is (rank ≤ {uncommon}) and the gain is {slight} or more,
otherwise *poor*.

**Limits.** On the {fitted:,} maps of texts with even numbers the agreement is best with leads of
{best_clear} (good) and {best_some} (fair): {best:.1f} %. headlight uses {clear} and {some}: {used:.1f} %
there.

**On the {held:,} maps of the other texts** the verdict agrees in {agreed:.1f} % of the maps that it judges.
Of {random} random maps it calls {false_share} clearly better than chance; the full measurement does so for
{true_share}.

{table}

{by_method}

A verdict is about one map on one text, and about the order of its tokens as this network answers to their
deletion. It says nothing about the sizes of the scores, and another way to remove tokens may say otherwise.
"""


def page(stored: dict[str, Any]) -> str:
    """The results as a page."""
    maps = [Map(*row) for row in stored["maps"]]
    fitted = [each for each in maps if each.text % 2 == 0]
    held = [each for each in maps if each.text % 2]
    best, settings = chosen(fitted), stored["settings"]
    random = [each for each in held if each.method.startswith("random")]
    said = sum(each.verdict(CLEAR, SOME) == "good" for each in random)
    is_samples = settings["texts"] == "samples"
    return PAGE.format(
        count=len(maps),
        methods=len(settings["methods"]),
        texts=len({(each.data, each.text) for each in maps}),
        source="the samples of headlight" if is_samples else "of SST-2 and AG News",
        seconds=settings["cpu_seconds"],
        orders=ORDERS,
        metric=settings["metric"],
        full_levels=settings["full_levels"],
        full_orders=settings["full_orders"],
        rare=RARE,
        uncommon=UNCOMMON,
        little=LITTLE,
        slight=SLIGHT,
        fitted=len(fitted),
        best_clear=best[0],
        best_some=best[1],
        best=100 * agreement(fitted, *best),
        clear=CLEAR,
        some=SOME,
        used=100 * agreement(fitted, CLEAR, SOME),
        held=len(held),
        agreed=100 * agreement(held, CLEAR, SOME),
        random=len(random),
        false_share=share(said, len(random)),
        true_share=share(sum(each.truth == "good" for each in random), len(random)),
        table="\n".join(table(held, CLEAR, SOME)),
        by_method="\n".join(by_method(held, CLEAR, SOME)),
    )


def write_page(home: Path) -> None:
    """Write results.md from results.json."""
    stored = json.loads((home / "results.json").read_text(encoding="utf-8"))
    (home / "results.md").write_text(page(stored), encoding="utf-8")
