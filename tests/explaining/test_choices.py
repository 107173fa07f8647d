"""Options that depend on the model: what they are where a call says nothing."""

from dataclasses import replace
from pathlib import Path

import headlight
from headlight import METHODS, Model
from headlight.explaining.choices import chosen, chosen_decoder, chosen_layer, depends_on_model
from headlight.loading.catalogue import CATALOGUE
from headlight.trace.decoder import Decoder


def test_causal_models_decode_with_their_own_head(writer: Model) -> None:
    found = headlight.explain(writer, "a film", "decoded_grad_cam")
    assert found.options["decoder"] == "tiny writer"
    assert found.options["layer"] == 2


def test_a_decoder_is_given_as_itself_a_model_or_a_folder(
    classifier: Model, filler: Model, tmp_path: Path
) -> None:
    filler.network.save_pretrained(tmp_path)
    filler.tokenizer.save_pretrained(tmp_path)  # type: ignore[union-attr]
    own = Decoder(filler)
    assert chosen_decoder(classifier, own) is own
    assert chosen_decoder(classifier, filler).model is filler
    for place in (tmp_path, str(tmp_path)):
        assert str(chosen_decoder(classifier, place)) == str(tmp_path)
    assert chosen_decoder(filler, None).model is filler


def test_the_layer_is_the_given_one_or_the_middle(classifier: Model) -> None:
    assert chosen_layer(classifier, None) == 2
    assert chosen_layer(classifier, "1") == 1
    assert (
        chosen_layer(replace(classifier, name="sentiment"), None)
        == CATALOGUE["sentiment"].best_layer
    )


def test_nothing_given_is_the_same_as_none(classifier: Model) -> None:
    assert chosen(classifier, {}, "layer") == chosen(classifier, {"layer": None}, "layer") == 2
    assert chosen(classifier, {"layer": 3}, "layer") == 3
    assert str(chosen(classifier, {}, "baseline")) == "mask"


def test_the_base_is_the_preferred_method_or_a_given_one_with_its_own_choices(
    classifier: Model,
) -> None:
    assert chosen(classifier, {}, "base").name == "attn_lrp"
    given = chosen(classifier, {"base": "gim:baseline=zero"}, "base")
    assert (str(given), str(given.settled["baseline"])) == ("gim:baseline=zero", "zero")
    assert str(chosen(classifier, {"base": "gim"}, "base").settled["baseline"]) == "mask"
    assert chosen(classifier, {"base": given}, "base") is given


def test_only_options_without_a_default_depend_on_the_model() -> None:
    assert depends_on_model(METHODS["mask_lrp"].options["mask"])
    assert not depends_on_model(METHODS["lime"].options["samples"])
