"""Heads are learned, shown and used."""

from pathlib import Path

import pytest

from headlight import HeadMask, Model
from headlight.cli.heads import corpus, spread
from headlight.heads import HeadStatistics, learn
from headlight.heads.synthetic_corpus import made_up_corpus
from tests.cli.commands import run


@pytest.mark.slow
def test_heads_are_learned_shown_and_used(tmp_path: Path) -> None:
    texts, mask, counts = (tmp_path / name for name in ("t.txt", "m.safetensors", "s.safetensors"))
    texts.write_text("The young doctor quickly sold an old clock.\nThe critic admired the film.\n")
    found = run("heads", "learn", "-d", str(texts), "-o", str(mask), "--statistics", str(counts))
    assert "of 72 heads" in found
    for source in (mask, counts, "sentiment"):
        assert "parser: headlight" in run("heads", "show", str(source))
    assert run("heads", "sweep", str(counts)).count("\n") == 31
    assert "nsubj" in run("heads", "relations", str(counts))
    assert "1.00" in run("heads", "compare", str(mask), str(counts))
    assert "with as many other texts" in run("heads", "sizes", "-d", str(texts), "--parts", "2")
    for name in ("show", "sweep", "relations"):
        run("heads", name, str(counts), "--picture", str(tmp_path / f"{name}.svg"))
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "mask_lrp" in run("explain", "a charming film", "-a", "mask_lrp", "-O", f"mask={mask}")


@pytest.fixture(scope="module")
def counts(classifier: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Counts of a small model on a few parses."""
    path = tmp_path_factory.mktemp("counts") / "s.safetensors"
    learn(classifier, list(made_up_corpus(8)), name="made up").save(path)
    return str(path)


@pytest.fixture
def parses(tmp_path: Path) -> str:
    """Six sentences in CoNLL-U."""
    path = tmp_path / "p.conllu"
    words = [
        "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_",
        "2\tfilm\t_\t_\t_\t_\t3\tnsubj\t_\t_",
        "3\tis\t_\t_\t_\t_\t0\troot\t_\t_",
    ]
    path.write_text(("\n".join(words) + "\n\n") * 6, encoding="utf-8")
    return str(path)


def test_heads_of_parses_are_learned_and_drawn(folder: str, parses: str, tmp_path: Path) -> None:
    mask, counts, picture = (
        tmp_path / name for name in ("m.safetensors", "s.safetensors", "h.svg")
    )
    shown = run(
        "heads", "learn", "-d", parses, "-m", folder, "-o", str(mask), "--statistics", str(counts),
        "--picture", str(picture),
    )  # fmt: skip
    assert "of 12 heads" in shown
    assert HeadStatistics.load(counts).facts["corpus"] == "p.conllu"
    assert HeadMask.load(mask).heads.shape == (3, 4)
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_a_mask_is_shown_with_what_it_was_learned_from(counts: str, tmp_path: Path) -> None:
    shown = run("heads", "show", counts, "--positional", "1", "--syntactic", "1")
    assert "0 of 12 heads" in shown
    assert "corpus: made up" in shown
    assert "model: tiny classifier" in shown
    picture = tmp_path / "map.png"
    run("heads", "show", counts, "--picture", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_relations_say_where_dependents_stand_and_which_head_follows_them(
    counts: str, tmp_path: Path
) -> None:
    shown = run("heads", "relations", counts, "--picture", str(tmp_path / "r.svg"))
    (line,) = [each for each in shown.splitlines() if each.strip().startswith("nsubj ")]
    found = HeadStatistics.load(counts)
    pairs = int(found.pairs[found.relations.index("nsubj")])
    assert line.split()[1] == str(pairs)
    assert f"{float(found.frequency('nsubj').max()):.2f} by " in line
    assert (tmp_path / "r.svg").exists()


def test_other_thresholds_are_compared_with_the_usual_ones(counts: str, tmp_path: Path) -> None:
    shown = run("heads", "sweep", counts, "--picture", str(tmp_path / "t.svg"))
    (usual,) = [each.split() for each in shown.splitlines() if each.split()[:2] == ["0.1", "0.8"]]
    assert usual[-1] == "1.00"
    assert (tmp_path / "t.svg").exists()


def test_masks_are_compared_by_their_parts(
    counts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts").write_bytes(Path(counts).read_bytes())
    HeadMask.full(3, 4).save("full")
    shown = run("heads", "compare", "counts", "full", "--picture", "a.svg")
    assert "all heads" in shown
    count = HeadStatistics.load(counts).mask().count
    assert shown.split()[-1] == f"{count / 12:.2f}"
    assert Path("a.svg").exists()


def test_growing_samples_are_compared(folder: str, parses: str, tmp_path: Path) -> None:
    shown = run(
        "heads", "sizes", "-d", parses, "-m", folder, "--parts", "2", "--draws", "1",
        "--picture", str(tmp_path / "z.svg"),
    )  # fmt: skip
    assert "with as many other texts" in shown
    assert shown.splitlines()[-1].split()[0] == "6"
    assert (tmp_path / "z.svg").exists()


def test_texts_are_read_from_a_file_and_parses_by_their_path(tmp_path: Path, parses: str) -> None:
    (tmp_path / "t.csv").write_text("text\na film\n", encoding="utf-8")
    assert corpus(str(tmp_path / "t.csv"), "text", None, strict=False) == ["a film"]
    assert corpus(parses, None, None, strict=False) == parses


def test_a_spread_is_a_median_and_a_range() -> None:
    assert spread([0.5, 0.25, 1.0]) == "0.50 (0.25–1.00)"
    assert spread([]) == ""
