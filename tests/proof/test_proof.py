"""What a network must prove when it is wrapped, and that refusals say the true reason."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AutoModelForMultipleChoice,
    BertConfig,
    BertForSequenceClassification,
    BigBirdConfig,
    BigBirdForSequenceClassification,
    CanineConfig,
    CanineForSequenceClassification,
    CTRLConfig,
    CTRLForSequenceClassification,
    GPTJConfig,
    GPTJForCausalLM,
    LongformerConfig,
    LongformerForSequenceClassification,
    MambaConfig,
    MambaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
    RwkvConfig,
    RwkvForCausalLM,
    XLNetConfig,
    XLNetForSequenceClassification,
)
from transformers.modeling_outputs import SequenceClassifierOutput

import headlight
from headlight import Batch, Model, UnsupportedModel
from headlight.models.model import Task
from tests.networks import ENCODER, network

BATCH = Batch.from_ids([[5, 6, 7, 8], [9, 10]])


# ------------------------------------------------------------------------------- kinds of networks

SMALL: dict[str, Any] = {"vocab_size": 60, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def test_networks_without_attention_keep_the_methods_without() -> None:
    torch.manual_seed(0)
    config = MambaConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, state_size=4)
    wrapped = headlight.wrap(MambaForCausalLM(config).eval())
    found = headlight.explain(wrapped, BATCH, "input_x_gradient")
    assert found[1].scores.all()
    with pytest.raises(UnsupportedModel, match=r"no attention that can be seen.*input_x_gradient"):
        headlight.explain(wrapped, BATCH, "gae")


def test_a_limit_of_minus_one_is_none() -> None:
    config = XLNetConfig(vocab_size=60, d_model=16, n_layer=2, n_head=2, d_inner=16)
    net = XLNetForSequenceClassification(config)
    assert Model(net, None, "xlnet", Task.SEQUENCE, None).token_limit is None


def test_what_has_no_embedding_for_each_token_is_refused() -> None:
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    window = LongformerConfig(
        **sizes, vocab_size=60, attention_window=4, max_position_embeddings=40
    )
    with pytest.raises(UnsupportedModel, match="one vector per input token"):
        headlight.wrap(LongformerForSequenceClassification(window).eval())
    config = XLNetConfig(vocab_size=60, d_model=16, n_layer=2, n_head=2, d_inner=16)
    with pytest.raises(UnsupportedModel, match="one vector per input token"):
        headlight.wrap(XLNetForSequenceClassification(config).eval())
    with pytest.raises(UnsupportedModel, match="no table of word embeddings"):
        headlight.wrap(CanineForSequenceClassification(CanineConfig(**sizes)).eval())


def test_what_a_network_raises_is_said_when_it_is_wrapped_and_when_it_is_explained() -> None:
    class Picky(BertForSequenceClassification):
        wants = 0

        def forward(self, input_ids: Tensor, **kwargs: Any) -> Any:
            if not (input_ids == self.wants).any() and self.wants:
                raise ZeroDivisionError(f"where is {self.wants}?")
            return super().forward(input_ids, **kwargs)

    torch.manual_seed(0)
    net = Picky(BertConfig(**ENCODER)).eval()
    wrapped = headlight.wrap(net)
    net.wants = 99
    with pytest.raises(UnsupportedModel, match=r"Picky.*ZeroDivisionError: where is 99\?") as error:
        headlight.wrap(net)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    with pytest.raises(UnsupportedModel, match="ZeroDivisionError: where is 99"):
        headlight.explain(wrapped, BATCH, "input_x_gradient")


@pytest.mark.filterwarnings("ignore")
def test_quantised_networks_are_told_that_they_have_no_gradients() -> None:
    net = torch.ao.quantization.quantize_dynamic(network("bert", Task.SEQUENCE), {nn.Linear})
    with pytest.raises(UnsupportedModel, match="quantised") as error:
        headlight.wrap(net)
    assert "architectures.py" not in str(error.value)


class ReadsIdsTwice(BertForSequenceClassification):
    """Adds to its logits what no embedding of BERT knows."""

    def forward(self, input_ids: Tensor, **others: Any) -> Any:
        output = super().forward(input_ids, **others)
        output.logits = output.logits + input_ids.to(output.logits).sum(1, keepdim=True) / 100
        return output


def test_a_second_way_in_for_tokens_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="in a second place"):
        headlight.wrap(ReadsIdsTwice(BertConfig(**ENCODER)).eval())


class Own(PreTrainedModel):
    """A network whose name does not say what it does."""

    config_class = BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.inner = BertForSequenceClassification(config)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        return self.inner.get_input_embeddings()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Any) -> Any:
        return SequenceClassifierOutput(logits=self.inner(input_ids, attention_mask).logits)


def test_the_task_of_a_network_without_a_name_for_it_can_be_said() -> None:
    torch.manual_seed(0)
    net = Own(BertConfig(**{**ENCODER, "num_labels": 3})).eval()
    with pytest.raises(UnsupportedModel, match="task="):
        headlight.wrap(net)
    with pytest.raises(headlight.UnknownName, match="no task named 'sequences'"):
        headlight.wrap(net, task="sequences")
    with pytest.raises(UnsupportedModel, match=r"shape.*not token classification"):
        headlight.wrap(net, task="token classification")
    wrapped = headlight.wrap(net, task="sequence classification")
    assert wrapped.task is Task.SEQUENCE
    assert headlight.explain(wrapped, BATCH, "input_x_gradient")[0].scores.any()


def test_multiple_choice_is_refused() -> None:
    net = AutoModelForMultipleChoice.from_config(BertConfig(**ENCODER)).eval()
    with pytest.raises(UnsupportedModel, match="no head whose decision could be explained"):
        headlight.wrap(net)


def tiny(kind: Any, config: Any, **changes: Any) -> Any:
    """A small double-precision network of a family without a row."""
    torch.manual_seed(0)
    return kind(config(vocab_size=120, pad_token_id=0, **changes)).double().eval()


WRITES = {
    "a weight": lambda net: net.classifier.weight.div_(2),
    "a weight by its data": lambda net: net.classifier.weight.data.div_(2),
    "a view of a weight": lambda net: net.classifier.weight[0].zero_(),
    "a buffer": lambda net: net.bert.embeddings.position_ids.add_(0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_network_that_changes_its_weights_is_refused_before_it_does(name: str) -> None:
    net = network("bert", Task.SEQUENCE)
    before = {key: value.clone() for key, value in net.state_dict().items()}

    def write(module: nn.Module, _args: Any) -> None:
        with torch.no_grad():
            WRITES[name](module)

    net.register_forward_pre_hook(write)
    with pytest.raises(UnsupportedModel, match="changes its own weights or buffers while it runs"):
        headlight.wrap(net)
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())


def test_weights_that_are_rescaled_at_first_use_stay_as_they_were() -> None:
    net = tiny(RwkvForCausalLM, RwkvConfig, hidden_size=16, num_hidden_layers=4, rescale_every=2)
    before = {key: value.clone() for key, value in net.state_dict().items()}
    with pytest.raises(UnsupportedModel, match="first run in evaluation mode"):
        headlight.wrap(net)
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())


SMALL = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 40, "initializer_range": 0.3}


@pytest.mark.parametrize(
    ("kind", "config", "changes"),
    [
        (GPTJForCausalLM, GPTJConfig, {"rotary_dim": 4}),
        (CTRLForSequenceClassification, CTRLConfig, {"dff": 24}),
    ],
)
def test_embeddings_that_serve_types_or_are_changed_in_place_are_explained(
    kind: Any, config: Any, changes: dict[str, Any]
) -> None:
    net = tiny(kind, config, **SMALL, **changes)
    ids = [7, 40, 12, 99]
    made: list[Tensor] = []
    wrapped = headlight.wrap(net)
    found = headlight.explain(wrapped, Batch.from_ids([ids]), "input_x_gradient")

    def keep(_module: nn.Module, _args: Any, output: Tensor) -> Tensor:
        made.append(output.detach().requires_grad_())
        return made[0].clone()

    wrapped.embedding_stages[-1].register_forward_hook(keep)
    logits = net(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids))).logits
    (slope,) = torch.autograd.grad(logits.reshape(-1, logits.shape[-1])[-1].max(), made)
    np.testing.assert_allclose(found.scores, (slope * made[0]).sum(-1)[0].detach(), rtol=1e-9)


OPT: dict[str, Any] = {
    "hidden_size": 32,
    "word_embed_proj_dim": 32,
    "ffn_dim": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 80,
    "init_std": 0.3,
}


def test_a_head_that_runs_a_part_of_the_body_is_read() -> None:
    assert not headlight.wrap(tiny(OPTForCausalLM, OPTConfig, **OPT)).readout.refusal


def test_attention_that_changes_its_form_with_the_length_is_refused_there() -> None:
    settings = {**ENCODER, "attention_type": "block_sparse", "block_size": 2}
    del settings["vocab_size"]
    net = tiny(BigBirdForSequenceClassification, BigBirdConfig, num_random_blocks=1, **settings)
    model = headlight.wrap(net)
    short, long = Batch.from_ids([list(range(5, 12))]), Batch.from_ids([list(range(5, 45))])
    assert headlight.explain(model, short, "gae").scores.any()
    with pytest.raises(UnsupportedModel, match=r"does not attend from every token .* of 40 tokens"):
        headlight.explain(model, long, "gae")
    assert headlight.explain(model, long, "input_x_gradient").scores.any()
