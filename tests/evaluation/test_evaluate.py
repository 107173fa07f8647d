"""A run from end to end: what it finds, how it goes on, and what it refuses."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
import torch

import headlight
from headlight import Example, InvalidInput, InvalidOption, Model, Target, open_run
from headlight.batch import encode
from headlight.evaluation import evaluate as module
from headlight.evaluation.folder import open_folder
from headlight.evaluation.local import run_local
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.records import from_bytes, to_bytes
from headlight.evaluation.request import DEFAULT_METHODS, DEFAULT_METRICS, Request
from headlight.evaluation.standings import agreements
from headlight.explaining.conservation import conservation, modified_sums
from headlight.metrics import METRICS
from headlight.shapes import Scores
from headlight.trace.trace import Trace
from tests.known import known

METHODS = ["random", "attcat", "rollout"]
USUAL: dict[str, Any] = {"shard": 4, "sanity": 3, "threads": 1}
FEW = ["aopc", "hiding", "rationale"]


def flipped(part: bytes) -> bytes:
    """One bit, in the middle."""
    place = len(part) // 2
    return part[:place] + bytes([part[place] ^ 4]) + part[place + 1 :]


def cut(part: bytes) -> bytes:
    """The first half."""
    return part[: len(part) // 2]


def emptied(_part: bytes) -> bytes:
    """Nothing."""
    return b""


def halved(part: bytes) -> bytes:
    """A good file with half of the rows."""
    rows = from_bytes(part)
    return to_bytes(rows.slice(0, rows.num_rows // 2))


def doubled(part: bytes) -> bytes:
    """A good file with the rows twice, and the same facts in its footer."""
    rows = from_bytes(part)
    return to_part(pyarrow.concat_tables([rows, rows]))


def of_another_kind(_part: bytes) -> bytes:
    """A good file with other columns."""
    return to_part(pyarrow.table({"x": [1]}))


DAMAGES = (flipped, cut, emptied, halved, doubled, of_another_kind)


def parts(path: Path) -> dict[str, bytes]:
    """The finished parts of a run, byte for byte."""
    return {p.name: p.read_bytes() for p in sorted((path / "parts").iterdir())}


@pytest.fixture(scope="module")
def finished(
    classifier: Model, examples: list[Example], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run without interruption."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    headlight.evaluate(classifier, examples, METHODS, FEW, out=path, **USUAL)
    return path


@pytest.mark.slow
def test_every_metric_that_fits_measures_every_method(
    classifier: Model, examples: list[Example]
) -> None:
    names = [name for name in METRICS if not {"answers", "sources"} & METRICS[name].needs]
    found = headlight.evaluate(
        classifier, examples, [*METHODS, "lrp"], names, rivals=[classifier.name], **USUAL
    )
    assert found.methods == [*METHODS, "lrp"]
    assert {name.split(".")[0] for name in found.metrics} == set(names)
    for metric in found.metrics:
        known = found.summary(metric, "lrp")
        assert known.count > 0, metric
        assert not math.isnan(known.mean), metric
    assert found.failures == {}
    assert 0 <= found.accuracy <= 1


def test_scores_are_those_of_explain(
    classifier: Model, examples: list[Example], finished: Path
) -> None:
    records = open_run(finished).attributions.to_pylist()
    kept = {r["example"]: r for r in records if r["method"] == "attcat"}
    for number, example in enumerate(examples):
        expected = headlight.explain(classifier, example.text, "attcat")
        np.testing.assert_allclose(kept[number]["scores"], expected.scores, rtol=1e-4, atol=1e-6)
        assert tuple(kept[number]["tokens"]) == expected.tokens
        assert kept[number]["probability"] == pytest.approx(expected.target.probability, abs=1e-5)


def test_aopc_is_what_single_passes_give(
    classifier: Model, examples: list[Example], finished: Path
) -> None:
    values = open_run(finished).values("aopc", "attcat")
    for number in (0, 3):
        whole = headlight.explain(classifier, examples[number].text, "attcat")
        order = [p for p in np.argsort(-whole.scores, kind="stable") if not whole.is_special[p]]
        ids = known(classifier.tokenizer)(examples[number].text)["input_ids"]
        label = list(classifier.labels.values()).index(whole.target.label)
        falls = []
        for level in range(1, 11):
            count = math.floor(level / 10 * len(order) + 0.5)
            kept = [i for p, i in enumerate(ids) if p not in order[:count]]
            target = headlight.Target(label=label, output="probability")
            left = headlight.explain(classifier, headlight.Batch.from_ids([kept]), "random", target)
            falls.append(whole.target.probability - left.target.probability)
        assert values[number] == pytest.approx(np.mean(falls), abs=1e-5)


def test_a_run_that_stopped_goes_on_and_ends_with_the_same_bytes(
    classifier: Model, examples: list[Example], finished: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(finished, again)
    whole = parts(finished)
    names = sorted(whole)
    (again / "parts" / names[0]).unlink()
    (again / "parts" / names[-1]).unlink()
    (again / "parts" / f".{names[-1]}.0123456789abcdef.tmp").write_bytes(b"half")
    before = {p.name: p.stat().st_mtime_ns for p in (again / "parts").iterdir()}
    headlight.evaluate(classifier, examples, METHODS, FEW, out=again, **USUAL)
    assert parts(again) == whole
    assert all((again / "parts" / n).stat().st_mtime_ns == before[n] for n in names[1:-1])


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_parts_are_computed_again(
    damage: Callable[[bytes], bytes],
    classifier: Model,
    examples: list[Example],
    finished: Path,
    tmp_path: Path,
) -> None:
    again = tmp_path / "again"
    shutil.copytree(finished, again)
    for name in sorted(parts(again))[::3]:
        (again / "parts" / name).write_bytes(damage((again / "parts" / name).read_bytes()))
    with pytest.raises(
        InvalidInput, match=r"2 of 6 parts in .* damaged.* evaluate … --out .* again"
    ):
        open_run(again)
    (again / "examples.parquet").write_bytes(damage((again / "examples.parquet").read_bytes()))
    found = headlight.evaluate(classifier, examples, METHODS, FEW, out=again, **USUAL)
    assert parts(again) == parts(finished)
    assert found.missing == 0
    assert (again / "examples.parquet").read_bytes() == (finished / "examples.parquet").read_bytes()


def test_files_that_are_not_ours_survive_a_run(
    classifier: Model, examples: list[Example], tmp_path: Path
) -> None:
    theirs = {
        ".env": "S", ".gitignore": "*", "sub/.bashrc": "x", ".notes.1234": "y", "locks/.keep": "z", "text": "t"
    }  # fmt: skip
    for name, content in theirs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    for _ in range(2):
        headlight.evaluate(classifier, examples, ["random"], ["aopc"], out=tmp_path, **USUAL)
        assert all((tmp_path / n).read_text(encoding="utf-8") == c for n, c in theirs.items())


@pytest.mark.parametrize("name", ["parts/chapter.txt", "examples.parquet"])
def test_a_folder_whose_files_are_in_the_way_is_refused(
    name: str, classifier: Model, examples: list[Example], tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("dear", encoding="utf-8")
    with pytest.raises(
        InvalidInput, match=r"but no manifest\.json, so it is not clear of which run"
    ):
        headlight.evaluate(classifier, examples, ["random"], ["aopc"], out=tmp_path, **USUAL)
    assert (tmp_path / name).read_text(encoding="utf-8") == "dear"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]


def test_methods_and_metrics_can_be_added_without_explaining_anew(
    classifier: Model, examples: list[Example], finished: Path, tmp_path: Path
) -> None:
    again = tmp_path / "more"
    shutil.copytree(finished, again)
    known = parts(again)
    found = headlight.evaluate(
        classifier, examples, [*METHODS, "gae"], [*FEW, "log_odds"], out=again, **USUAL
    )
    fresh = set(parts(again)) - set(known)
    explained = [
        open_folder(again).part(j).name for j in open_folder(again).jobs if j.kind == "explain"
    ]
    assert {n for n in fresh if n.startswith("explain")} < set(explained)
    assert set(found.attributions.column("method").to_pylist()) == {*METHODS, "gae"}
    assert all(found.summary("log_odds", m).count == len(examples) for m in found.methods)
    assert all(parts(again)[name] == content for name, content in known.items())
    alone = headlight.evaluate(classifier, examples, ["gae"], ["aopc"], **USUAL)
    np.testing.assert_array_equal(alone.values("aopc", "gae"), found.values("aopc", "gae"))


def test_two_workers_share_a_folder(
    classifier: Model, examples: list[Example], finished: Path, tmp_path: Path
) -> None:
    again = tmp_path / "shared"
    shutil.copytree(finished, again)
    for path in (again / "parts").iterdir():
        path.unlink()
    folder = open_folder(again)
    busy = folder.jobs[0]
    done: list[Job] = []
    with folder.locked(busy.name) as is_ours, folder.locked(busy.name) as is_theirs:
        assert is_ours
        assert not is_theirs
    run_local(folder, lambda _: classifier, done.append)
    assert len(done) == len(folder.jobs)
    assert parts(again) == parts(finished)


def test_a_row_that_fails_is_reported_and_the_run_goes_on(
    classifier: Model, examples: list[Example]
) -> None:
    broken = [*examples[:3], Example("   ", "neutral"), *examples[3:5]]
    found = headlight.evaluate(classifier, broken, ["attcat"], ["aopc"], **USUAL)
    assert list(found.failures) == [3]
    assert "empty or only spaces" in found.failures[3]
    assert found.summary("aopc", "attcat").count == 5


def test_a_method_that_fails_on_a_row_takes_nothing_else_with_it(
    classifier: Model, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    attcat = headlight.METHODS["attcat"]
    longest = max(len(str(e.text).split()) for e in examples)

    def broken(trace: Trace) -> Scores:
        scores = attcat.function(trace)
        return torch.where(trace.inputs.lengths[:, None] >= longest + 2, torch.nan, scores)

    monkeypatch.setitem(headlight.METHODS.entries, "attcat", replace(attcat, function=broken))
    found = headlight.evaluate(classifier, examples, ["attcat", "gae"], ["aopc"], **USUAL)
    bad = [n for n, e in enumerate(examples) if len(str(e.text).split()) == longest]
    assert set(found.failures) >= set(bad)
    assert all("'attcat' gives NaN" in reason for reason in found.failures.values())
    assert found.summary("aopc", "attcat").count == len(examples) - len(found.failures)
    assert found.summary("aopc", "gae").count == len(examples)


def test_answers_are_found_by_readers(reader: Model) -> None:
    items = [
        Example(
            ("who is it", "the film is a charming journey"), answers=("charming journey", "film")
        ),
        Example(("what", "a bad plot"), answers=("not there",)),
    ]
    found = headlight.evaluate(
        reader, items, ["gae"], ["precision_at_k", "recall_at_k", "aopc"], **USUAL
    )
    assert found.summary("recall_at_k", "gae").mean == 1
    assert found.summary("recall_at_k", "gae").passed_over == 1
    assert found.summary("aopc", "gae").count == 2


def test_the_right_class_can_be_explained(classifier: Model, examples: list[Example]) -> None:
    found = headlight.evaluate(classifier, examples, ["attcat"], ["aopc"], explain="gold", **USUAL)
    labels = found.attributions.column("label").to_pylist()
    assert labels == [example.label for example in examples]


def test_the_cost_is_estimated_without_a_folder(classifier: Model, examples: list[Example]) -> None:
    request = Request(classifier, examples, METHODS, FEW, shard=4, sanity=3)
    jobs, cost, settings = module.preview(request)
    assert [job.kind for job in jobs] == ["explain"] * 3 + ["measure"] * 3
    assert cost.attributions == settings.count * len(METHODS)
    assert cost.probes > cost.unique > 0
    assert cost.seconds > 0


def test_the_cost_of_a_run_is_estimated_with_nothing_but_a_model_and_data(
    folder_model: str, table_file: Path, examples: list[Example]
) -> None:
    jobs, cost, settings = module.preview(Request(folder_model, f"{table_file}:text,label"))
    assert settings.count == len(examples)
    assert [job.kind for job in jobs] == ["explain", "measure"]
    assert jobs[0].methods == DEFAULT_METHODS
    assert tuple(jobs[1].metrics) == DEFAULT_METRICS
    assert cost.attributions == len(examples) * len(DEFAULT_METHODS)
    assert torch.get_num_threads() == settings.threads


def test_every_argument_reaches_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(module, "run", asked.append)
    parameters = signature(headlight.evaluate).parameters
    assert list(parameters) == [field.name for field in fields(Request)]
    given: dict[str, Any] = {name: name for name in parameters}
    given |= {"explain": "gold", "engine": "ray", "sanity": 3, "shard": 5}
    headlight.evaluate(**given)
    assert vars(asked[0]) == given
    headlight.evaluate("m", "d")
    assert vars(asked[1]) == vars(Request("m", "d"))


def test_the_folder_of_another_run_is_refused(
    classifier: Model, examples: list[Example], finished: Path
) -> None:
    with pytest.raises(InvalidOption, match=r"results of another run \(data_hash"):
        headlight.evaluate(classifier, examples[::-1], METHODS, FEW, out=finished, **USUAL)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no run in"):
        open_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_run(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 99}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="format 99"):
        open_run(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be made a folder"):
        headlight.evaluate(
            "sentiment", [Example("a film", 1)], ["random"], ["aopc"], out=tmp_path / "file"
        )


def test_a_full_disk_loses_nothing(
    classifier: Model, examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = {"after": 6}  # a file and its folder, three times: manifest, examples, one part

    def fsync(_descriptor: int) -> None:
        full["after"] -= 1
        if full["after"] < 0:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("headlight.files.storage.os.fsync", fsync)
    with pytest.raises(InvalidInput, match="No space left on device"):
        headlight.evaluate(classifier, examples, METHODS, FEW, out=tmp_path / "run", **USUAL)
    monkeypatch.undo()
    assert len(parts(tmp_path / "run")) == 1
    found = headlight.evaluate(classifier, examples, METHODS, FEW, out=tmp_path / "run", **USUAL)
    assert found.missing == 0


def test_the_curve_of_all_examples_follows_the_options(
    classifier: Model, examples: list[Example]
) -> None:
    sizes = {"token_overlap": {"sizes": [1, 2]}}
    found = headlight.evaluate(
        classifier, examples, ["attcat"], ["token_overlap"], metric_settings=sizes, **USUAL
    )
    levels, curve = found.curve("token_overlap", "attcat")
    assert levels.tolist() == [1, 2]
    assert np.mean(curve) == pytest.approx(found.summary("token_overlap", "attcat").mean)


def test_words_of_classes_are_weighed_by_the_documents_of_the_run(
    finished: Path, tmp_path: Path
) -> None:
    found = open_run(finished)
    (_, (common, weight), *_), *_ = found.words("attcat").values()
    counts = tmp_path / "counts.tsv"
    counts.write_text(f"# documents\t1000\n{common}\t1000\n", encoding="utf-8")
    weighed = replace(found, corpus={"token_overlap": {"documents": str(counts)}})
    again = dict(next(iter(weighed.words("attcat", 10_000).values())))
    examples = found.type_scores["attcat"].examples
    seen, total = sum(common in each.tokens for each in examples), len(examples)
    assert again[common] == pytest.approx(weight / (math.log((1 + total) / (1 + seen)) + 1))


def test_variants_of_a_method_are_measured_side_by_side(
    classifier: Model, examples: list[Example], tmp_path: Path
) -> None:
    names = ["cat", "cat:variant=released"]
    found = headlight.evaluate(classifier, examples, names, ["aopc"], out=tmp_path, **USUAL)
    assert list(found.methods) == names
    for name, variant in zip(names, ("paper", "released"), strict=True):
        alone = headlight.evaluate(
            classifier, examples, ["cat"], ["aopc"], variant=variant, **USUAL
        )
        assert found.summary("aopc", name).mean == alone.summary("aopc", "cat").mean
    assert found.summary("aopc", names[0]) != found.summary("aopc", names[1])
    assert list(open_run(tmp_path).methods) == names


@pytest.mark.parametrize(
    ("variant", "options", "presets"),
    [
        ("paper", {}, {"lrp": "chefer", "lrp:preset=epsilon": "epsilon", "attn_lrp": "attn_lrp"}),
        ("paper", {"preset": "epsilon"}, {"lrp": "epsilon", "lrp:preset=attn_lrp": "attn_lrp"}),
        ("released", {}, {"lrp": "chefer_released", "attn_lrp": "attn_lrp"}),
        ("paper", {}, {"lrp": "chefer", "lrp:variant=released": "chefer_released"}),
    ],
)
def test_conservation_is_measured_by_the_rules_of_each_method(
    writer: Model, variant: str, options: dict[str, str], presets: dict[str, str]
) -> None:
    text = "the keys to the cabinet"
    found = headlight.evaluate(
        writer, [Example(text)], list(presets), ["conservation"], variant=variant,
        options=options, **USUAL,
    )  # fmt: skip
    for method, preset in presets.items():
        if method == "attn_lrp":  # a modified gradient, unlike the preset of `lrp` by this name
            rows = encode([text], writer.tokenizer)  # type: ignore[arg-type]
            found_sums = modified_sums(writer, rows, [Target()], preset)[0]
        else:
            found_sums = conservation(writer, text, preset=preset)
        sums = np.array(found_sums)
        expected = pytest.approx(np.abs(sums - 1).max(), rel=1e-4, abs=2**-23)  # kept in 32 bits
        assert found.summary("conservation", method).mean == expected, method


NEW = ["naopc", "naopc@mask", "soft_sufficiency", "lds", "pointing", "aopc", "aopc@mask", "passes"]


def test_methods_that_are_added_later_have_the_values_of_those_measured_together(
    classifier: Model, examples: list[Example], tmp_path: Path
) -> None:
    methods, examples, few = ["attcat", "gae", "random"], examples[:5], {**USUAL, "sanity": 2}
    together = headlight.evaluate(classifier, examples, methods, NEW, **few)
    for method in methods:
        later = headlight.evaluate(classifier, examples, [method], NEW, out=tmp_path, **few)
    assert later.methods == methods
    for metric in together.metrics:
        for method in methods:
            expected = together.values(metric, method)
            assert later.values(metric, method) == pytest.approx(expected, abs=1e-4, nan_ok=True)
    assert together.summary("passes", "random").mean == pytest.approx(1, abs=0.01)
    assert 1.9 < together.summary("passes", "attcat").mean < 2.3
    assert [(each.first, each.second) for each in agreements(together)] == [
        ("naopc", "naopc@mask"),
        ("aopc", "aopc@mask"),
    ]
    assert all(math.isfinite(together.summary(name, "gae").mean) for name in together.metrics)
