"""How the tokens of a generated text are shown."""

from headlight.attribution import Generation
from headlight.tokens import decoded, named, readable


def generation_names(found: Generation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs and the outputs of a generated text, spelled as in the text."""
    last = found.attributions[-1]
    inputs = readable((*found.prompt, *found.output))[: len(last)]
    if last.texts and last.offsets is not None and last.segments is not None:
        places = zip(last.tokens, last.offsets, last.segments, strict=True)
        inputs = tuple(
            token if segment is None else named(last.texts[segment][slice(*span)])
            for token, span, segment in places
        )
    labels = (each.target.label for each in found.attributions)
    return inputs, tuple(map(output_name, found.output, labels))


def output_name(token: str, label: str) -> str:
    """The spelling of an output token; its label shows whether the tokenizer spells bytes as letters."""
    text = decoded(token)
    is_spelled = label in (text.strip(), repr(text))
    return named(text if is_spelled else token.replace("▁", " "))
