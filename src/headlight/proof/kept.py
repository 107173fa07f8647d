"""How much a pass keeps for the way back, counted on a probe."""

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from headlight.batch import Inputs
from headlight.models.model import Model
from headlight.trace.forward import forward
from headlight.trace.recorder import Wants


def kept_per_token(model: Model, inputs: Inputs) -> float:
    """Numbers that autograd keeps of a pass, per token of this probe; those of the weights do not count."""
    held = [*model.network.parameters(), *model.network.buffers()]
    weights = {tensor.untyped_storage().data_ptr() for tensor in held if is_plain(tensor)}
    kept: dict[int, int] = {}
    alive: list[Tensor] = []  # or the next tensor might get the same memory and not be counted

    def see(tensor: Tensor) -> Tensor:
        if is_plain(tensor) and (storage := tensor.untyped_storage()).data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
            alive.append(tensor)
        return tensor.detach()

    with saved_tensors_hooks(see, lambda tensor: tensor):
        forward(model, inputs, Wants(gradient=True))
    alive.clear()  # the graph keeps the hook, and so what the hook holds: a circle that nobody would free
    return sum(kept.values()) / inputs.ids.numel()


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor has memory of its own; quantised weights and such on no device have none."""
    return type(tensor) in (Tensor, nn.Parameter) and not tensor.is_meta
