"""The command that explains an answer of a language model: `answer`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headlight.amounts import bytes_of
from headlight.cli.asking import Asked, asked_prompts, filled, given_sources, given_template
from headlight.cli.checking import (
    OF_ANSWERS,
    check_methods,
    check_models,
    check_output,
    check_picture,
    check_writer,
)
from headlight.cli.options import (
    DeviceOption,
    DtypeOption,
    ModelOption,
    SettingsOption,
    draw,
    load_model,
    parsed_options,
)
from headlight.cli.writing import FormatOption, OutputOption, format_of, show_answers
from headlight.errors import InvalidOption, unknown_name
from headlight.loading.placement import DEFAULT_DTYPE
from headlight.registry.entries import FALLBACK, PREFERRED
from headlight.units import UNITS

if TYPE_CHECKING:
    from headlight.answer import Answer
    from headlight.models.model import Model

app = typer.Typer()
DEFAULT_WRITER = "llm"
PARTS = ("answer", "sentences", "words", "tokens")
"""What of an answer can be explained by name; anything else is a text in it."""


@app.command(
    epilog="Examples:\n\n"
    'headlight answer "Who owns the shop?" --source shop.txt --source notes.md --cite\n\n'
    'headlight answer "What did we decide in May?" --sources minutes/ --output answer.html\n\n'
    'headlight answer "The keys to the cabinet" --plain --answer " are" --rather-than " is"\n\n'
    "headlight answer --chat messages.json --units turns --model ./my-model\n\n"
    "headlight answer --chat many.json --of sentences --output answers.jsonl"
)
def answer(
    question: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="The question, in quotes.")
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option("--source", "-s", help="A text file to answer from. Repeatable."),
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="A folder whose text files are the sources.")
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(help="A file that says where {sources} and {prompt} go, both once."),
    ] = None,
    chat: Annotated[
        Path | None,
        typer.Option(help="A JSON file with the messages of a chat, or a list of several chats."),
    ] = None,
    prompt_file: Annotated[
        Path | None, typer.Option(help="A text file with the question or prompt.")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Continue the text as it is. Default: ask it as a chat if the model has a chat template.",
        ),
    ] = False,
    given: Annotated[
        str | None,
        typer.Option("--answer", help="Explain this answer. Default: what the model writes."),
    ] = None,
    cite: Annotated[
        bool, typer.Option("--cite", help="Cite the sources that carry each sentence.")
    ] = False,
    of: Annotated[
        list[str] | None,
        typer.Option(
            help="What to explain: the whole answer, its sentences, words or tokens, or a text in it "
            "(repeatable). Default: answer."
        ),
    ] = None,
    units: Annotated[
        str | None,
        typer.Option(
            help="What of the prompt gets scores: tokens, words, sentences, lines, paragraphs, items, "
            "examples, turns or sources. Default: sources, else turns if there are several, else words."
        ),
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", "-w", help="The same as --units words.")
    ] = False,
    rather_than: Annotated[
        str | None, typer.Option(help="Explain why the answer rather than this one.")
    ] = None,
    thoughts: Annotated[
        bool,
        typer.Option(
            "--thoughts",
            help="The answer begins with thoughts up to </think>: explain what follows them, and send the "
            "scores of thoughts on to the prompt.",
        ),
    ] = False,
    model: ModelOption = DEFAULT_WRITER,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-a",
            help="A method; `headlight methods` lists them. Also leave_one_out, context_cite and "
            "source_shapley, which remove whole sources. Repeatable. Default: attn_lrp if the network supports "
            "relevance, else integrated_gradients.",
        ),
    ] = None,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="The most tokens that the model writes.")
    ] = 64,
    sample: Annotated[
        bool, typer.Option("--sample", help="Let the model sample instead of the likeliest token.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option(help="The temperature of sampling, above 0. Implies --sample.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of sampling.")] = 0,
    memory: Annotated[
        str | None,
        typer.Option(help="Most memory that a pass may take above the weights, such as 3GB."),
    ] = None,
    option: SettingsOption = None,
    output_format: FormatOption = None,
    output: OutputOption = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the parts of the answer and the units as a matrix to this .png, .svg or .pdf file."
        ),
    ] = None,
) -> None:
    """Explain an answer of a language model: from which words, sources or turns it comes."""
    check_output(output)
    check_picture(picture)
    kind = format_of(output_format, output)
    options = parsed_options(option)
    check_methods(method or [PREFERRED, FALLBACK], options, "paper", OF_ANSWERS)
    options |= {} if memory is None else {"memory": bytes_of(memory)}
    passages = given_sources(source or [], sources)
    request = Request(
        passages,
        method or None,
        {
            "answer": given,
            "of": asked_parts(of or [], cite, passages, rather_than),
            "units": asked_units(units, words),
            "rather_than": rather_than,
            "max_new_tokens": max_new_tokens,
            **({"thoughts": True} if thoughts else {}),
            **sampling(sample, temperature, seed),
            **options,
        },
    )
    form = given_template(template, passages)
    prompts = [filled(form, each, passages) for each in asked_prompts(question, chat, prompt_file)]
    check_one(picture, len(prompts), len(method or [""]))
    check_models(model)
    check_writer(model)
    loaded = load_model(model, device, dtype)
    found = answers(loaded, prompts, request, is_plain=plain, is_counted=output is not None)
    done = show_answers(found, kind, output)
    if picture is not None:
        from headlight.plot import answer as matrix

        draw(matrix(done[0]), picture)


@dataclass(frozen=True)
class Request:
    """What is asked of every prompt: its sources, the methods, and the other arguments of `explain_answer`."""

    sources: dict[str, str]
    methods: list[str] | None
    arguments: dict[str, Any]


def answers(
    model: "Model",
    prompts: Sequence[Asked],
    request: Request,
    *,
    is_plain: bool,
    is_counted: bool,
) -> "Iterator[list[Answer]]":
    """The answers of each prompt, one of every method, as soon as they are there.

    is_counted: show how many of several are done; not where they themselves are shown.
    """
    from headlight.explaining.answers import explain_answer
    from headlight.progress import progress_of

    is_chat = not is_plain and bool(getattr(model.tokenizer, "chat_template", None))
    several = len(prompts) > 1
    with progress_of(
        "answers", len(prompts), is_shown=several and is_counted, unit="answers"
    ) as advance:
        for prompt in prompts:
            asks = is_chat and isinstance(prompt, str)
            found: Any = explain_answer(
                model,
                [{"role": "user", "content": prompt}] if asks else prompt,
                method=request.methods,
                sources=request.sources or None,
                progress=not several,
                **request.arguments,
            )
            yield list(found.values()) if isinstance(found, dict) else [found]
            advance(1)


def check_one(picture: Path | None, prompts: int, methods: int) -> None:
    """Refuse to draw several matrices into one picture."""
    if picture is not None and prompts * methods > 1:
        raise InvalidOption(
            f"--picture draws one answer, not {prompts} with {methods} methods. Leave it out, or ask for one."
        )


def asked_parts(
    of: list[str], cite: bool, sources: dict[str, str], rather_than: str | None
) -> str | list[str]:
    """Which parts of an answer are explained; options that contradict each other are refused."""
    if cite and not sources:
        raise InvalidOption("--cite cites sources, and none were given. Add --source or --sources.")
    for given, name in ((cite and of, "--of"), (cite and rather_than, "--rather-than")):
        if given:
            raise InvalidOption(
                f"--cite explains sentences and does not go with {name}. Leave one out."
            )
    named = [each for each in of if each in PARTS]
    if len(of) > 1 and named:
        raise InvalidOption(
            f"--of {named[0]} is explained alone. Leave out the others, or give texts in the answer."
        )
    return named[0] if named else of or ("sentences" if cite else "answer")


def asked_units(units: str | None, words: bool) -> str | None:
    """The name of the units of the prompt."""
    known = ("tokens", *UNITS, "turns", "sources")
    if units is not None and units not in known:
        raise unknown_name("unit", units, known)
    if words and units not in (None, "words"):
        raise InvalidOption(f"--words does not go with --units {units}. Leave one of them out.")
    return "words" if words else units


def sampling(sample: bool, temperature: float | None, seed: int) -> dict[str, Any]:
    """Arguments of sampling; none if the model writes the likeliest token."""
    if temperature is not None and temperature <= 0:
        raise InvalidOption(
            f"--temperature {temperature:g} must be above 0. Leave it out to let the model write the "
            "likeliest token each time."
        )
    chosen = {} if temperature is None else {"temperature": temperature}
    if not sample and not chosen:
        return {}
    return {"generation": {"do_sample": True, "seed": seed, **chosen}}
