"""Whether gradients can be modified on their way back through a network."""

from torch import Tensor
from torch.autograd.function import BackwardCFunction

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.proof.gradients import in_64_bits, mixture, probe_gradients
from headlight.proof.graph import steps_of
from headlight.proof.probes import shift, size_of_error
from headlight.trace.forward import Pass, forward
from headlight.trace.readout import gradient_of
from headlight.trace.recorder import Wants
from headlight.trace.relevance.modifications import MODIFICATIONS
from headlight.trace.relevance.steps import Steering


def unmodifiable(model: Model, inputs: Inputs, watched: Pass) -> str:
    """Why gradients cannot be modified in a network; '' if they can. watched: a pass of the same inputs.

    A modifiable pass must have the logits of a plain one and, unmodified, its gradients. A step of autograd
    that was not written by torch would not be rewritten, and some operations have no rule.
    """
    try:
        run = forward(model, inputs, Wants(gradient=True, modified=True))
        weights = mixture(run.logits.shape, run.logits)
        plain = in_64_bits(probe_gradients(watched).embeddings, watched.captured.embeddings)
        seen = gradient_of((run.logits * weights).sum(), run.captured.embeddings)
        if reason := other_numbers(model, watched.logits, run.logits, plain, seen):
            return reason
        if unseen := foreign_steps(run.logits):
            return f"it computes {', '.join(unseen)}, which is not an operation of torch that can be seen"
        assert run.captured.steering is not None
        with run.captured.steering.by(MODIFICATIONS["attn_lrp"]):
            gradient = gradient_of((run.logits * weights).sum(), run.captured.embeddings)
    except (UnsupportedModel, RuntimeError) as error:  # torch itself refuses some changes in place
        return str(error).strip().split("\n")[0].rstrip(".")
    return "" if bool(gradient.isfinite().all()) else "its modified gradients are not finite"


def other_numbers(
    model: Model, logits: Tensor, seen_logits: Tensor, gradient: Tensor, seen: Tensor
) -> str:
    """Why numbers of a modifiable pass are not those of a plain one; '' if they are."""
    if difference := shift(model, seen_logits, logits):
        return f"its logits move by {difference:.2g} when its operations are rewritten"
    if float((gradient - seen).norm()) > 100 * size_of_error(model) * float(gradient.norm()):
        return "its gradients change when its operations are rewritten"
    return ""


def foreign_steps(logits: Tensor) -> list[str]:
    """The steps of a pass that neither torch nor headlight has written, by name."""
    steps = (step for step in steps_of(logits) if isinstance(step, BackwardCFunction))
    functions = {vars(type(step))["_forward_cls"] for step in steps}
    return sorted(kind.__name__ for kind in functions if kind.__module__ != Steering.__module__)
