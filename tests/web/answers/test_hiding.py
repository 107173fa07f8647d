"""Hidden tokens leave the probability that a shorter input has."""

import pytest

import headlight
from headlight import Batch, Model, Target
from tests.known import known
from tests.web.asking import QUESTIONS, TEXT
from tests.web.sites import Site


def probability(model: Model, ids: list[int], label: str, seen: list[int] | None = None) -> float:
    """What the model gives a label on these ids."""
    batch = Batch.from_ids([ids], None if seen is None else [seen])
    return headlight.explain(model, batch, "random", Target(label=label)).target.probability


@pytest.mark.parametrize("change", ["delete", "mask", "pad"])
@pytest.mark.parametrize("hidden", [[], [2], [2, 4], [1, 2, 3, 4, 5]])
def test_hidden_tokens_leave_what_a_shorter_input_gives(
    page: Site, sentiment: Model, change: str, hidden: list[int]
) -> None:
    found = page.answer("hide", model="sentiment", text=TEXT, hidden=hidden, change=change)
    ids = known(sentiment.tokenizer)(TEXT)["input_ids"]
    kept, seen = ids, None
    if change == "delete":
        kept = [i for p, i in enumerate(ids) if p not in hidden]
    else:
        stands = {"mask": known(sentiment.tokenizer).mask_token_id, "pad": sentiment.pad_id}[change]
        kept = [stands if p in hidden else i for p, i in enumerate(ids)]
        seen = [int(change == "mask" or p not in hidden) for p in range(len(ids))]
    assert found["label"] == "negative"
    assert found["before"] == pytest.approx(probability(sentiment, ids, "negative"), abs=1e-5)
    after = probability(sentiment, kept, "negative", seen)
    assert found["after"] == pytest.approx(after, abs=1e-5)
    assert found["predicted"] == ("negative" if after > 0.5 else "positive")


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "rater"])
def test_tokens_can_be_hidden_for_every_task_with_probabilities(page: Site, name: str) -> None:
    asked = {"model": name, **QUESTIONS[name]}
    explained = page.answer("explain", **asked, methods=["grads"])
    said, data = explained["prediction"], explained["attributions"][0]["data"]
    read_at = data["target"]["positions"]
    free = [p for p, s in enumerate(data["is_special"]) if not s and p not in read_at]
    found = page.answer("hide", **asked, hidden=free[:2])
    assert found["label"] == said["explained"]
    assert found["before"] == pytest.approx(said["probability"], abs=1e-5)
    assert 0 <= found["after"] <= 1
    assert (found["predicted"] is None) == (name == "reader")


def test_the_probability_of_another_target_can_be_watched(page: Site) -> None:
    asked = {"model": "sentiment", "text": TEXT, "hidden": [2]}
    one = page.answer("hide", **asked, target="positive")
    other = page.answer("hide", **asked, target="negative")
    assert one["before"] + other["before"] == pytest.approx(1)
    assert one["after"] + other["after"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("sentiment", [0]),
        ("sentiment", [1, 99]),
        ("sentiment", [-2]),
        ("sentiment", [10**30]),
        ("filler", [4]),
    ],
)
def test_special_outside_and_decided_tokens_cannot_be_hidden(
    page: Site, name: str, hidden: list[int]
) -> None:
    status, sentence = page.refusal("hide", model=name, **QUESTIONS[name], hidden=hidden)
    assert status == 400
    assert f"the tokens at {hidden[-1]} cannot be removed" in sentence


def test_a_number_has_no_probability_that_could_fall(page: Site) -> None:
    asked = {"model": "rater", "text": TEXT}
    for path, more in (("hide", {"hidden": [1]}), ("curves", {"methods": ["attcat"]})):
        status, sentence = page.refusal(path, **asked, **more)
        assert status == 400
        assert sentence == "tiny rater predicts a number, so there is no probability to watch."
