"""The attention heads of a model, and which of them its mask keeps."""

import numpy as np

from headlight.errors import InvalidOption, MissingExtra
from headlight.headmask import HeadMask
from headlight.heads.masks import chosen_mask
from headlight.models.model import Model
from headlight.web.replies import HeadMap


def head_map(model: Model) -> HeadMap:
    """The mask that comes with a model and what its heads do; without a mask all heads are on."""
    try:
        return mask_reply(chosen_mask(model, "both"))
    except (InvalidOption, MissingExtra):
        config = model.network.config.get_text_config()
        shape = (config.num_hidden_layers, config.num_attention_heads)
        nothing = mask_reply(HeadMask.of(np.zeros(shape, np.int64), name="none"))
        return {**nothing, "open": np.ones(shape, bool).tolist()}


def mask_reply(mask: HeadMask) -> HeadMap:
    """A mask, ready for JSON."""
    layers, heads = (range(1, count + 1) for count in mask.heads.shape)
    roles = mask.roles
    return {
        "layers": len(layers),
        "heads": len(heads),
        "kinds": [[mask.kind(layer, head) for head in heads] for layer in layers],
        "roles": [[list(roles.get((layer, head), ())) for head in heads] for layer in layers],
        "open": mask.heads.tolist(),
    }
