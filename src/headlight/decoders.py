"""Which language-model head decodes the hidden layers of a model, and at which layer."""

from functools import cache
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.loading import load
from headlight.models.bases import MINILM
from headlight.models.catalogue import CATALOGUE
from headlight.models.model import Model
from headlight.trace.decoder import HEADED, Decoder

EMBEDDED = "decoder"


def chosen_decoder(model: Model, given: Any) -> Decoder:
    """The decoder for a model: its own head, a given model or its name or folder, or the embedded one."""
    if isinstance(given, Decoder):
        return fitting(model, given)
    if isinstance(given, Model):
        return fitting(model, Decoder(given))
    if isinstance(given, str | Path):
        return fitting(model, Decoder(load(given)))
    if given is not None:
        raise InvalidOption(
            f"decoder= takes a model, a name or a folder, not a {type(given).__name__}."
        )
    if model.task in HEADED:
        return Decoder(model)
    if model.name in CATALOGUE and CATALOGUE[model.name].base is MINILM:
        return embedded_decoder()
    raise InvalidOption(
        f"{model.name} does {model.task} and has no language-model head to decode its layers with. Give "
        "decoder= the masked language model that it was fine-tuned from, by name or folder."
    )


@cache
def embedded_decoder() -> Decoder:
    """The one that headlight brings, loaded once."""
    return Decoder(load(EMBEDDED))


def fitting(model: Model, decoder: Decoder) -> Decoder:
    """The decoder, refused if it cannot read the model's states or speaks of other tokens."""
    wide, known = (m.network.config.get_text_config().hidden_size for m in (model, decoder.model))
    if wide != known:
        raise InvalidInput(
            f"the decoder '{decoder}' reads states of {known} features, those of {model.name} have {wide}. "
            "Give the language model that it was fine-tuned from."
        )
    sizes = [m.vocabulary_size for m in (model, decoder.model)]
    if sizes[0] != sizes[1]:
        raise InvalidInput(
            f"the decoder '{decoder}' knows {sizes[1]} tokens and {model.name} {sizes[0]}: they are not of "
            "one vocabulary. Give the language model that it was fine-tuned from."
        )
    return decoder


def chosen_layer(model: Model, given: Any) -> int:
    """The layer to decode: the given one, the best of an embedded model, or the middle one."""
    if given is None:
        best = CATALOGUE[model.name].best_layer if model.name in CATALOGUE else None
        count: int = model.network.config.get_text_config().num_hidden_layers
        return (count + 1) // 2 if best is None else best
    return int(given)
