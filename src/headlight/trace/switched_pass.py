"""Logits with attention heads switched off: a pass without a target and without gradients."""

from torch import Tensor

from headlight.batch import Inputs
from headlight.models.model import Model
from headlight.running.double import double
from headlight.running.logits import check_finite, logits_of
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.shapes import SwitchedHeads
from headlight.trace.capture import misshapen, watching
from headlight.trace.head_switch import HeadSwitch, cannot_switch
from headlight.trace.recorder import Recorder, Wants


def logits_without(model: Model, inputs: Inputs, off: SwitchedHeads) -> Tensor:
    """The logits [batch, position, class] while each row's own heads are off."""
    model = double(model)
    switch = HeadSwitch(off, model.family)
    watched = watching(model, Recorder(Wants(), switch=switch))
    logits = undisturbed(lambda: logits_of(model, inputs), plain_state(), watched)
    check_finite(logits, model)
    if reason := misshapen(model, switch.sizes, inputs):
        raise cannot_switch(model.family, f"{reason} on an input of {inputs.ids.shape[1]} tokens")
    return logits


def head_counts(model: Model) -> tuple[int, int]:
    """The numbers of layers and of heads in each; refused if heads cannot be switched off."""
    if model.attention_refusal:
        raise cannot_switch(model.family, model.attention_refusal)
    config = model.network.config.get_text_config()
    layers, heads = (
        getattr(config, name, None) for name in ("num_hidden_layers", "num_attention_heads")
    )
    if not isinstance(layers, int) or not isinstance(heads, int):
        raise cannot_switch(model.family, "does not say in its config how many heads a layer has")
    return layers, heads
