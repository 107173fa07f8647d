"""A plan is what was asked for less what is known; jobs follow from it shard by shard."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import UnknownName
from headlight.evaluation.plan import Job, Round, full_name, jobs_of, plan, roles_of
from headlight.evaluation.settings import Settings
from headlight.metrics.case import Metrics

SETTINGS = Settings("none", "f", "made up", "h", 10, sanity=3, shard=4)
METHODS = ("random", "attcat", "rollout", "gae")
METRICS: Metrics = {
    "aopc": {},
    "log_odds": {"levels": [0.5, 1.0]},
    "kendall_confidence": {},
    "jaccard": {},
    "conservation": {},
    "token_overlap": {},
    "runtime": {},
}


def kept(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Rounds that were written to a file and read again."""
    texts = json.loads(json.dumps([asdict(each) for each in rounds]))
    return tuple(
        Round(tuple(each["methods"]), tuple(each["roles"]), each["metrics"]) for each in texts
    )


def test_a_first_plan_explains_once_and_measures_once() -> None:
    assert plan(["attcat", "rollout"], {"aopc": {}, "lodds": {}}) == (
        Round(("attcat", "rollout"), roles=("own",)),
        Round(("attcat", "rollout"), metrics={"aopc": {}, "lodds": {}}),
    )


def test_a_method_is_planned_once_by_its_own_name() -> None:
    (explain, measure) = plan(["AttCAT", "attcat", "att-cat"], {"aopc": {}})
    assert explain.methods == measure.methods == ("attcat",)
    assert full_name("Integrated-Gradients: steps = 3") == "integrated_gradients:steps=3"
    with pytest.raises(UnknownName, match="Did you mean 'rollout'"):
        plan(["rolout"], {"aopc": {}})


def test_what_is_known_is_not_planned_again() -> None:
    first = plan(METHODS, METRICS)
    assert plan(METHODS, METRICS, first) == first
    assert plan(METHODS[:2], {"aopc": {}}, first) == first
    assert plan((), {}, first) == first


def test_lists_that_were_written_and_read_are_the_same_options() -> None:
    asked: Metrics = {"aopc": {"levels": (0.5, 1.0)}}
    first = kept(plan(["gae"], asked))
    assert first[-1].metrics == {"aopc": {"levels": [0.5, 1.0]}}
    assert plan(["gae"], asked, first) == first


def test_a_method_and_a_metric_that_come_later_get_rounds_of_what_is_missing() -> None:
    first = plan(["attcat"], {"aopc": {}})
    assert plan(["attcat", "gae"], {"aopc": {}, "kendall_confidence": {}}, first)[2:] == (
        Round(("gae",), roles=("own",)),
        Round(("attcat", "gae"), roles=("runner_up",)),
        Round(("gae",), metrics={"aopc": {}}),
        Round(("attcat", "gae"), metrics={"kendall_confidence": {}}),
    )


def test_other_options_of_a_metric_are_measured_anew() -> None:
    first = plan(["gae"], {"aopc": {}})
    assert plan(["gae"], {"aopc": {"change": "mask"}}, first)[2:] == (
        Round(("gae",), metrics={"aopc": {"change": "mask"}}),
    )


@given(
    calls=st.lists(
        st.tuples(
            st.lists(st.sampled_from(METHODS), min_size=1, unique=True),
            st.lists(st.sampled_from(list(METRICS)), min_size=1, unique=True),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_pair_that_was_asked_for_is_planned_exactly_once(
    calls: list[tuple[list[str], list[str]]],
) -> None:
    rounds: tuple[Round, ...] = ()
    for methods, metrics in calls:
        rounds = plan(methods, {name: METRICS[name] for name in metrics}, rounds)
    explained = [(m, r) for each in rounds for m in each.methods for r in each.roles]
    measured = [(m, k) for each in rounds for m in each.methods for k in each.metrics]
    assert len(explained) == len(set(explained))
    assert len(measured) == len(set(measured))
    assert set(measured) == {(m, k) for ms, ks in calls for m in ms for k in ks}
    roles = {(m, r) for ms, ks in calls for m in ms for r in ("own", *roles_of(ks))}
    assert set(explained) == roles


def test_roles_have_one_order_whatever_metrics_need_them() -> None:
    names = ["conservation", "randomisation", "spearman", "aopc", "kendall_confidence"]
    assert roles_of(names) == ("runner_up", "rival", "randomised", "ledger")
    assert roles_of(["aopc"]) == ()


def test_jobs_cover_every_example_once() -> None:
    jobs = jobs_of(SETTINGS, plan(["gae"], {"aopc": {}}))
    for kind in ("explain", "measure"):
        own = [job for job in jobs if job.kind == kind]
        assert [job.shard for job in own] == [0, 1, 2]
        assert (own[0].first, own[-1].last) == (0, SETTINGS.count)
        assert all(one.last == other.first for one, other in pairwise(own))


def test_what_is_timed_is_one_job_on_the_first_examples_and_a_corpus_none() -> None:
    rounds = plan(["gae"], {"runtime": {}, "token_overlap": {}})
    jobs = [job for job in jobs_of(SETTINGS, rounds) if job.kind != "explain"]
    assert jobs == [Job("time", 0, 0, SETTINGS.sanity, ("gae",), {"runtime": {}})]


def job(**changes: Any) -> Job:
    """A job, or one that differs from it."""
    facts: dict[str, Any] = {
        "kind": "measure",
        "shard": 0,
        "first": 0,
        "last": 4,
        "methods": ("gae",),
        "metrics": {"aopc": {}},
    }
    return Job(**(facts | changes))  # fmt: skip


def test_the_name_of_a_job_is_that_of_its_file_in_folders_that_exist() -> None:
    assert job().name == "measure-00000-0846282f"
    assert (
        job(metrics={"aopc": {"levels": (1.0,)}}).name
        == job(metrics={"aopc": {"levels": [1.0]}}).name
    )


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "explain"},
        {"shard": 1},
        {"methods": ("gae", "random")},
        {"metrics": {"aopc": {"change": "mask"}}},
        {"roles": ("own",)},
    ],
)
def test_different_jobs_have_different_names(change: dict[str, Any]) -> None:
    assert job(**change).name != job().name
