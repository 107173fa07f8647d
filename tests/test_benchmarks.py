"""Results of benchmarks are kept as measured, slower cases are noticed, and comparisons count right."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import compare
from benchmarks.peers import report
from benchmarks.peers.processes import last_line
from benchmarks.peers.run import CASES, agreement
from benchmarks.seal import checksums, sealed
from benchmarks.trust import page as verdicts
from benchmarks.trust.page import Map


def test_no_result_was_edited_by_hand() -> None:
    assert checksums() == sealed(), (
        "measure again, or run `python benchmarks/seal.py` after measuring"
    )


def speeds(**ratios: float) -> dict[str, Any]:
    """Results of the speed benchmark with these medians."""
    cases: dict[str, Any] = {
        name: {"median": ratio, "quarter": ratio, "three quarters": ratio}
        for name, ratio in ratios.items()
    }
    seconds = {"plain forward, seconds": {"median": sum(ratios.values())}}
    return {"results": {"small": cases | seconds}}


def test_only_cases_that_grew_by_more_than_the_limit_are_listed_worst_first() -> None:
    old = speeds(gae=2.0, lrp=4.0, rollout=1.0, cat=2.0)
    text, code = compare.compared(old, speeds(gae=2.4, lrp=6.0, rollout=1.15, cat=1.0))
    assert text.splitlines() == [
        "2 cases became slower by more than 15%.",
        "small, lrp: 4 → 6 (+50%)",
        "small, gae: 2 → 2.4 (+20%)",
    ]
    assert code == 1


def test_faster_cases_and_other_seconds_are_no_failure() -> None:
    text, code = compare.compared(speeds(gae=2.0), speeds(gae=1.0))
    assert (text, code) == ("0 cases became slower by more than 15%.", 0)


def test_a_case_that_only_one_has_is_named() -> None:
    text, code = compare.compared(speeds(gae=2.0, lrp=4.0), speeds(gae=2.0, cat=1.0))
    assert text.splitlines()[1:] == [
        "not compared, because only one has it: small, cat",
        "not compared, because only one has it: small, lrp",
    ]
    assert code == 0


def test_the_same_measurement_twice_is_refused() -> None:
    text, code = compare.compared(speeds(gae=2.0), speeds(gae=2.0))
    assert (text, code) == ("Both are the same measurement. Run `make bench` first.", 2)


@pytest.mark.parametrize(("ratio", "code"), [(2.0, 0), (3.0, 1)])
def test_the_command_compares_two_files(ratio: float, code: int, tmp_path: Path) -> None:
    command = [sys.executable, compare.__file__]
    for name, speed in (("old", speeds(gae=2.1)), ("new", speeds(gae=ratio))):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(speed), encoding="utf-8")
        command += [f"--{name}", str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code


def beside(ratio: float, library: str) -> dict[str, Any]:
    """Results in which a library takes so many times as long as headlight on 4 texts."""

    def timed(seconds: float) -> dict[str, Any]:
        middle = {"median": seconds, "quarter": seconds, "three quarters": seconds}
        alike = {"rank correlation": 1.0, "least rank correlation": 1.0, "relative difference": 0.0}
        return {"seconds": seconds, "to headlight": middle, **alike}

    found = {"headlight": timed(1.0), library: timed(ratio)}
    return {
        "settings": {"texts": [1, 4], "steps of integrated gradients": 20, "words of a text": 22},
        "seconds of plain passes": {"bert forward and back": 0.05},
        "libraries": {},
        "cases": {
            "bert integrated_gradients": {"1": found, "4": found, "operators": {"addmm": 0.5}}
        },
    }


@pytest.mark.parametrize(
    ("library", "ratio", "reached"),
    [("captum", 3.0, True), ("captum", 2.9, False), ("inseq", 9.0, False), ("inseq", 10.0, True)],
)
def test_every_library_has_its_own_goal(library: str, ratio: float, reached: bool) -> None:
    lines = report.goals(beside(ratio, library))
    named = f"bert integrated_gradients, {library} ({ratio:.2g})."
    assert lines[2:] == (
        [f"- reached: {named}", "- missed: nowhere."]
        if reached
        else ["- reached: nowhere.", f"- missed: {named}"]
    )


def test_plain_passes_are_counted_as_often_as_the_method_needs_them() -> None:
    line = report.reasons(beside(3.0, "captum"))[-1]
    assert line == "| bert integrated_gradients | 1 | captum 3 | addmm 50% |"


def test_a_library_called_text_by_text_takes_its_time_for_one_text_each_time() -> None:
    row = report.comparison(beside(3.0, "captum"))[-1]
    assert row.split(" | ")[4] == "12"


def test_times_are_not_multiplied_where_one_text_gets_more_passes() -> None:
    found = beside(3.0, "captum")
    found["cases"] = {"bert shapley": found["cases"]["bert integrated_gradients"]}
    assert report.comparison(found)[-1].split(" | ")[4] == ""


def test_every_compared_case_has_its_plain_passes() -> None:
    assert set(report.PASSES) == set(CASES)


def test_scores_in_the_same_order_agree_in_rank_but_not_in_size() -> None:
    assert agreement([[1.0, 2.0, 2.0]], [[2.0, 4.0, 4.0]]) == {
        "rank correlation": 1.0,
        "least rank correlation": 1.0,
        "relative difference": 1.0,
    }


def test_the_last_line_of_an_error_has_no_paths() -> None:
    text = "Traceback\nImportError: cannot import name 'a' from 'b' (/home/me/b.py)\n\n"
    assert last_line(text) == "ImportError: cannot import name 'a' from 'b'"


def trust_map(text: int, lead: float, rank: float, method: str = "gae") -> Map:
    """A map with a gain that always counts."""
    return Map("sentiment", text, method, 0.5, 0.2, lead, 0.2, rank)


def test_limits_of_the_verdict_are_those_that_agree_best() -> None:
    maps = [trust_map(0, 2.0, 0.02), trust_map(0, 1.55, 0.1), trust_map(0, 0.25, 0.1)]
    maps += [trust_map(0, 0.15, 0.5), Map("topic", 0, "gae", 0.01, 0.0, 9.0, 0.0, 1.0)]
    assert verdicts.chosen(maps) == (2.0, 0.2)
    assert verdicts.agreement(maps, 2.0, 0.2) == 1
    assert verdicts.agreement(maps, 1.5, 0.2) == 0.75


def test_limits_are_chosen_on_other_texts_than_they_are_reported_on() -> None:
    even = [trust_map(0, 2.0, 0.02), trust_map(2, 0.1, 0.5)]
    odd = [trust_map(1, 0.1, 0.02), trust_map(3, 9.0, 0.5, "random")]
    settings = {
        "methods": ["gae", "random"],
        "texts": "samples",
        "cpu_seconds": 1,
        "metric": "aopc",
    }
    settings |= {"full_levels": 20, "full_orders": 40}
    said = verdicts.page(
        {"maps": [list(vars(each).values()) for each in even + odd], "settings": settings}
    )
    assert (
        "On the 2 maps of texts with even numbers the agreement is best with leads of 2.0"
        in " ".join(said.split())
    )
    assert (
        "agrees in 0.0 % of the maps that it judges. Of 1 random maps it calls 100.0 %"
        in " ".join(said.split())
    )


def test_the_page_of_the_verdict_is_made_from_its_results() -> None:
    home = Path(__file__).parents[1] / "benchmarks/trust"
    stored = json.loads((home / "results.json").read_text(encoding="utf-8"))
    assert (home / "results.md").read_text(encoding="utf-8") == verdicts.page(stored)
