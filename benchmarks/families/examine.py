"""What methods do with one tiny network: whether they work, refuse, are wrong, or crash."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from benchmarks.families.tiny import NotBuilt, tiny
from transformers import PreTrainedModel

import headlight
from headlight import Attribution, Batch, HeadlightError, Model, Target
from headlight.batch import collate
from headlight.models.task import Task
from headlight.trace.forward import forward
from headlight.trace.recorder import Wants
from headlight.trace.relevance.modifications import MODIFICATIONS
from headlight.trace.trace import trace

GROUPS: dict[str, dict[str, dict[str, Any]]] = {
    "attention": {"rollout": {}, "gae": {}},
    "gradient": {"input_x_gradient": {}, "integrated_gradients": {"steps": 8}, "attcat": {}},
    "modified gradient": {"attn_lrp": {}, "libragrad": {}, "gim": {}},
    "z⁺ relevance": {"transformer_attribution": {}, "lrp": {}},
    "decomposition": {"alti": {}},
    "perturbation": {"occlusion": {}},
}
"""The methods that are tried, by group, and their options."""

ROWS = [[5, 17, 33, 8, 60, 41, 12, 25, 77, 3], [9, 14, 52, 71, 30, 3]]
SAME = {torch.float64: 1e-5, torch.float32: 1e-3}
"""How far scores of the same row may differ, as a share of the largest. Many families compute softmax, norms or
positions in 32 bits whatever the weights have, so 64 bits are not reached."""

NOTHING = {torch.float64: 1e-12, torch.float32: 1e-5}
"""Scores below this are 0, because logits here are about 1."""
NOTHING_FOUND = (
    "all scores are 0, but for rounding; input × gradient is, if embeddings are normalised first"
)

NO_HEAD = "has no head whose decision could be explained"
"""What is said of a network whose class has an unusual name; it is then told what the head does."""

ADDS_ONE = ("minimax_m3_vl_text",)
"""Families without biases that add 1 to a value, so that relevance is not complete."""

Verdict = dict[str, str]


def examined(family: str, head: str) -> dict[str, Any]:
    """What became of a family with a head: of building it, of wrapping it, of every method and check."""
    try:
        network = built(family, head)
    except NotBuilt as error:
        return {"not built": str(error)}
    found: dict[str, Any] = {
        "class": type(network).__name__,
        "dtype": str(network.dtype).split(".")[1],
    }
    model, verdict = tried(lambda: headlight.wrap(network))
    if NO_HEAD in verdict["reason"] and head == "language model":
        found["task"] = Task.CAUSAL.value
        model, verdict = tried(lambda: wrapped(network, head))
    if model is None:
        return {**found, "wrapping": verdict}
    found["methods"] = {
        name: method_verdict(model, name, options)
        for methods in GROUPS.values()
        for name, options in methods.items()
    }
    found["takes one row"] = model.takes_one_row
    if found["methods"]["attn_lrp"]["status"] == "works":
        found["checks"] = {
            "same as plain": tried(lambda: plain_verdict(model))[1],
            "fused as eager": tried(lambda: fused_verdict(family, head))[1],
            "experts together as one by one": tried(lambda: experts_verdict(family, head))[1],
            "complete": tried(lambda: complete_verdict(model))[1],
        }
    return found


def built(family: str, head: str) -> PreTrainedModel:
    """A network that runs on ids alone: in 64 bits, or in 32 if it does not run in 64."""
    for dtype in (torch.float64, torch.float32):
        try:
            network = tiny(family, head, dtype)
        except Exception as error:  # configs may raise anything
            raise NotBuilt(said(error)) from error
        try:
            with torch.no_grad():
                network(torch.tensor(ROWS[:1]))
        except Exception as error:  # noqa: BLE001
            reason = said(error)
        else:
            return network
    raise NotBuilt(f"does not run on token ids alone: {reason}")


def wrapped(network: PreTrainedModel, head: str) -> Model:
    """The model, told what its head does if that is a language model's."""
    return headlight.wrap(network, task=Task.CAUSAL.value if head == "language model" else None)


def said(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def tried(call: Callable[[], Any]) -> tuple[Any, Verdict]:
    """The result of a call and what became of it."""
    try:
        result = call()
    except HeadlightError as error:
        return None, {"status": "refused", "reason": " ".join(str(error).split())}
    except Exception as error:  # noqa: BLE001  # what is not foreseen is what is looked for
        return None, {"status": "crashed", "reason": said(error)}
    reason = result if isinstance(result, str) else ""
    status = "empty" if reason == NOTHING_FOUND else "wrong" if reason else "works"
    return result, {"status": status, "reason": reason}


# ------------------------------------------------------------------------------------ one method


def method_verdict(model: Model, name: str, options: dict[str, Any]) -> Verdict:
    """Whether a method gives finite scores, not all 0, and the same for a row alone and beside another."""

    def check() -> str:
        together = scores(model, ROWS, name, options)
        for row, beside in zip(ROWS, together, strict=True):
            (alone,) = scores(model, [row], name, options)
            if not np.isfinite(beside).all():
                return "scores that are not finite"
            if not np.abs(beside).max() > NOTHING[model.network.dtype]:
                return NOTHING_FOUND
            if (missed := difference(alone, beside)) > SAME[model.network.dtype]:
                return f"a row alone and beside another differ by {missed:.1g}"
        return ""

    return tried(check)[1]


def scores(
    model: Model, rows: Sequence[Sequence[int]], name: str, options: dict[str, Any]
) -> list[np.ndarray[Any, Any]]:
    found = headlight.explain(model, Batch.from_ids(rows), name, **options)
    return [a.scores for a in ([found] if isinstance(found, Attribution) else found)]


def difference(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """The largest difference as a share of the largest score."""
    return float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-300))


# -------------------------------------------------------------------- checks of modified gradients


def plain_verdict(model: Model) -> str:
    """Whether a modifiable pass has the logits and the plain gradients of the network itself."""
    inputs = collate(Batch.from_ids(ROWS[:1]).rows, 0)
    plain = forward(model, inputs, Wants(gradient=True))
    rewritten = forward(model, inputs, Wants(gradient=True, modified=True))
    gradients = [
        torch.autograd.grad(run.logits.square().sum(), run.captured.embeddings)[0].numpy()
        for run in (plain, rewritten)
    ]
    most = SAME[model.network.dtype] / 100
    if difference(plain.logits.detach().numpy(), rewritten.logits.detach().numpy()) > most:
        return "other logits"
    return "other gradients" if difference(*gradients) > 100 * most else ""


def fused_verdict(family: str, head: str) -> str:
    """Whether attn_lrp and gim are the same with fused attention and with attention step by step."""
    try:
        networks = [
            tiny(family, head, torch.float64, attn_implementation=way) for way in ("sdpa", "eager")
        ]
    except ValueError:  # the family has no fused attention
        return ""
    logits = [network(torch.tensor(ROWS[:1])).logits.detach().numpy() for network in networks]
    if difference(*logits) > 1e-5:
        return "its logits differ between fused attention and attention step by step"
    return same_scores(networks, head, 1e-4)


def experts_verdict(family: str, head: str) -> str:
    """The same with experts computed together and one by one, for which 32 bits are needed."""
    if not hasattr(tiny(family, head), "set_experts_implementation"):
        return ""
    networks = [tiny(family, head, torch.float32)]
    networks += [tiny(family, head, torch.float32, experts_implementation="eager")]
    return same_scores(networks, head, 1e-2)


def same_scores(networks: Sequence[PreTrainedModel], head: str, most: float) -> str:
    """Whether modified gradients of two networks are the same."""
    models = [wrapped(network, head) for network in networks]
    for name in GROUPS["modified gradient"]:
        (one,), (other,) = (scores(model, ROWS[:1], name, {}) for model in models)
        if (missed := difference(one, other)) > most:
            return f"{name} differs by {missed:.1g}"
    return ""


def complete_verdict(model: Model) -> str:
    """Whether the scores of libragrad sum to the logit, if nothing but the embeddings feeds the network."""
    names = [name for name, _ in model.network.named_parameters()]
    names += ["bias"] * (model.network.config.model_type in ADDS_ONE)
    if any(word in name for name in names for word in ("bias", "position", "wpe", "per_layer")):
        return ""
    rows = Batch.from_ids(ROWS[:1]).rows
    captured = trace(model, rows, [Target()], {"modified_gradient"})
    value = captured.goal.value(captured.logits, captured.inputs.present, "logit")
    gradient = captured.gradients("logit", MODIFICATIONS["libragrad"]).embeddings
    missed = float(((captured.embeddings * gradient).sum() - value.sum()).abs() / value.abs().sum())
    return f"libragrad misses the logit by {missed:.1g}" if missed > 1e-5 else ""
