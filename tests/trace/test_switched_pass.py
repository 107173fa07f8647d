"""A head that is off adds nothing to its block, in every family, and the network is not touched."""

from collections.abc import Callable
from copy import deepcopy
from itertools import count
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from benchmarks.families.tiny import tiny
from torch import Tensor
from transformers import PreTrainedModel, T5Config, T5ForSequenceClassification
from transformers.pytorch_utils import Conv1D

import headlight
from headlight import Batch, Model, UnsupportedModel
from headlight.batch import Inputs, collate
from headlight.models.model import Task
from headlight.trace.capture import FUSED
from headlight.trace.switched_pass import head_counts, logits_without
from tests.networks import CONFIGS, DECODERS, OWN_TASKS, families, network, rows
from tests.reference import modified
from tests.reference.modified import PAPERS

LAYERS, HEADS = 3, 4


def inputs_of(model: Model, *ids: list[int]) -> Inputs:
    return collate(Batch.from_ids(list(ids)).rows, model.pad_id or 0)


def off(*places: tuple[int, int]) -> Tensor:
    found = torch.zeros(1, LAYERS, HEADS, dtype=torch.bool)
    for layer, head in places:
        found[0, layer, head] = True
    return found


ONE, COLUMN = off((1, 2)), off(*((layer, 1) for layer in range(LAYERS)))
SEVERAL, ALL = off((0, 0), (0, 3), (2, 1)), ~off()


def cut(net: PreTrainedModel, heads: Tensor) -> PreTrainedModel:
    """A copy whose output projections have zeros in the columns of these heads."""
    copied = deepcopy(net)
    for layer, parts in enumerate(headlight.wrap(copied).block_parts):
        weight = parts.projection.weight
        assert isinstance(weight, Tensor)
        by_input = weight if isinstance(parts.projection, Conv1D) else weight.T
        width = len(by_input) // HEADS
        for head in heads[0, layer].nonzero()[:, 0].tolist():
            by_input.data[head * width : (head + 1) * width] = 0
    return copied


@families("bert", "mpnet", "deberta-v2", "modernbert", "gpt2", "llama")
def test_a_head_that_is_off_is_one_whose_columns_of_the_projection_are_zero(family: str) -> None:
    net = network(family, OWN_TASKS[family]).double()
    wrapped = headlight.wrap(net)
    assert head_counts(wrapped) == (LAYERS, HEADS)
    # The layers of ALBERT share their weights, so only the same heads of all layers can be cut.
    cases = [COLUMN, ALL] if family == "albert" else [ONE, SEVERAL, COLUMN, ALL]
    given = inputs_of(wrapped, *[rows()[n % 3] for n in range(len(cases))])
    found = logits_without(wrapped, given, torch.cat(cases))
    for number, case in enumerate(cases):
        ids = rows()[number % 3]
        with torch.no_grad():
            expected = cut(net, case)(torch.tensor([ids])).logits[0]
            whole = net(torch.tensor([ids])).logits[0]
        own = found[number, : len(ids)] if family in DECODERS else found[number, 0]
        assert float((own - expected).abs().max()) <= 1e-12 * float(expected.abs().max())
        assert float((own - whole).abs().max()) > 1e-3


def written_without(heads: Tensor) -> Callable[..., Tensor]:
    """The attention of the oracles, in which some heads give zeros."""
    plain, layers = modified.attention, count()

    def attention(*given: Any, **named: Any) -> Tensor:
        layer, mixed = next(layers), plain(*given, **named)
        return torch.stack([m * 0 if heads[0, layer, h] else m for h, m in enumerate(mixed)])

    return attention


@pytest.mark.parametrize("case", [ONE, SEVERAL, ALL], ids=["one", "several", "all"])
@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_logits_are_those_of_networks_written_out_by_hand(
    family: str, case: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = network(family, OWN_TASKS[family]).double()
    wrapped, ids = headlight.wrap(net), rows()[1]
    with torch.no_grad():
        stage = wrapped.embedding_stages[-1]
        seen: list[Tensor] = []
        handle = stage.register_forward_hook(lambda *call: seen.append(call[-1]))
        net(torch.tensor([ids]))
        handle.remove()
        found = logits_without(wrapped, inputs_of(wrapped, ids), case)[0, -1]
        for label in range(3):
            monkeypatch.setattr(modified, "attention", written_without(case))
            written = getattr(modified, family)(net, seen[0][0], label, PAPERS["attn_lrp"])
            monkeypatch.undo()
            # Llama's norms are computed in 32 bits, also in a 64-bit network.
            error = 1e-6 if family == "llama" else 1e-12
            torch.testing.assert_close(found[label], written, rtol=error, atol=error)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "mpnet"])
def test_with_all_heads_off_a_block_adds_only_the_bias_of_its_projection(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = headlight.wrap(network(family, OWN_TASKS[family]).double())
    seen: list[tuple[Any, Tensor]] = []
    kind: Any = type(wrapped.block_parts[0].projection)
    plain = kind.forward

    def watched(module: Any, given: Tensor) -> Tensor:
        result = plain(module, given)
        seen.append((module, result))
        return result

    monkeypatch.setattr(kind, "forward", watched)
    logits_without(wrapped, inputs_of(wrapped, rows()[1]), ALL)
    monkeypatch.undo()
    joined: list[Any] = [parts.projection.weight for parts in wrapped.block_parts]
    own = [
        (module, result)
        for module, result in seen
        if any(module.weight.data_ptr() == weight.data_ptr() for weight in joined)
    ]
    assert len(own) == LAYERS
    for module, result in own:
        bias = torch.zeros(()) if module.bias is None else module.bias.detach()
        assert torch.equal(result, bias.to(result).expand_as(result))


def test_with_no_head_off_the_logits_are_those_of_the_network() -> None:
    for family in ("bert", "deberta-v2", "llama"):
        net = network(family, OWN_TASKS[family]).double()
        wrapped = headlight.wrap(net)
        found = logits_without(wrapped, inputs_of(wrapped, rows()[1]), off())
        with torch.no_grad():
            plain = net(torch.tensor([rows()[1]])).logits
        torch.testing.assert_close(found[:, -1], plain[:, -1] if plain.dim() == 3 else plain)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_it_does_not_matter_how_the_network_attends(implementation: str) -> None:
    net = network("llama", Task.CAUSAL, attn_implementation=implementation).double()
    wrapped = headlight.wrap(net)
    found = logits_without(wrapped, inputs_of(wrapped, rows()[1]), SEVERAL)
    with torch.no_grad():
        expected = cut(net, SEVERAL)(torch.tensor([rows()[1]])).logits
    # Llama's own eager softmax is computed in 32 bits.
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert net.config._attn_implementation == implementation != FUSED


def test_layers_that_share_their_weights_are_switched_one_by_one() -> None:
    wrapped = headlight.wrap(network("albert", Task.SEQUENCE).double())
    cases = [off((layer, 1)) for layer in range(LAYERS)]
    given = inputs_of(wrapped, *[rows()[0]] * LAYERS)
    found = logits_without(wrapped, given, torch.cat(cases))[:, 0]
    assert torch.pdist(found).min() > 1e-3


@pytest.mark.parametrize("family", ["gpt_neox", "gemma2", "bloom", "opt"])
def test_families_without_a_row_are_switched_where_their_attention_is_seen(family: str) -> None:
    """The blocks of these are not built from the parts that the table knows."""
    wrapped = headlight.wrap(tiny(family, "language model"))
    layers, heads = head_counts(wrapped)
    nothing = torch.zeros(2, layers, heads, dtype=torch.bool)
    nothing[1] = True
    ids = [5, 17, 33, 8, 60, 41]
    before, after = logits_without(wrapped, inputs_of(wrapped, ids, ids), nothing)
    with torch.no_grad():
        plain = wrapped.network(torch.tensor([ids])).logits[0]
    torch.testing.assert_close(before, plain, rtol=1e-4, atol=1e-5)
    other = [9, 9, 9, 9, 9, 41]  # with all heads off, tokens do not know of each other
    alone = logits_without(wrapped, inputs_of(wrapped, other), nothing[1:])[0]
    torch.testing.assert_close(after[-1], alone[-1])
    assert float((after - before).abs().max()) > 1e-4


def test_two_threads_switch_their_own_heads() -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE).double())
    given = inputs_of(wrapped, rows()[1])
    expected = {n: logits_without(wrapped, given, case) for n, case in enumerate((ONE, ALL))}
    found: dict[int, list[Tensor]] = {0: [], 1: []}

    def work(number: int, case: Tensor) -> None:
        for _ in range(10):
            found[number].append(logits_without(wrapped, given, case))

    threads = [Thread(target=work, args=each) for each in enumerate((ONE, ALL))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, every in found.items():
        assert len(every) == 10
        assert all(torch.equal(each, expected[number]) for each in every)


def test_networks_whose_heads_are_not_one_stack_are_refused() -> None:
    config = T5Config(vocab_size=60, d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    config.eos_token_id, config.decoder_start_token_id = 1, 0
    wrapped = headlight.wrap(T5ForSequenceClassification(config).eval())
    with pytest.raises(
        UnsupportedModel, match=r"cannot be switched off in .* is an encoder-decoder"
    ):
        head_counts(wrapped)


def test_attention_of_another_form_on_a_longer_input_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    few = torch.zeros(1, LAYERS + 1, HEADS, dtype=torch.bool)
    monkeypatch.setattr(wrapped.network.config, "num_hidden_layers", LAYERS + 1)
    with pytest.raises(
        UnsupportedModel, match=r"it shows 3 attention maps in 4 layers on an input of 9"
    ):
        logits_without(wrapped, inputs_of(wrapped, rows()[1]), few)


def test_a_config_that_does_not_count_heads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    silent = SimpleNamespace(num_hidden_layers=3)
    monkeypatch.setattr(wrapped.network.config, "get_text_config", lambda: silent)
    with pytest.raises(UnsupportedModel, match="does not say in its config how many heads"):
        head_counts(wrapped)


def test_every_family_of_the_table_has_a_projection() -> None:
    from headlight.models.architectures import ARCHITECTURES

    assert set(ARCHITECTURES) == set(CONFIGS)
    assert all(row.parts is not None for row in ARCHITECTURES.values())
