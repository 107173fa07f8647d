"""What `headlight answer` asks: the question, chats, and the files of its sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headlight.cli.options import one_text
from headlight.errors import InvalidInput, InvalidOption
from headlight.files import is_file, is_folder, parse_json, read_text
from headlight.text import is_blank

Asked = str | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""One prompt: a text, the messages of a chat, or {"messages": …} with other arguments of its template."""
SOURCES, PROMPT = "{sources}", "{prompt}"
MARKS = re.compile(r"(\{sources\}|\{prompt\})")
"""Where a template puts the sources and the prompt."""
CHAT = '[{"role": "user", "content": "…"}]'


def asked_prompts(
    question: list[str] | None, chat: Path | None, prompt_file: Path | None
) -> list[Asked]:
    """The prompts: one question, the text of a file, or the chats of a file."""
    given = {"a question": question, "--chat": chat, "--prompt-file": prompt_file}
    named = [name for name, value in given.items() if value]
    if not named:
        raise InvalidOption(
            "there is nothing to answer. Give a question in quotes, --prompt-file with a text, or --chat with "
            "messages."
        )
    if len(named) > 1:
        raise InvalidOption(f"{' and '.join(named)} were both given. Give one of them.")
    if chat is not None:
        return read_chats(chat)
    return [file_text(prompt_file, "prompt") if prompt_file else asked_text(question or [])]


def asked_text(words: list[str]) -> str:
    """The question as it was typed."""
    text = one_text(words)
    if is_blank(text):
        raise InvalidInput("the question is empty.")
    return text


def file_text(path: Path, what: str) -> str:
    """The text of a file, with the line ends of Unix; refused if it has none."""
    text = read_text(path).replace("\r\n", "\n")
    if is_blank(text):
        raise InvalidInput(f"'{path}' has no text in it, so it cannot be a {what}.")
    return text.rstrip("\n")


def read_chats(path: Path) -> list[Asked]:
    """The chats of a JSON file: the messages of one, or a list of several."""
    from headlight.explaining.prompts import listed_prompts

    found = parse_json(read_text(path), f"'{path}'")
    if not isinstance(found, list | dict):
        raise InvalidInput(
            f"'{path}' holds no chat. Write its messages as {CHAT}, or a list of several chats."
        )
    try:
        return listed_prompts(found)[0]
    except InvalidInput as error:
        raise InvalidInput(f"'{path}': {error}") from error


# ------------------------------------------------------------------------------------- sources


def given_sources(files: Sequence[Path], folder: Path | None) -> dict[str, str]:
    """The texts of the files by their names, and of the files of a folder by their names in it."""
    places = [(path.name, path) for path in files]
    places += [] if folder is None else list(files_in(folder))
    found: dict[str, Path] = {}
    for name, path in places:
        if name in found:
            raise InvalidInput(
                f"two sources are called '{name}': '{found[name]}' and '{path}'. Leave one out, or rename it."
            )
        found[name] = path
    return {name: file_text(path, "source") for name, path in found.items()}


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a folder and of the folders in it, in the order of their names, without hidden ones."""
    if is_file(folder):
        raise InvalidInput(f"'{folder}' is a file, not a folder. Give it with --source.")
    if not is_folder(folder):
        raise InvalidInput(f"there is no folder '{folder}'.")
    named = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    shown = sorted(
        (name.as_posix(), path) for name, path in named if not any(p[0] == "." for p in name.parts)
    )
    if not shown:
        raise InvalidInput(f"the folder '{folder}' has no files in it.")
    yield from shown


def given_template(path: Path | None, sources: Mapping[str, str]) -> str | None:
    """The text of a template; refused if there is nothing to put into it."""
    if path is None:
        return None
    if not sources:
        raise InvalidOption(
            "--template says where sources go, and none were given. Add --source or --sources."
        )
    text = file_text(path, "template")
    for mark in (SOURCES, PROMPT):
        if text.count(mark) != 1:
            raise InvalidInput(
                f"the template '{path}' must hold {mark} once, not {text.count(mark)} times."
            )
    return text


def filled(template: str | None, prompt: Asked, sources: Mapping[str, str]) -> Asked:
    """The prompt, or the last message of its chat, put into a template together with the sources."""
    if template is None:
        return prompt
    if isinstance(prompt, Mapping):
        return {**prompt, "messages": filled(template, prompt["messages"], sources)}
    if not isinstance(prompt, str):
        *earlier, last = prompt
        return [*earlier, {**last, "content": filled(template, str(last["content"]), sources)}]
    passages = "\n\n".join(f"[{name}] {text.strip()}" for name, text in sources.items())
    values = {SOURCES: passages, PROMPT: prompt}
    return "".join(values.get(piece, piece) for piece in MARKS.split(template))
