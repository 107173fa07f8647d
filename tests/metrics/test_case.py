"""Metrics by their names in a run: protocols, parts, options, and what they need."""

from typing import Any

import pytest

from headlight import METRICS, InvalidOption, UnknownName
from headlight.metrics.case import (
    NEEDS,
    ROLES,
    axes_of,
    heading_of,
    metric_of,
    metric_options,
    protocol_of,
    requirements,
)


@pytest.mark.parametrize(
    ("name", "metric", "protocol"),
    [
        ("aopc", "aopc", ""),
        ("aopc@mask_lrp", "aopc", "mask_lrp"),
        ("rationale.f1", "rationale", ""),
        ("rationale@eraser.iou", "rationale", "eraser"),
    ],
)
def test_a_name_in_a_run_has_a_metric_and_a_protocol(name: str, metric: str, protocol: str) -> None:
    assert metric_of(name).name == metric
    assert protocol_of(name) == protocol


def test_a_protocol_is_an_option_and_aliases_become_names() -> None:
    given: dict[str, dict[str, Any]] = {
        "aopc": {"levels": (0.5, 1)},
        "aopc@attcat": {"change": "mask"},
    }
    assert metric_options(["aopc", "aopc@attcat", "lodds"], given) == {
        "aopc": {"levels": [0.5, 1.0]},
        "aopc@attcat": {"change": "mask", "protocol": "attcat"},
        "log_odds": {},
    }


def test_a_way_of_removing_tokens_may_stand_in_the_place_of_a_protocol() -> None:
    given: dict[str, dict[str, Any]] = {
        "aopc": {"levels": (0.5, 1)},
        "naopc@unknown": {"width": 2},
    }
    assert metric_options(["aopc", "aopc@mask", "naopc@unknown"], given) == {
        "aopc": {"levels": [0.5, 1.0]},
        "aopc@mask": {"levels": [0.5, 1.0], "change": "mask"},
        "naopc@unknown": {"width": 2, "change": "unknown"},
    }


def test_a_metric_that_always_hides_tokens_has_no_other_way() -> None:
    with pytest.raises(InvalidOption, match="'hiding' has no option 'protocol'"):
        metric_options(["hiding@mask"], {})


def test_options_of_what_is_not_measured_are_refused() -> None:
    with pytest.raises(UnknownName, match="no metric of this run named 'hiding'"):
        metric_options(["aopc"], {"hiding": {}})
    with pytest.raises(InvalidOption, match="has no option 'k'"):
        metric_options(["aopc"], {"aopc": {"k": 1}})
    with pytest.raises(InvalidOption, match="levels=3 is not possible for 'aopc'"):
        metric_options(["aopc"], {"aopc": {"levels": 3}})


def test_curves_have_axes_and_a_metric_without_any_its_name() -> None:
    assert axes_of("sufficiency@eraser") == ("share of tokens left", "fall of the probability")
    assert axes_of("conservation") == ("level", "conservation")


def test_only_the_means_that_mask_lrp_printed_are_of_chunks() -> None:
    chunked = {name: METRICS[name].chunked for name in METRICS if METRICS[name].chunked}
    assert chunked == {"aopc": ("mask_lrp",), "log_odds": ("mask_lrp",)}


def test_what_metrics_need_is_known_by_name() -> None:
    assert requirements(METRICS["aopc"]) == {"probability": "a model with probabilities"}
    assert requirements(METRICS["jaccard"]) == {"rival": "another model (--rival)"}
    every = {need for name in METRICS for need in requirements(METRICS[name])}
    assert every == {*NEEDS, *ROLES}
    assert not NEEDS.keys() & ROLES.keys()


def test_a_part_is_under_the_heading_of_its_metric() -> None:
    assert heading_of("rationale.f1") == "Agreement with people"
