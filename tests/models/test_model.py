"""What headlight knows of a network and its tokenizer."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoModel, BertConfig, PreTrainedTokenizerFast

import headlight
from headlight import InvalidInput, Model, UnsupportedModel
from headlight.models.architectures import ARCHITECTURES, Architecture, BlockPaths
from headlight.models.model import Task, is_half_precision, task_of
from tests.known import known
from tests.networks import ENCODER, model, network


def changed(own: Model, **changes: Any) -> Model:
    """The same model with other values in a copy of its config."""
    net = network("bert", own.task)
    net.config.update(changes)
    return replace(own, network=net)


@pytest.fixture
def own() -> Model:
    return model("bert", Task.SEQUENCE)


def test_labels_are_those_of_the_config_and_a_regression_has_values(own: Model) -> None:
    assert own.labels == {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    rater = model("bert", Task.REGRESSION)
    assert rater.labels == {0: "value"}
    net = network("bert", Task.SEQUENCE, problem_type="regression")
    assert headlight.wrap(net).labels == {0: "value 0", 1: "value 1", 2: "value 2"}
    net.config.id2label = {0: "joy", 1: "fear", 2: "anger"}
    assert headlight.wrap(net).labels[1] == "fear"


def test_the_separator_is_the_network_s_own_or_the_tokenizer_s(
    own: Model, classifier: Model, writer: Model
) -> None:
    assert classifier.separator_id == known(classifier.tokenizer).sep_token_id is not None
    assert own.separator_id is writer.separator_id is None
    assert changed(own, sep_token_id=7).separator_id == 7


def test_the_pad_token_is_the_network_s_own_or_the_tokenizer_s(
    own: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    without = changed(own, pad_token_id=None)
    assert without.pad_id is None
    assert replace(without, tokenizer=tokenizer).pad_id == tokenizer.pad_token_id
    assert replace(changed(own, pad_token_id=7), tokenizer=tokenizer).pad_id == 7


def test_the_limit_is_the_least_of_positions_and_tokenizer(
    own: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    positions = own.network.config.max_position_embeddings
    assert own.token_limit == positions
    offset = ARCHITECTURES["roberta"]
    assert replace(own, architecture=offset).token_limit == positions - 2
    assert replace(own, architecture=None).token_limit == positions
    assert replace(own, tokenizer=tokenizer).token_limit == min(80, positions)
    assert changed(own, max_position_embeddings=-1).token_limit is None
    own.check_row_length(0, positions)
    with pytest.raises(InvalidInput, match=rf"row 3 has {positions + 1} tokens and .*stride="):
        own.check_row_length(3, positions + 1)


def test_the_token_that_ends_a_text(own: Model, tokenizer: PreTrainedTokenizerFast) -> None:
    assert own.end_id is None
    assert changed(own, eos_token_id=[9, 8]).end_id == 9
    assert changed(own, eos_token_id=10**6).end_id is None
    assert replace(own, tokenizer=tokenizer).end_id == tokenizer.sep_token_id


def test_types_are_counted_where_the_network_takes_them(own: Model) -> None:
    assert own.type_count == own.network.config.type_vocab_size
    assert model("distilbert", Task.SEQUENCE).type_count == 0
    assert not model("llama", Task.CAUSAL).takes_types


def test_a_network_without_word_embeddings_is_refused(
    own: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own.vocabulary_size == own.network.config.vocab_size

    def none() -> None:
        raise NotImplementedError

    for lacking in (none, lambda: None, nn.Identity):
        monkeypatch.setattr(own.network, "get_input_embeddings", lacking)
        with pytest.raises(UnsupportedModel, match="has no table of word embeddings"):
            _ = own.word_embeddings


def test_an_unknown_family_has_word_embeddings_and_no_blocks(own: Model) -> None:
    unknown = replace(own, architecture=None)
    assert unknown.embedding_stages == [own.network.get_input_embeddings()]
    assert unknown.final_norms == []
    with pytest.raises(
        UnsupportedModel, match=r"no row in the architecture table.*Known families: albert"
    ):
        _ = unknown.blocks


@pytest.mark.parametrize(
    ("row", "attribute", "message"),
    [
        (
            Architecture(("words",), "encoder.layer"),
            "embedding_stages",
            "names 'words' as embeddings",
        ),
        (Architecture(("embeddings",), "layers"), "blocks", "names 'layers' as blocks"),
        (Architecture(("embeddings",), "encoder.layer"), "block_parts", "names no parts of blocks"),
        (
            Architecture(("embeddings",), "encoder.layer", parts=BlockPaths("out", None, "norm")),
            "block_parts",
            "names 'out' as the projection of a block",
        ),
    ],
)
def test_a_row_that_does_not_fit_names_its_part(
    own: Model, row: Architecture, attribute: str, message: str
) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        getattr(replace(own, architecture=row), attribute)


def test_a_star_is_every_member_of_a_list(own: Model) -> None:
    layers = own.modules_at("encoder.layer.*")
    assert layers == list(own.network.base_model.encoder.layer)  # type: ignore[arg-type, union-attr]
    assert own.modules_at("encoder.layer.*.output.dense") == [each.output.dense for each in layers]  # type: ignore[union-attr]
    assert own.modules_at("encoder.nothing.dense") == []


def test_the_task_is_that_of_the_class_or_of_a_parent() -> None:
    net = network("bert", Task.TOKEN)
    net.__class__ = type("TheirTagger", (type(net),), {})
    assert task_of(net) is Task.TOKEN
    assert task_of(network("bert", Task.REGRESSION)) is Task.REGRESSION
    assert task_of(network("gpt2", Task.CAUSAL)) is Task.CAUSAL
    with pytest.raises(UnsupportedModel, match="BertModel has no head"):
        task_of(AutoModel.from_config(BertConfig(**ENCODER)))


def test_16_bit_networks_are_known() -> None:
    kinds = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    nets = [network("bert", Task.SEQUENCE).to(kind) for kind in kinds]  # type: ignore[arg-type]
    assert [is_half_precision(net) for net in nets] == [True, True, False, False]
