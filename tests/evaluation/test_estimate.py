"""What a run will cost, from a few of its examples."""

import pytest

from headlight import Example, Model
from headlight.evaluation import estimate as module
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.estimate import Cost, estimate, of_every_length
from headlight.evaluation.settings import Settings
from headlight.metrics.case import Metrics

METRICS: Metrics = {"aopc": {}, "hiding": {}}


def cost(model: Model, examples: list[Example], methods: list[str], metrics: Metrics) -> Cost:
    settings = Settings(model.name, "f", "made up", "h", len(examples))
    return estimate(settings, lambda _: model, examples, methods, metrics)


def test_a_small_run_is_counted_exactly(classifier: Model) -> None:
    same = [Example("a charming journey", "positive")] * 5
    found = cost(classifier, same, ["random", "AttCAT"], {"aopc": {}})
    assert found.attributions == 5 * 2
    assert found.probes == 5 * 2 * 11
    assert 1 < found.unique <= found.probes / 5
    assert found.tokens > found.unique
    assert found.seconds == found.explain_seconds + found.measure_seconds > 0


def test_roles_are_counted_and_what_few_examples_have_is_not(
    classifier: Model, examples: list[Example]
) -> None:
    plain = cost(classifier, examples, ["attcat"], {"aopc": {}})
    with_roles = cost(classifier, examples, ["attcat"], {"aopc": {}, "kendall_confidence": {}})
    assert with_roles.attributions == 2 * plain.attributions == 2 * len(examples)
    slow: Metrics = {
        name: {} for name in ("aopc", "randomisation", "conservation", "runtime", "token_overlap")
    }
    assert cost(classifier, examples, ["attcat"], slow).attributions == len(examples)


def test_the_few_that_are_run_stand_for_all_by_their_length(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAMPLED", 2)
    seen: list[int] = []

    def watched(*given: object) -> object:
        seen.append(len(given[4]))  # type: ignore[arg-type]
        return explain_shard(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "explain_shard", watched)
    many = [Example("a film", "neutral")] * 30
    found = cost(classifier, many, ["random"], {"aopc": {}})
    assert seen == [2, 2]
    assert found.attributions == 30
    assert found.probes == 30 * 11


@pytest.mark.parametrize("count", [1, 5, 32, 33, 1000])
def test_examples_of_every_length_are_chosen(count: int) -> None:
    sizes = [(n * 7919) % count for n in range(count)]
    chosen = of_every_length(sizes)
    assert len(chosen) == len(set(chosen)) == min(count, module.SAMPLED)
    lengths = sorted(sizes[n] for n in chosen)
    assert lengths[0] <= count / module.SAMPLED
    assert lengths[-1] >= count - 1 - count / module.SAMPLED
