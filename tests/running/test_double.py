"""The double computes what the network computes, whatever it is made of, and the network is not touched."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import dispatch_model
from accelerate.hooks import AlignDevicesHook, SequentialHook
from torch import Tensor, nn
from transformers import BertForSequenceClassification, PreTrainedModel

import headlight
from headlight import METHODS, Batch, UnsupportedModel
from headlight.models.model import Task
from headlight.running.double import copied_hook, double
from tests.networks import network, options, rows

LENGTHS = Batch.from_ids(rows())
FAST = ["attn_lrp", "attcat", "gae", "integrated_gradients", "alti"]


def scores(net: PreTrainedModel, methods: list[str]) -> dict[str, list[np.ndarray]]:
    """Everything that methods say of a few rows, in 64 bits."""
    told = options(*methods, dtype=torch.float64)
    found = headlight.explain(headlight.wrap(net), LENGTHS, methods, **told)
    return {name: [each.scores for each in own] for name, own in found.items()}


def fresh() -> PreTrainedModel:
    return network("bert", Task.SEQUENCE).double()


def assert_equal(found: dict[str, list[np.ndarray]], expected: dict[str, list[np.ndarray]]) -> None:
    for name, own in expected.items():
        for a, b in zip(found[name], own, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.fixture(scope="module")
def expected() -> dict[str, list[np.ndarray]]:
    return scores(fresh(), list(METHODS))


# ------------------------------------------------------------------------------------- compiled


def compile_itself(net: Any, backend: str) -> Any:
    net.compile(backend=backend)
    return net


def compile_forward(net: Any, backend: str) -> Any:
    net.forward = torch.compile(net.forward, backend=backend)
    return net


def compile_around(net: Any, backend: str) -> Any:
    return torch.compile(net, backend=backend)


def compile_blocks(net: Any, backend: str) -> Any:
    for number, block in enumerate(net.bert.encoder.layer):
        net.bert.encoder.layer[number] = torch.compile(block, backend=backend)
    net.bert.embeddings.compile(backend=backend)
    net.classifier.forward = torch.compile(net.classifier.forward, backend=backend)
    return net


def compile_class(net: Any, backend: str) -> Any:
    """As a library of models does that decorates its code."""

    class Compiled(type(net.bert.pooler)):  # type: ignore[misc]
        @torch.compile(backend=backend)
        def forward(self, hidden_states: Tensor) -> Tensor:
            return super().forward(hidden_states)

    net.bert.pooler.__class__ = Compiled
    return net


WAYS = [compile_itself, compile_forward, compile_around, compile_blocks, compile_class]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
def test_a_compiled_network_gets_the_scores_of_the_plain_one(
    way: Callable[[Any, str], Any], backend: str, expected: dict[str, list[np.ndarray]]
) -> None:
    net = way(fresh(), backend)
    with torch.no_grad():
        net(torch.tensor([rows()[0]]))
    methods = list(METHODS) if way is compile_itself else FAST
    assert_equal(scores(net, methods), {name: expected[name] for name in methods})


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_network_compiled_to_machine_code_gets_the_same_scores(
    way: Callable[[Any, str], Any], expected: dict[str, list[np.ndarray]]
) -> None:
    net = way(fresh(), "inductor")
    with torch.no_grad():
        net(torch.tensor([rows()[0]]))
    assert_equal(scores(net, FAST), {name: expected[name] for name in FAST})


def test_what_was_compiled_stays_compiled() -> None:
    net = fresh()
    calls = []

    def backend(graph: Any, _inputs: Any) -> Any:
        calls.append(graph)
        return graph.forward

    compiled: Any = torch.compile(net, backend=backend)
    headlight.explain(headlight.wrap(compiled), LENGTHS, ["attn_lrp", "rollout"])
    assert not calls
    with torch.no_grad():
        compiled(torch.tensor([rows()[0]]))
    assert calls


@pytest.mark.filterwarnings("ignore:.torch.jit")
def test_torchscript_is_refused() -> None:
    net: Any = fresh()
    net.classifier = torch.jit.trace(net.classifier, torch.zeros(1, 32, dtype=torch.float64))
    with pytest.raises(UnsupportedModel, match=r"TorchScript \(Linear\).*before torch.jit"):
        headlight.wrap(net)


# ---------------------------------------------------------------- parts that refer to other parts


class EarlyReader(BertForSequenceClassification):
    """Its head reads the block before the last, which a hook keeps for it."""

    kept: Tensor

    def __init__(self, config: Any, way: str):
        super().__init__(config)
        kinds: dict[str, Any] = {
            "method": self.keep,
            "closure": lambda _module, _args, output: self.keep(_module, _args, output),
            "partial": partial(type(self).keep, self),
        }
        self.bert.encoder.layer[1].register_forward_hook(kinds[way])
        self.held = {"in a list": [self.bert.encoder.layer[1]]}

    def keep(self, _module: nn.Module, _args: Any, output: Any) -> None:
        self.kept = output if isinstance(output, Tensor) else output[0]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        answer = super().forward(*args, **kwargs)
        answer.logits = answer.logits * 0.1 + self.classifier(self.kept[:, 0])
        assert self.held["in a list"][0] is self.bert.encoder.layer[1]
        return answer


@pytest.mark.parametrize("way", ["method", "closure", "partial"])
def test_hooks_of_the_network_serve_the_double(way: str) -> None:
    torch.manual_seed(0)
    net = EarlyReader(network("bert", Task.SEQUENCE).config, way).double().eval()
    ids = torch.tensor([rows()[0]])
    expected = net(ids).logits
    net(ids + 1)  # leaves something else behind
    found = double(headlight.wrap(net)).network(ids).logits
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)


LAST: list[Any] = []
"""A place by which a hook knows a network without holding it."""


def keep_globally(_module: nn.Module, _args: Any, output: Any) -> None:
    LAST[0].keep(_module, _args, output)


def test_a_network_that_cannot_be_followed_is_refused() -> None:
    net = EarlyReader(network("bert", Task.SEQUENCE).config, "method").eval()
    net.bert.encoder.layer[1]._forward_hooks.clear()
    net.bert.encoder.layer[1].register_forward_hook(keep_globally)
    LAST[:] = [net]
    net(torch.tensor([rows()[0]]))
    with pytest.raises(UnsupportedModel, match=r"in ways that cannot be followed.*through `self`"):
        headlight.wrap(net)


class Outside:
    """Holds a part of a network where nobody looks for it."""

    def __init__(self, part: Any):
        self.part = part


def test_a_network_that_runs_parts_of_itself_from_outside_is_refused() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    outside = Outside(net.classifier)
    net.bert.pooler.register_forward_hook(
        lambda _module, _args, output: output + outside.part.weight[0]
    )
    with pytest.raises(UnsupportedModel, match="in ways that cannot be followed"):
        headlight.wrap(net)


def test_the_weights_are_shared_and_need_no_gradient() -> None:
    wrapped = headlight.wrap(fresh())
    made = dict(double(wrapped).network.named_parameters())
    for name, parameter in wrapped.network.named_parameters():
        assert made[name].data_ptr() == parameter.data_ptr()
        assert parameter.requires_grad
        assert not made[name].requires_grad


def test_a_double_of_a_double_is_itself() -> None:
    made = double(headlight.wrap(fresh()))
    assert double(made) is made


# ---------------------------------------------------------------------------------- other threads


class Elsewhere:
    """What another thread does to a network in the middle of every pass."""

    def __init__(self, net: Any, act: Callable[[Any], object]):
        self.net, self.act = net, act
        net.bert.encoder.layer[0].register_forward_hook(self.hook)

    def hook(self, *_args: Any) -> None:
        thread = threading.Thread(target=self.act, args=(self.net,))
        thread.start()
        thread.join()


def test_train_in_another_thread_changes_no_score(expected: dict[str, list[np.ndarray]]) -> None:
    net = fresh()
    Elsewhere(net, lambda net: net.train())
    assert_equal(scores(net, list(METHODS)), expected)
    assert net.training


def test_backward_in_another_thread_keeps_its_gradients(
    expected: dict[str, list[np.ndarray]],
) -> None:
    net: Any = fresh()
    are_whole = []

    def train(net: Any) -> None:
        net.zero_grad()
        embedded = net.bert.embeddings(torch.tensor([rows()[0]]))
        net.classifier(net.bert.pooler(embedded)).sum().backward()
        used = (net.bert.embeddings, net.bert.pooler, net.classifier)
        are_whole.append(all(p.grad is not None for part in used for p in part.parameters()))

    Elsewhere(net, train)
    assert_equal(scores(net, FAST), {name: expected[name] for name in FAST})
    assert are_whole
    assert all(are_whole)


def test_a_hook_that_turns_dropout_on_is_refused() -> None:
    net: Any = fresh()
    wrapped = headlight.wrap(net)

    def hook(*_args: Any) -> None:
        net.train()

    net.bert.encoder.layer[0].register_forward_hook(hook)
    with pytest.raises(UnsupportedModel, match="into training mode while it ran"):
        headlight.explain(wrapped, LENGTHS, "attcat")


@pytest.mark.slow
def test_training_beside_many_explanations_changes_no_score() -> None:
    net = fresh()
    wrapped = headlight.wrap(net)
    expected = headlight.explain(wrapped, LENGTHS, ["attn_lrp", "attcat"])
    is_over = threading.Event()
    missing = []

    def disturb() -> None:
        while not is_over.is_set():
            net.train()
            net.zero_grad()
            net(torch.tensor([rows()[0]])).logits.sum().backward()
            missing.append(any(p.grad is None for p in net.parameters()))
            net.eval()

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(60):
            found = headlight.explain(wrapped, LENGTHS, ["attn_lrp", "attcat"])
            for name, own in expected.items():
                for a, b in zip(found[name], own, strict=True):
                    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12)
    finally:
        is_over.set()
        other.join()
    assert missing
    assert not any(missing)


# ------------------------------------------------------------------------------------------ memory


@contextmanager
def without_collection() -> Iterator[None]:
    """Python does not look for circles of references inside."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def networks_in_memory() -> int:
    return sum(issubclass(type(each), PreTrainedModel) for each in gc.get_objects())


def test_a_double_is_freed_as_soon_as_nobody_has_it() -> None:
    wrapped = headlight.wrap(fresh())
    with without_collection():
        made = double(wrapped)
        known = weakref.ref(made.network)
        del made
        assert known() is None


@pytest.mark.parametrize("method", ["attn_lrp", "lrp", "attcat", "integrated_gradients", "alti"])
def test_an_explanation_leaves_no_network_in_memory(method: str) -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    headlight.explain(wrapped, LENGTHS, method)
    with without_collection():
        before = networks_in_memory()
        headlight.explain(wrapped, LENGTHS, method)
        assert networks_in_memory() == before


# ------------------------------------------------------------------------------ spread by accelerate


def spread(net: Any) -> Any:
    """A network as accelerate spreads it, every part with a hook that moves its inputs to its device."""
    parts = (
        "bert.embeddings",
        "bert.encoder.layer.0",
        "bert.encoder.layer.1",
        "bert.encoder.layer.2",
    )
    places = dict.fromkeys((*parts, "bert.pooler", "dropout", "classifier"), "cpu")
    return dispatch_model(net, places, main_device="cpu", force_hooks=True)


def test_a_network_that_accelerate_spread_gives_the_same_scores(
    expected: dict[str, list[np.ndarray]],
) -> None:
    net = spread(fresh())
    hooked = [part for part in net.modules() if hasattr(part, "_hf_hook")]
    hooks = [vars(part._hf_hook).copy() for part in hooked]
    assert len(hooks) > 5
    assert_equal(scores(net, FAST), {name: expected[name] for name in FAST})
    assert [vars(part._hf_hook) for part in hooked] == hooks, (
        "a pass noted something in the user's hooks"
    )


def test_a_network_that_accelerate_spread_still_gets_token_types() -> None:
    ids = rows(1)
    types = [[int(place > 2) for place in range(len(row))] for row in ids]
    batch = Batch.from_ids(ids, None, types)
    plain, moved, without = (
        headlight.explain(headlight.wrap(net), own, "input_x_gradient").scores
        for net, own in ((fresh(), batch), (spread(fresh()), batch), (fresh(), Batch.from_ids(ids)))
    )
    np.testing.assert_allclose(moved, plain, rtol=1e-9)
    assert np.abs(plain - without).max() > 1e-6


def test_hooks_in_a_row_are_copied_one_by_one() -> None:
    first, second = AlignDevicesHook("cpu"), AlignDevicesHook("cpu")
    made = copied_hook(SequentialHook(first, second))
    assert [type(hook) for hook in made.hooks] == [AlignDevicesHook] * 2
    assert first not in made.hooks
