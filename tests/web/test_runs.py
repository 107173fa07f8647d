"""Evaluation runs as the results page reads them."""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

import headlight
from headlight import Example, Model, open_run
from headlight.evaluation.results import Results
from tests.conftest import WORDS
from tests.web.sites import Site, refused, site

LABELS = ("negative", "neutral", "positive")
METHODS = ["random", "attcat", "rollout"]
METRICS = ["aopc", "hiding"]


def examples(count: int) -> list[Example]:
    """Texts of different lengths; the last is one word, of which there is no order."""
    plain = [word for word in WORDS if word.isalpha()]
    made = [
        " ".join(plain[(n * 7 + k * 5) % len(plain)] for k in range(4 + n))
        for n in range(count - 1)
    ]
    return [Example(text, LABELS[n % 3]) for n, text in enumerate([*made, "film"])]


@pytest.fixture(scope="module")
def folder(classifier: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "first run"
    headlight.evaluate(classifier, examples(6), METHODS, METRICS, out=path, shard=2, threads=1)
    return path


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return open_run(folder)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Site]:
    with site(runs={"first run": folder}) as found:
        yield found


def test_the_overview_is_what_the_run_found(served: Site, results: Results) -> None:
    found = served.get("/api/runs/first run").json()
    assert found["name"] == "first run"
    assert found["model"] == "tiny classifier"
    assert (found["count"], found["missing"], found["failures"]) == (6, 0, 0)
    assert found["accuracy"] == pytest.approx(results.accuracy)
    assert found["methods"] == METHODS
    assert found["metrics"] == found["curved"] == METRICS
    assert [row["better"] for row in found["table"]] == ["higher", "lower"]
    for row in found["table"]:
        assert [cell["method"] for cell in row["cells"]] == METHODS
        for cell in row["cells"]:
            expected = results.summary(row["metric"], cell["method"])
            assert cell["mean"] == pytest.approx(expected.mean)
            assert (cell["low"], cell["high"]) == pytest.approx((expected.low, expected.high))
            assert cell["count"] == expected.count
            assert cell["best"] == (cell["method"] == results.best(row["metric"]))


def test_curves_are_the_means_of_the_run(served: Site, results: Results) -> None:
    for metric, points in (("aopc", 10), ("hiding", 11)):
        found = served.get("/api/runs/first run/curves", metric=metric).json()
        assert found["metric"] == metric
        assert found["x"]
        assert found["y"]
        assert [curve["method"] for curve in found["curves"]] == METHODS
        for curve in found["curves"]:
            levels, means = results.curve(metric, curve["method"])
            assert len(curve["levels"]) == len(curve["means"]) == points
            np.testing.assert_allclose(curve["levels"], levels)
            np.testing.assert_allclose(curve["means"], means)


def by_hand(results: Results, first: str, second: str) -> dict[int, float]:
    """1 − Spearman's ρ of the ordinary tokens of every example."""
    scores: dict[str, dict[int, np.ndarray]] = {first: {}, second: {}}
    for record in results.attributions.to_pylist():
        if record["role"] == "own" and record["method"] in scores:
            kept = [
                score
                for score, special in zip(record["scores"], record["special"], strict=True)
                if not special
            ]
            scores[record["method"]][record["example"]] = np.array(kept)
    found = {}
    for number, left in scores[first].items():
        right = scores[second][number]
        is_ordered = len(set(left)) > 1 and len(set(right)) > 1
        rho = np.corrcoef(rankdata(left), rankdata(right))[0, 1] if is_ordered else 0.0
        found[number] = 1 - float(rho)
    return found


@pytest.mark.parametrize(("first", "second"), [("attcat", "rollout"), ("random", "attcat")])
def test_examples_come_in_the_order_of_disagreement(
    served: Site, results: Results, first: str, second: str
) -> None:
    found = served.get("/api/runs/first run/examples", first=first, second=second).json()
    expected = by_hand(results, first, second)
    assert found["total"] == len(found["examples"]) == 6
    gaps = [each["disagreement"] for each in found["examples"]]
    assert gaps == sorted(gaps, reverse=True)
    for each in found["examples"]:
        assert each["disagreement"] == pytest.approx(expected[each["number"]], abs=1e-4)
    assert {each["number"] for each in found["examples"]} == set(range(6))


def test_examples_show_both_methods_on_the_same_tokens(served: Site, classifier: Model) -> None:
    given = examples(6)
    found = served.get("/api/runs/first run/examples", first="attcat", second="rollout").json()
    for each in found["examples"]:
        text = given[each["number"]].text
        assert each["gold"] == given[each["number"]].label
        for name, shown in (("attcat", each["first"]), ("rollout", each["second"])):
            expected = headlight.explain(classifier, text, name)
            assert [piece["text"] for piece in shown] == list(expected.tokens)
            np.testing.assert_allclose(
                [piece["score"] for piece in shown], expected.scores, rtol=1e-4, atol=1e-6
            )
            assert each["predicted"] == each["label"] == expected.target.label
            shares = [abs(piece["share"]) for piece in shown if not piece["special"]]
            assert max(shares) == pytest.approx(1, abs=1e-3)


def test_labels_are_called_as_in_the_data_however_the_model_counts_them(
    classifier: Model, tmp_path: Path
) -> None:
    names = ("positive", "negative", "neutral")
    given = [Example(example.text, n % 3) for n, example in enumerate(examples(4))]
    headlight.evaluate(
        classifier, given, ["attcat"], ["aopc"], out=tmp_path, labels=names, threads=1
    )
    with site(runs={"run": tmp_path}) as page:
        found = page.get("/api/runs/run/examples", first="attcat", second="attcat").json()
    assert {each["number"]: each["gold"] for each in found["examples"]} == {
        0: "positive",
        1: "negative",
        2: "neutral",
        3: "positive",
    }


def test_a_method_agrees_with_itself(served: Site) -> None:
    found = served.get("/api/runs/first run/examples", first="attcat", second="attcat").json()
    gaps = {each["number"]: each["disagreement"] for each in found["examples"]}
    assert gaps.pop(5) == 1
    assert all(gap == pytest.approx(0, abs=1e-9) for gap in gaps.values())


def test_examples_come_in_pages(served: Site) -> None:
    def numbers(**more: int) -> list[int]:
        asked = {"first": "attcat", "second": "rollout", **more}
        found = served.get("/api/runs/first run/examples", **asked).json()
        assert found["total"] == 6
        return [each["number"] for each in found["examples"]]

    whole = numbers()
    assert numbers(limit=2) == whole[:2]
    assert numbers(offset=2, limit=3) == whole[2:5]
    assert numbers(offset=5, limit=100) == whole[5:]
    assert numbers(offset=10**30) == []


@pytest.mark.parametrize(
    ("path", "asked", "status", "part"),
    [
        ("second", {}, 404, "no run on this server named 'second'. Known: first run."),
        ("..%2f..%2fetc", {}, 404, "."),
        ("first run/curves", {"metric": "aops"}, 404, "Did you mean 'aopc'?"),
        ("first run/curves", {}, 422, "metric: Field required"),
        ("none/curves", {"metric": "aopc"}, 404, "no run on this server"),
        ("first run/examples", {"first": "attcat", "second": "gae"}, 404, "named 'gae'"),
        ("first run/examples", {"first": "gae", "second": "attcat"}, 404, "named 'gae'"),
        ("first run/examples", {"first": "attcat"}, 422, "second: Field required"),
        (
            "first run/examples",
            {"first": "attcat", "second": "rollout", "limit": 101},
            422,
            "limit: Input should be less than or equal to 100",
        ),
        (
            "first run/examples",
            {"first": "attcat", "second": "rollout", "offset": -1},
            422,
            "offset: Input should be greater than or equal to 0",
        ),
    ],
)
def test_what_is_not_in_the_run_is_refused_in_a_sentence(
    served: Site, path: str, asked: dict[str, object], status: int, part: str
) -> None:
    found, sentence = refused(served.get(f"/api/runs/{path}", **asked))
    assert found == status
    assert part in sentence


def test_a_run_that_grows_is_read_anew(classifier: Model, folder: Path, tmp_path: Path) -> None:
    growing = tmp_path / "growing"
    shutil.copytree(folder, growing)
    taken = sorted((growing / "parts").glob("*.parquet"))
    for part in taken:
        part.rename(tmp_path / part.name)
    asked = {"first": "attcat", "second": "rollout"}
    with site(runs={"growing": growing}) as page:
        empty = page.get("/api/runs/growing").json()
        assert (empty["methods"], empty["table"]) == ([], [])
        assert empty["missing"] == len(taken)
        assert empty["accuracy"] is None
        totals = []
        for part in taken:
            (tmp_path / part.name).rename(part)
            response = page.get("/api/runs/growing/examples", **asked)
            totals.append(response.json()["total"] if response.status_code == 200 else 0)
        assert totals[-1] == 6
        assert totals == sorted(totals)
        assert len(set(totals)) > 2
        assert page.get("/api/runs/growing").json()["missing"] == 0
        headlight.evaluate(
            classifier, examples(6), ["gae"], METRICS, out=growing, shard=2, threads=1
        )
        assert "gae" in page.get("/api/runs/growing").json()["methods"]


def test_several_runs_are_kept_apart(classifier: Model, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    unlabelled = [Example(example.text) for example in examples(3)]
    headlight.evaluate(classifier, unlabelled, ["gae"], ["aopc"], out=other, threads=1)
    with site(runs={"first run": folder, "other": other}) as page:
        assert page.get("/api/about").json()["runs"] == ["first run", "other"]
        assert page.get("/api/runs/other").json()["methods"] == ["gae"]
        assert page.get("/api/runs/first run").json()["methods"] == METHODS
        found = page.get("/api/runs/other/examples", first="gae", second="gae").json()
        assert [each["gold"] for each in found["examples"]] == [None] * 3
        assert page.get("/api/runs/other").json()["accuracy"] is None
        assert math.isnan(open_run(other).accuracy)


def test_a_run_that_is_taken_away_is_told_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    leaving = tmp_path / "leaving"
    shutil.copytree(folder, leaving)
    with site(runs={"leaving": leaving}) as page:
        assert page.get("/api/runs/leaving").status_code == 200
        shutil.rmtree(leaving)
        status, sentence = refused(page.get("/api/runs/leaving"))
        assert status == 400
        assert "there is no run in" in sentence
