"""`HeadSwitch`: attention heads that are switched off in one pass, so that their weighted values are zero."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from headlight.errors import UnsupportedModel
from headlight.shapes import SwitchedHeads


@dataclass(eq=False)
class HeadSwitch:
    """Switches heads off while a pass runs, each row's own. off: [batch, layer, head].

    A head h adds W_O^h Σ_j A^h_ij v^h_j to the output of its block; with A^h_ij v^h_j = 0 it adds nothing, and
    all else in the block is computed as before. family: the network, for messages. sizes: the queries and keys
    of every attention that ran.
    """

    off: SwitchedHeads
    family: str
    sizes: list[tuple[int, int]] = field(default_factory=list)

    def applied(self, mixed: Tensor, keys: int) -> Tensor:
        """Weights or weighted values of the next layer, [batch, head, query, any], zero where heads are off."""
        layer, (rows, layers, heads) = len(self.sizes), self.off.shape
        if layer == layers:
            raise cannot_switch(
                self.family, f"attends more than once in some of its {layers} layers"
            )
        if mixed.shape[:2] != (rows, heads):
            raise cannot_switch(
                self.family,
                f"attends with {mixed.shape[1]} heads of {mixed.shape[0]} texts in layer {layer + 1}, not with "
                f"{heads} of {rows}",
            )
        self.sizes.append((mixed.shape[2], keys))
        return mixed.masked_fill(self.off[:, layer, :, None, None].to(mixed.device), 0)

    def check_joined(self, _projection: nn.Module, args: tuple[Any, ...]) -> None:
        """Refuse a block in which a head is not off; a hook before the layer that joins the heads.

        That layer is given [batch, token, head × width], and must be given zeros for the heads that are off.
        """
        given: Tensor = args[0]
        layer, (rows, _, heads) = len(self.sizes), self.off.shape
        is_off = (
            layer > 0 and given.dim() == 3 and len(given) == rows and not given.shape[-1] % heads
        )
        if is_off:
            by_head = given.view(*given.shape[:2], heads, -1).transpose(1, 2)
            is_off = not bool(by_head[self.off[:, layer - 1].to(given.device)].any())
        if not is_off:
            raise cannot_switch(
                self.family, f"joins more in layer {max(layer, 1)} than the heads that can be seen"
            )


def cannot_switch(family: str, reason: str) -> UnsupportedModel:
    """The error for a network whose heads cannot be switched off."""
    return UnsupportedModel(
        f"attention heads cannot be switched off in {family}: it {reason}. Use a network in which every layer "
        "attends once, from all tokens to all tokens, with the same number of heads."
    )
