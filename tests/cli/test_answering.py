"""headlight answer, as it is typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import headlight
from headlight import Answer, Model
from headlight.cli import answering, app
from tests.cli.commands import MAGIC, run

ASKED = ("answer", "the keys to", "--max-new-tokens", "3")


@pytest.fixture
def sources(tmp_path: Path) -> tuple[str, ...]:
    """Two files, as options."""
    (tmp_path / "a.txt").write_text("the keys are old.", encoding="utf-8")
    (tmp_path / "b.md").write_text("a good film.", encoding="utf-8")
    return ("--source", str(tmp_path / "a.txt"), "-s", str(tmp_path / "b.md"))


def stored(*arguments: str) -> Any:
    """The answer that a command prints as JSON."""
    return Answer.from_dict(json.loads(run(*arguments, "--format", "json")))


def test_a_text_is_continued_by_a_model_without_a_chat_template(
    writer_folder: str, writer: Model
) -> None:
    found = stored(*ASKED, "-m", writer_folder, "-w")
    expected = headlight.explain_answer(writer, "the keys to", max_new_tokens=3)
    assert isinstance(expected, Answer)
    assert (found.prompt, found.answer, found.unit) == ("the keys to", expected.answer, "words")
    assert found.scores == pytest.approx(expected.scores, rel=1e-3, abs=1e-5)


def test_a_question_is_asked_as_a_chat_unless_plain(chat_folder: str) -> None:
    assert stored(*ASKED, "-m", chat_folder).prompt.startswith("<s>user\nthe keys to</s>")
    assert stored(*ASKED, "-m", chat_folder, "--plain").prompt == "the keys to"


def test_sources_are_cited(writer_folder: str, sources: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("{sources} {prompt}", encoding="utf-8")
    given = ("--answer", " the keys. a film.", "--template", str(tmp_path / "short.txt"))
    shown = run("answer", "what?", *sources, "--cite", *given, "-m", writer_folder)
    assert "[1] a.txt" in shown
    assert "[2] b.md" in shown
    assert "cited: sources with at least 20 %" in shown
    found = stored("answer", "what?", *sources, "--cite", *given, "-m", writer_folder)
    assert (found.unit, len(found.parts)) == ("sources", 2)
    assert found.answer == " the keys. a film."


def test_options_reach_the_library(
    writer_folder: str, sources: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}

    def explain_answer(_model: Model, prompt: object, **arguments: Any) -> Answer:
        seen.update(arguments, prompt=prompt)
        raise headlight.InvalidInput("enough")

    monkeypatch.setattr("headlight.explaining.answers.explain_answer", explain_answer)
    (tmp_path / "t.txt").write_text("{sources} | {prompt}", encoding="utf-8")
    asked = [*ASKED, *sources, "-m", writer_folder, "--template", str(tmp_path / "t.txt")]
    asked += ["--of", "keys", "--of", "film", "--units", "sentences", "--thoughts", "--seed", "3"]
    asked += ["--temperature", "0.5", "--memory", "3GB", "-a", "gim", "-a", "attn_lrp"]
    result = CliRunner().invoke(app, asked)
    assert "enough" in str(result.exception)
    assert seen == {
        "prompt": "[a.txt] the keys are old.\n\n[b.md] a good film. | the keys to",
        "method": ["gim", "attn_lrp"],
        "sources": {"a.txt": "the keys are old.", "b.md": "a good film."},
        "answer": None,
        "of": ["keys", "film"],
        "units": "sentences",
        "rather_than": None,
        "thoughts": True,
        "max_new_tokens": 3,
        "generation": {"do_sample": True, "seed": 3, "temperature": 0.5},
        "memory": 3 * 2**30,
        "progress": True,
    }


def test_samples_are_repeated_by_their_seed(writer_folder: str) -> None:
    asked = (*ASKED, "-m", writer_folder, "--temperature", "5", "--seed")
    one, again, other = (stored(*asked, seed).answer for seed in ("1", "1", "2"))
    assert one == again != other


def test_another_answer_is_compared(writer_folder: str) -> None:
    given = ("--answer", " are", "--rather-than", " is")
    assert stored(*ASKED, *given, "-m", writer_folder).notes[-1].startswith("rather than 'is'")


def test_sources_are_removed_whole(
    writer_folder: str, sources: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    names = ["source_shapley", "context_cite:samples=4", "leave_one_out"]
    asked = [word for name in names for word in ("-a", name)]
    (tmp_path / "short.txt").write_text("{sources} {prompt}", encoding="utf-8")
    given = ("--answer", " the keys", "--template", str(tmp_path / "short.txt"))
    run("answer", "what?", *sources, *given, "-m", writer_folder, *asked, "-o", str(out))
    found = [Answer.from_dict(json.loads(line)) for line in out.read_text("utf-8").splitlines()]
    assert [each.method for each in found] == names
    assert all(each.options["removed"] == "sources" for each in found)


def test_several_methods_stand_one_below_another(writer_folder: str) -> None:
    shown = run(*ASKED, "-m", writer_folder, "-a", "gim", "-a", "input_x_gradient")
    assert shown.index("gim · ") < shown.index("input_x_gradient · ")


@pytest.mark.parametrize("kind", [*MAGIC, "html", "json", "jsonl", "csv", "tsv", "parquet", "tex"])
def test_every_format_is_written(writer_folder: str, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"answer.{kind}"
    run(*ASKED, "-m", writer_folder, "-o", str(out), "--of", "tokens")
    begins = {**MAGIC, "html": b"<!doctype html>", "parquet": b"PAR1", "tex": b"% needs"}
    assert out.read_bytes().startswith(begins.get(kind, b""))
    assert out.stat().st_size > 100


def test_the_matrix_is_drawn_beside_the_answer(writer_folder: str, tmp_path: Path) -> None:
    picture = tmp_path / "m.svg"
    run(*ASKED, "-m", writer_folder, "--of", "tokens", "--picture", str(picture))
    assert "behind each part of the answer" in picture.read_text(encoding="utf-8")


def test_several_chats_are_written_answer_by_answer(chat_folder: str, tmp_path: Path) -> None:
    chats = [[{"role": "user", "content": text}] for text in ("the keys", "a film", "\ud83c")]
    (tmp_path / "chats.json").write_text(json.dumps(chats), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    asked = ["answer", "--chat", str(tmp_path / "chats.json"), "-m", chat_folder]
    result = CliRunner().invoke(app, [*asked, "--max-new-tokens", "2", "-o", str(out)])
    assert result.exit_code == 1
    found = [Answer.from_dict(json.loads(line)) for line in out.read_text().splitlines()]
    assert ["the keys" in found[0].prompt, "a film" in found[1].prompt] == [True, True]
    assert len(found) == 2


@pytest.mark.parametrize("kind", ["jsonl", "html"])
def test_what_was_done_before_a_stop_is_written(
    chat_folder: str, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chats.json").write_text('["the keys", "a film"]', encoding="utf-8")
    inner = headlight.explain_answer

    def stopped(model: Model, prompt: Any, **arguments: Any) -> Any:
        if "a film" in str(prompt):
            raise KeyboardInterrupt
        return inner(model, prompt, **arguments)

    monkeypatch.setattr("headlight.explaining.answers.explain_answer", stopped)
    out = tmp_path / f"out.{kind}"
    asked = ["answer", "--chat", str(tmp_path / "chats.json"), "-m", chat_folder, "-o", str(out)]
    result = CliRunner().invoke(app, [*asked, "--max-new-tokens", "2"])
    assert result.exit_code != 0
    assert "a film" not in out.read_text(encoding="utf-8")
    assert f"wrote {out}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cite"], "--cite cites sources, and none were given"),
        (["-a", "source_shaply"], "no method named 'source_shaply'"),
        (["-a", "source_shapley", "--option", "steps=3"], "'source_shapley' has no option 'steps'"),
        (["--units", "sauces"], "no unit named 'sauces'. Did you mean 'sources'?"),
        (["--units", "lines", "-w"], "--words does not go with --units lines"),
        (["--of", "words", "--of", "keys"], "--of words is explained alone"),
        (["--temperature", "0"], "--temperature 0 must be above 0"),
        (["--picture", "a.png", "-a", "gim", "-a", "attn_lrp"], "--picture draws one answer"),
        (["-m", "sentiment"], "an answer is written by a causal language model, such as llm"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, [*ASKED, *arguments])
    assert message in str(result.exception)


@pytest.mark.parametrize("other", [["--of", "words"], ["--rather-than", "no"]])
def test_citing_goes_with_sentences_only(sources: tuple[str, ...], other: list[str]) -> None:
    result = CliRunner().invoke(app, [*ASKED, *sources, "--cite", *other])
    assert f"--cite explains sentences and does not go with {other[0]}" in str(result.exception)


def test_sampling_is_asked_for() -> None:
    warm = {"do_sample": True, "seed": 3, "temperature": 0.5}
    assert answering.sampling(False, None, 3) == {}
    assert answering.sampling(True, None, 3) == {"generation": {"do_sample": True, "seed": 3}}
    assert answering.sampling(False, 0.5, 3) == {"generation": warm}
