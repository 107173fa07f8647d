"""What is asked: questions, chats and sources, and sentences for what cannot be."""

import json
from pathlib import Path

import pytest

from headlight import InvalidInput, InvalidOption
from headlight.cli.asking import asked_prompts, filled, given_sources, given_template

MESSAGES = [{"role": "user", "content": "Who?"}]


def written(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_question_a_file_and_chats_are_prompts(tmp_path: Path) -> None:
    assert asked_prompts(["Who?"], None, None) == ["Who?"]
    prompt = written(tmp_path / "p.txt", "Two\r\nlines\n")
    assert asked_prompts(None, None, prompt) == ["Two\nlines"]
    one = written(tmp_path / "one.json", json.dumps(MESSAGES))
    assert asked_prompts(None, one, None) == [MESSAGES]
    many = written(tmp_path / "many.json", json.dumps([MESSAGES, "Who?"]))
    assert asked_prompts(None, many, None) == [MESSAGES, "Who?"]


@pytest.mark.parametrize(
    ("chat", "message"),
    [
        ("3", "holds no chat. Write its messages as"),
        ("{}", "the prompt is a mapping without messages"),
        ("[1]", "prompt 0 is neither a text nor a chat"),
        ("[]", "the list of prompts is empty"),
        ("[", "is not JSON"),
    ],
)
def test_files_without_chats_are_refused(tmp_path: Path, chat: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        asked_prompts(None, written(tmp_path / "c.json", chat), None)


def test_one_thing_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="there is nothing to answer"):
        asked_prompts(None, None, None)
    with pytest.raises(InvalidOption, match="a question and --chat were both given"):
        asked_prompts(["Who?"], tmp_path / "c.json", None)
    with pytest.raises(InvalidInput, match="the question is empty"):
        asked_prompts([" "], None, None)


def test_sources_are_named_after_their_files(tmp_path: Path) -> None:
    note = written(tmp_path / "note.md", "A note.\r\n")
    folder = tmp_path / "folder"
    for name in ("b.txt", "a.txt", ".hidden"):
        written(folder / name, name)
    written(folder / "inner" / "c.txt", "deep")
    found = given_sources([note], folder)
    assert found == {
        "note.md": "A note.",
        "a.txt": "a.txt",
        "b.txt": "b.txt",
        "inner/c.txt": "deep",
    }
    assert list(found) == ["note.md", "a.txt", "b.txt", "inner/c.txt"]


def test_what_cannot_be_a_source_is_refused(tmp_path: Path) -> None:
    one, other = (written(tmp_path / place / "n.txt", "text") for place in ("one", "other"))
    with pytest.raises(InvalidInput, match=r"two sources are called 'n.txt': '.*one.n.txt' and"):
        given_sources([one, other], None)
    with pytest.raises(InvalidInput, match="has no text in it, so it cannot be a source"):
        given_sources([written(tmp_path / "empty.txt", " \n")], None)
    with pytest.raises(InvalidInput, match=r"is a PDF. Save its text as .txt"):
        given_sources([written(tmp_path / "a.pdf", b"%PDF-1.7")], None)
    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        given_sources([written(tmp_path / "a.bin", b"a\x80b")], None)
    with pytest.raises(InvalidInput, match="there is no file"):
        given_sources([tmp_path / "missing.txt"], None)
    with pytest.raises(InvalidInput, match="there is no folder"):
        given_sources([], tmp_path / "missing")
    with pytest.raises(InvalidInput, match=r"is a file, not a folder. Give it with --source"):
        given_sources([], one)
    (tmp_path / "bare").mkdir()
    with pytest.raises(InvalidInput, match="has no files in it"):
        given_sources([], tmp_path / "bare")


def test_a_template_says_once_where_sources_and_prompt_go(tmp_path: Path) -> None:
    good = written(tmp_path / "t.txt", "{sources}\n{prompt}")
    assert given_template(good, {"a": "text"}) == "{sources}\n{prompt}"
    assert given_template(None, {}) is None
    with pytest.raises(InvalidOption, match=r"none were given. Add --source or --sources"):
        given_template(good, {})
    bad = written(tmp_path / "bad.txt", "{sources}")
    with pytest.raises(InvalidInput, match=r"must hold \{prompt\} once, not 0 times"):
        given_template(bad, {"a": "text"})


def test_a_template_is_filled_once_whatever_its_parts_say() -> None:
    form, sources = "S: {sources} P: {prompt}", {"a": "says {prompt}", "b": "two"}
    whole = "S: [a] says {prompt}\n\n[b] two P: who {sources}?"
    assert filled(form, "who {sources}?", sources) == whole
    chat = [{"role": "system", "content": "hm"}, {"role": "user", "content": "who {sources}?"}]
    done = [chat[0], {"role": "user", "content": whole}]
    assert filled(form, chat, sources) == done
    assert filled(form, {"messages": chat, "tools": []}, sources) == {"messages": done, "tools": []}
    assert filled(None, "who?", sources) == "who?"
