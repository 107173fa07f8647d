"""Options whose default depends on the model: their defaults, and the forms in which they may be given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.heads.masks import chosen_mask
from headlight.loading.bases import MINILM
from headlight.loading.load import load
from headlight.loading.names import entry_of
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.registry.entries import PREFERRED, Entry
from headlight.registry.options import Option, options_of
from headlight.trace.baselines import chosen_baseline
from headlight.trace.decoder import HEADED, Decoder

EMBEDDED = "decoder"
"""The name of the embedded language model whose head decodes."""


def chosen_decoder(model: Model, decoder: Any) -> Decoder:
    """The decoder for a model: the caller's (a model, name or folder), its own head, or the embedded one."""
    if isinstance(decoder, Decoder):
        return checked_decoder(model, decoder)
    if isinstance(decoder, Model):
        return checked_decoder(model, Decoder(decoder))
    if isinstance(decoder, str | Path):
        return checked_decoder(model, Decoder(load(decoder)))
    if decoder is not None:
        raise InvalidOption(
            f"decoder= takes a model, a name or a folder, not a {type(decoder).__name__}."
        )
    if model.task in HEADED:
        return Decoder(model)
    entry = entry_of(model.name)
    if entry is not None and entry.base is MINILM:
        return embedded_decoder()
    raise InvalidOption(
        f"{model.name} does {model.task} and has no language-model head to decode its layers with. Give "
        "decoder= the masked language model that it was fine-tuned from, by name or folder."
    )


@cache
def embedded_decoder() -> Decoder:
    """The embedded decoder, loaded once."""
    return Decoder(load(EMBEDDED))


def checked_decoder(model: Model, decoder: Decoder) -> Decoder:
    """The decoder; refused if it cannot read the model's states or has another vocabulary."""
    wide, known = (m.network.config.get_text_config().hidden_size for m in (model, decoder.model))
    if wide != known:
        raise InvalidInput(
            f"the decoder '{decoder}' reads states of {known} features, those of {model.name} have {wide}. "
            "Give the language model that it was fine-tuned from."
        )
    sizes = [m.vocabulary_size for m in (model, decoder.model)]
    if sizes[0] != sizes[1]:
        raise InvalidInput(
            f"the decoder '{decoder}' knows {sizes[1]} tokens and {model.name} {sizes[0]}: they do not have "
            "one vocabulary. Give the language model that it was fine-tuned from."
        )
    return decoder


def chosen_layer(model: Model, layer: Any) -> int:
    """The layer to decode: the caller's, the best one of an embedded model, or the middle one."""
    if layer is None:
        entry = entry_of(model.name)
        best = None if entry is None else entry.best_layer
        count: int = model.network.config.get_text_config().num_hidden_layers
        return (count + 1) // 2 if best is None else best
    return int(layer)


def chosen_base(model: Model, base: Any) -> Entry:
    """The method on which another one is built: attn_lrp, or the caller's, with its own options chosen."""
    if isinstance(base, Entry):
        return base
    entry = METHODS.specified(PREFERRED if base is None else base)
    if entry.cost == "slow" or "again" in entry.needs:
        raise InvalidOption(
            f"base='{entry.name}' takes more than one pass. Use a method of one pass, such as attn_lrp, "
            "libragrad or input_x_gradient."
        )
    known = options_of(entry.function).values()
    own = {o.name: chosen(model, entry.settled, o.name) for o in known if depends_on_model(o)}
    return entry.with_options(own, entry.name)


# ------------------------------------------------------------------------------------ the table


@dataclass(frozen=True)
class ModelChoice:
    """An option whose default depends on the model.

    choose: the function that turns what was given into the option's value. usually: the default in words, for
    the documentation of methods. unsaid: what `choose` gets by default.
    """

    choose: Callable[[Model, Any], Any]
    usually: str
    unsaid: Any = None


CHOICES = {
    "base": ModelChoice(chosen_base, PREFERRED),
    "mask": ModelChoice(chosen_mask, "the mask that comes with an embedded model", "both"),
    "baseline": ModelChoice(
        chosen_baseline, "the mask token if the model has one, else the mean of its word embeddings"
    ),
    "decoder": ModelChoice(
        chosen_decoder, "the model's own language-model head, or the embedded one"
    ),
    "layer": ModelChoice(chosen_layer, "the best one of an embedded model, else the middle one"),
}
"""Options that a method may have without a default, because the default depends on the model."""


def depends_on_model(option: Option) -> bool:
    """Whether the model decides the default of an option."""
    return option.name in CHOICES and not option.has_default


def chosen(model: Model, given: Mapping[str, Any], name: str) -> Any:
    """The value of an option that depends on the model, from what was given for it or by default."""
    choice = CHOICES[name]
    value = given.get(name)
    return choice.choose(model, choice.unsaid if value is None else value)
