"""After any call, also one that raised, the network is as it was."""

from collections.abc import Callable
from gc import collect
from typing import Any
from weakref import ref

import pytest
import torch
from transformers import PreTrainedModel

import headlight
from headlight import METHODS, Batch, UnsupportedModel
from headlight.models.model import Task
from tests.networks import families, network, options, rows


def fingerprint(net: PreTrainedModel) -> dict[str, Any]:
    """Everything about a network that a call could change."""
    return {
        "weights": {name: tensor.clone() for name, tensor in net.state_dict().items()},
        "requires_grad": {name: p.requires_grad for name, p in net.named_parameters()},
        "gradients": {name: p.grad is None for name, p in net.named_parameters()},
        "training": {name: m.training for name, m in net.named_modules()},
        "hooks": {
            name: (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks))
            for name, m in net.named_modules()
        },
        "attention": net.config._attn_implementation,
        "config": net.config.to_dict(),
        "forward": {name: m.__dict__.get("forward") for name, m in net.named_modules()},
    }


def assert_same(before: dict[str, Any], after: dict[str, Any]) -> None:
    weights, other = before.pop("weights"), after.pop("weights")
    assert before == after
    assert all(torch.equal(weights[name], other[name]) for name in weights)


@families("bert", "deberta-v2", "gpt2", "llama")
@pytest.mark.parametrize("implementation", ["default", "eager"])
def test_explaining_leaves_no_mark(family: str, implementation: str) -> None:
    net = network(family, Task.SEQUENCE)
    if implementation == "eager" and net._can_set_attn_implementation():
        net.set_attn_implementation("eager")
    net.train()
    next(net.parameters()).requires_grad_(False)
    before = fingerprint(net)
    wrapped = headlight.wrap(net)
    for variant in ("paper", "released"):
        headlight.explain(
            wrapped,
            Batch.from_ids(rows()),
            list(METHODS),
            variant=variant,
            **options(*METHODS, family=family),
        )
    assert_same(before, fingerprint(net))


def fail(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("family", ["bert", "deberta-v2", "llama"])
@pytest.mark.parametrize("where", [lambda net: net.base_model, lambda net: net])
def test_a_pass_that_raises_leaves_no_mark(
    family: str,
    where: Callable[[PreTrainedModel], torch.nn.Module],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = network(family, Task.SEQUENCE).train()
    wrapped = headlight.wrap(net)
    before = fingerprint(net)
    with monkeypatch.context() as patch:
        patch.setattr(where(net), "forward", fail)
        with pytest.raises(UnsupportedModel, match="in the middle"):
            headlight.explain(
                wrapped, Batch.from_ids(rows()), list(METHODS), **options(*METHODS, family=family)
            )
    after = fingerprint(net)
    del before["forward"], after["forward"]
    assert_same(before, after)


def test_a_hook_that_raises_leaves_no_mark() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net)
    handle = net.bert.encoder.layer[1].register_forward_hook(fail)
    before = fingerprint(net)
    with pytest.raises(UnsupportedModel, match="in the middle"):
        headlight.explain(wrapped, Batch.from_ids(rows()), list(METHODS), **options(*METHODS))
    assert_same(before, fingerprint(net))
    handle.remove()


@families("bert", "gpt2", "llama")
def test_nothing_of_a_pass_stays_in_memory(family: str) -> None:
    """The garbage collector does not see circles through torch's graph, so none may be left."""
    net = network(family, Task.SEQUENCE)
    seen: list[ref[torch.Tensor]] = []

    def see(_module: object, _args: object, output: object) -> None:
        if isinstance(output, torch.Tensor) and output.requires_grad:
            seen.append(ref(output))

    handles = [module.register_forward_hook(see) for module in net.modules()]
    wrapped = headlight.wrap(net)
    several = ["attn_lrp", "gim", "rollout", "attcat", "alti", "lrp", "integrated_gradients"]
    for names in (several[:2], several, list(METHODS)):
        headlight.explain(wrapped, Batch.from_ids(rows()), names, **options(*names, family=family))
    collect()
    assert seen
    assert not any(each() is not None for each in seen)
    for handle in handles:
        handle.remove()
