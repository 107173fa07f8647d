"""Names and options before anything runs, and the method of a call that names none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import MambaConfig, MambaForCausalLM, OPTConfig, OPTForCausalLM

import headlight
from headlight import METHODS, Batch, InvalidOption, Model, Target
from headlight.errors import HeadlightError
from headlight.explaining.choices import CHOICES
from headlight.explaining.plan import default_method, methods_for, planned
from headlight.headmask import HeadMask
from headlight.models.model import Task
from headlight.registry.entries import Entry
from headlight.shapes import Scores
from headlight.trace.trace import Trace
from tests.networks import MASK, TARGETS, VOCABULARY, model, network, rows

IDS = rows()[0]
BATCH = Batch.from_ids(IDS)


def plan(name: str | list[str], **options: Any) -> Any:
    return planned(model("bert", Task.SEQUENCE), name, "paper", options, 1, False)


# ---------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("specification", "takes"),
    [
        ("occlusion:window=1.5", "a whole number, 1 or more"),
        ("occlusion:window=x", "a whole number, 1 or more"),
        ("integrated_gradients:steps=x", "a whole number, from 1 to 5000, or null"),
        ("integrated_gradients:steps=1.5", "a whole number, from 1 to 5000, or null"),
        ("integrated_gradients:steps=true", "a whole number, from 1 to 5000, or null"),
        ("alti:workspace=x", "a whole number, 1 or more"),
        ("alti:p=3", "1 or 2"),
        ("mask_lrp:corruption=x", "a number, from 0 to 1"),
        ("mask_lrp:corruption=1.1", "a number, from 0 to 1"),
        ("mask_lrp:first_layer=1.5", "a whole number, 1 or more"),
        ("transformer_attribution:first_layer=x", "a whole number, 1 or more"),
        ("lrp:preset=[]", "one of 'chefer', 'chefer_released', 'attn_lrp', 'epsilon'"),
        ("lrp:preset=cheffer", "one of 'chefer', 'chefer_released', 'attn_lrp', 'epsilon'"),
        ("random:seed=x", "a whole number, from 0 to 4294967295"),
        ("random:seed=1.5", "a whole number, from 0 to 4294967295"),
        ("random:seed=null", "a whole number, from 0 to 4294967295"),
        ("smooth_gradient:samples=x", "a whole number, 1 or more"),
        ("smooth_gradient:scale=NaN", "a number, 0 or more"),
        ("gradient_shap:scale=-1", "a number, 0 or more"),
        ("shapley:permutations=x", "a whole number, 1 or more"),
        ("random_mask_lrp:draws=1.5", "a whole number, 1 or more"),
        ("lime:samples=1", "a whole number, 2 or more"),
        ("lime:width=0", "a number, above 0"),
        ("lime:ridge=-1", "a number, 0 or more"),
        ("decoded_grad_cam:top=0", "a whole number, 1 or more, or null"),
        ("decoded_grad_cam:form=x", "'equation' or 'algorithm'"),
        ("decoded_grad_cam:layer=x", "a whole number, 0 or more"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(specification: str, takes: str) -> None:
    """By name and as a keyword, with the same sentence."""
    name, _, rest = specification.partition(":")
    option, _, _ = rest.partition("=")
    with pytest.raises(InvalidOption, match=f"^{option}=.* is not possible for") as caught:
        plan(specification)
    assert str(caught.value).endswith(f"Use {takes}.")
    value = str(caught.value).split("=")[1].split(" is not")[0]
    given = eval(value, {"nan": float("nan")})
    needed = {"mask": MASK} if "mask" in METHODS[name].options else {}
    with pytest.raises(InvalidOption) as again:
        plan(name, **{option: given}, **needed)
    assert str(again.value) == str(caught.value)


def test_numbers_of_numpy_are_taken() -> None:
    (entry,) = plan("occlusion", window=np.int64(2)).entries
    assert type(entry.settled["window"]) is int
    (entry,) = plan("smooth_gradient", scale=np.float32(0.5), samples=np.int32(3)).entries
    assert entry.settled == {"scale": 0.5, "samples": 3}


def test_an_unknown_option_proposes_the_nearest() -> None:
    message = (
        "'alti' has no option 'worspace'. Did you mean 'workspace'? Known options: p, workspace."
    )
    for call in (lambda: plan("alti:worspace=2"), lambda: plan("alti", worspace=2)):
        with pytest.raises(InvalidOption) as caught:
            call()
        assert str(caught.value) == message
    with pytest.raises(InvalidOption, match=r"'gae', 'rollout' have no option 'p'"):
        plan(["gae", "rollout"], p=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"batch_size": "x"}, "batch_size='x' is not possible"),
        ({"batch_size": 1.5}, "batch_size=1.5 is not possible"),
        ({"stride": "x"}, "stride='x' is not possible. Use a whole number of 0 or"),
        ({"method": [3]}, "method=3 is not understood"),
        ({"method": 3}, "method=3 is not understood"),
        ({"method": "alti:p=1,p=2"}, "gives p twice"),
        ({"method": "alti:p"}, "Write NAME:OPTION=VALUE"),
    ],
)
def test_bad_calls_get_a_sentence(call: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        headlight.explain(model("bert", Task.SEQUENCE), BATCH, **{"method": "gae", **call})


# -------------------------------------------------------------------------- settled options


def test_settled_options_reach_every_part_of_a_method() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    for verb in (headlight.explain, headlight.explain_layers, headlight.mix):
        by_name, by_keyword, plain = (
            verb(wrapped, BATCH, "alti:p=2"),
            verb(wrapped, BATCH, "alti", p=2),
            verb(wrapped, BATCH, "alti"),
        )
        by_name, by_keyword, plain = (
            [a.scores for a in found] if isinstance(found, list)
            else found.scores if hasattr(found, "scores") else found.layers
            for found in (by_name, by_keyword, plain)
        )  # fmt: skip
        np.testing.assert_array_equal(by_name, by_keyword)
        assert not np.allclose(by_name, plain)


def test_answers_are_labelled_with_the_options_they_were_made_with() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    found = headlight.explain(wrapped, BATCH, ["alti:p=2", "alti"], p=1)
    assert list(found) == ["alti:p=2", "alti"]
    assert [a.options["p"] for a in found.values()] == [2, 1]
    layers = headlight.explain_layers(wrapped, BATCH, "alti:p=2")
    assert {(a.method, a.options["p"]) for a in layers} == {("alti:p=2", 2)}
    mixed = headlight.mix(wrapped, BATCH, "alti:p=2")
    assert (mixed.method, mixed.options["p"]) == ("alti:p=2", 2)


def test_a_settled_option_that_is_given_again_is_refused() -> None:
    with pytest.raises(InvalidOption) as caught:
        plan("alti:p=2", p=1)
    assert str(caught.value) == "'alti:p=2' settles p, but p=1 was given too. Give it once."


@pytest.mark.parametrize(
    ("method", "options"), [("decoded_grad_cam:layer=2", {}), ("decoded_grad_cam", {"layer": 2})]
)
def test_one_layer_is_no_option_of_several(method: str, options: dict[str, Any]) -> None:
    wrapped, decoder = model("bert", Task.SEQUENCE), model("bert", Task.MASKED)
    with pytest.raises(InvalidOption, match=r"does not take the option 'layer'\. Give layers="):
        headlight.explain_layers(wrapped, BATCH, method, decoder=decoder, **options)


@pytest.mark.parametrize("verb", [headlight.explain_layers, headlight.mix])
def test_verbs_of_one_method_refuse_several(verb: Any) -> None:
    with pytest.raises(InvalidOption, match="takes one method by name"):
        verb(model("bert", Task.SEQUENCE), BATCH, ["alti", "rollout"])


def test_a_name_is_read_back_as_it_is_written() -> None:
    for given in (
        "decoded_grad_cam:top=null,layer=2",
        "lime:width=0.5",
        "mask_lrp:mask=a file",
        "peel:cuts=[0.1,0.5],mix=1.0",
        "peel:cuts=[],base=gae",
    ):
        assert METHODS.specified(given).name == given
        assert METHODS.specified(given).settled == METHODS.specified(given).settled
    assert METHODS.specified("mask_lrp:corruption=1").name == "mask_lrp:corruption=1.0"


def test_a_method_that_is_built_on_another_needs_what_that_one_needs() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    bases = {"attn_lrp": True, "gae": False, "lrp:preset=attn_lrp": True}
    for base, is_signed in bases.items():
        (entry,) = planned(wrapped, "peel", options={"base": base}).entries
        own = METHODS.specified(base)
        assert entry.needs == {"again", *own.needs}
        assert (entry.signed, entry.preset) == (is_signed, own.preset_with({}))
    (named,) = planned(wrapped, "peel:base=gae").entries
    assert named.needs == {"again", *METHODS["gae"].needs}


# ----------------------------------------------------------------- what the model decides


def test_defaults_are_only_looked_up_where_nothing_is_settled(tmp_path: Path) -> None:
    """The networks here come without a mask and a decoder, and would be refused."""
    HeadMask.of(MASK).save(tmp_path / "mask.safetensors")
    wrapped = model("bert", Task.SEQUENCE)
    by_name = headlight.explain(wrapped, BATCH, f"mask_lrp:mask={tmp_path}/mask.safetensors")
    given = headlight.explain(wrapped, BATCH, "mask_lrp", mask=MASK)
    np.testing.assert_array_equal(by_name.scores, given.scores)
    assert by_name.method == f"mask_lrp:mask={tmp_path}/mask.safetensors"
    model("bert", Task.MASKED).network.save_pretrained(tmp_path / "decoder")
    with pytest.raises(InvalidOption, match="comes without a head mask"):
        plan([f"mask_lrp:mask={tmp_path}/mask.safetensors", "random_mask_lrp"])


def test_masks_of_two_files_do_not_share_a_name(tmp_path: Path) -> None:
    for number, mask in enumerate((MASK, MASK[::-1])):
        HeadMask.of(mask).save(tmp_path / str(number))
    names = [f"mask_lrp:mask={tmp_path}/{number}" for number in range(2)]
    found = headlight.explain(model("bert", Task.SEQUENCE), BATCH, names)
    assert list(found) == names
    assert not np.allclose(*(a.scores for a in found.values()))


@pytest.mark.parametrize("given", ["occlusion:baseline=null", "decoded_grad_cam:layer=2"])
def test_null_means_that_the_model_decides(given: str) -> None:
    found = planned(model("bert", Task.MASKED), given, "paper", {"decoder": None}, 1, False) if (
        "decoder" in METHODS.specified(given).options
    ) else plan(given)  # fmt: skip
    assert None not in found.entries[0].settled.values()


@pytest.fixture
def registered() -> Iterator[None]:
    """A method of another package, whose `layer` is its own and whose `word` must be given."""

    @METHODS.register("theirs", needs={"hidden"})
    def theirs(trace: Trace, *, layer: int = 3, word: str) -> Scores:
        """The largest feature of a state."""
        return trace.hidden[layer].amax(-1) + len(word)

    yield
    del METHODS.entries["theirs"], METHODS.spellings["theirs"]


@pytest.mark.usefixtures("registered")
def test_options_of_other_packages_mean_what_they_say() -> None:
    wrapped, decoder = model("bert", Task.SEQUENCE), model("bert", Task.MASKED)
    with pytest.raises(
        InvalidOption, match=r"'theirs' needs the option 'word'\. Give word= a text"
    ):
        headlight.explain(wrapped, BATCH, "theirs")
    found = headlight.explain(
        wrapped, BATCH, ["theirs", "decoded_grad_cam"], word="x", decoder=decoder
    )
    assert "layer" not in found["theirs"].options
    assert found["decoded_grad_cam"].options["layer"] == 2
    layers = headlight.explain_layers(wrapped, BATCH, "theirs", word="x")
    np.testing.assert_array_equal(layers[3].scores, found["theirs"].scores)
    assert not np.allclose(layers[2].scores, layers[3].scores)


def test_every_option_that_a_model_decides_says_what_it_usually_is() -> None:
    used = {o.name for n in METHODS for o in METHODS[n].options.values() if not o.has_default}
    assert used == set(CHOICES)
    assert all(choice.usually for choice in CHOICES.values())


# --------------------------------------------------------------------------- default method


@pytest.mark.parametrize("task", [*TARGETS, Task.SEQUENCE, Task.QUESTION, Task.REGRESSION])
def test_relevance_is_the_default_where_it_passes(task: Task) -> None:
    wrapped = model("bert", task)
    target = TARGETS.get(task) or Target()
    found = headlight.explain(wrapped, BATCH, target=target)
    named = headlight.explain(wrapped, BATCH, "attn_lrp", target)
    assert found.method == "attn_lrp"
    assert found.notes == (*named.notes, "no method was named, so attn_lrp was used")
    np.testing.assert_array_equal(found.scores, named.scores)


def test_generation_has_the_same_default(writer: Model) -> None:
    found = headlight.explain_generation(writer, "the keys", max_new_tokens=2)
    assert [a.method for a in found.attributions] == ["attn_lrp"] * 2


def unknown_family() -> torch.nn.Module:
    return OPTForCausalLM(
        OPTConfig(
            vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            ffn_dim=48, max_position_embeddings=80, word_embed_proj_dim=32, pad_token_id=0,
            bos_token_id=1, eos_token_id=2,
        )
    ).eval()  # fmt: skip


def without_attention() -> torch.nn.Module:
    return MambaForCausalLM(
        MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4)
    ).eval()


def test_integrated_gradients_stand_in_where_gradients_cannot_be_modified() -> None:
    torch.manual_seed(0)
    found = headlight.explain(headlight.wrap(without_attention()), BATCH)
    assert found.method == "integrated_gradients"
    (note,) = [note for note in found.notes if "no method was named" in note]
    assert "so integrated_gradients was used: attn_lrp does not explain this network (" in note
    assert np.isfinite(found.scores).all()


def test_an_unknown_family_is_explained_by_the_preferred_method() -> None:
    torch.manual_seed(0)
    found = headlight.explain(headlight.wrap(unknown_family()), BATCH)
    assert found.method == "attn_lrp"
    assert np.isfinite(found.scores).all()


def test_choosing_the_default_runs_no_pass() -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    passes: list[int] = []
    wrapped.network.register_forward_hook(lambda *_: passes.append(1))
    assert default_method(wrapped)[0] == "attn_lrp"
    assert not passes


def test_no_method_gives_one_answer_and_a_list_a_dict(classifier: Model) -> None:
    assert isinstance(headlight.explain(classifier, "a film"), headlight.Attribution)
    assert len(headlight.explain(classifier, ["a film", "dull"])) == 2
    assert list(headlight.explain(classifier, "a film", ["attn_lrp"])) == ["attn_lrp"]
    with pytest.raises(InvalidOption, match="'attn_lrp' has no option 'steps'"):
        headlight.explain(classifier, "a film", steps=3)


def test_the_default_finds_the_word_that_decides() -> None:
    found = headlight.explain(
        headlight.load("topic"), "stocks fell on wall street", target=("Business", "Sports")
    )
    scores = dict(found.words().as_tuples())
    assert max(scores, key=lambda word: scores[word]) == "stocks"
    assert scores["stocks"] > 1
    assert scores["street"] > 0


@pytest.mark.slow
def test_the_default_finds_the_words_that_decide_in_a_language_model() -> None:
    found = headlight.explain(headlight.load("llm"), "The capital of France is", target=" Paris")
    scores = {token.strip("Ġ "): score for token, score in found.as_tuples()}
    assert found.method == "attn_lrp"
    assert scores["France"] > scores["The"]
    assert min(scores["France"], scores["capital"], scores["is"]) > 0


def test_methods_for_a_model_are_those_that_can_be_planned(classifier: Model) -> None:
    def is_planned(name: str) -> bool:
        try:
            planned(classifier, name)
        except HeadlightError:
            return False
        return True

    assert methods_for(classifier) == [name for name in METHODS if is_planned(name)]
    assert "mask_lrp" not in methods_for(classifier)


def test_a_method_with_an_option_that_nothing_settles_is_for_no_model(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def demanding(trace: object, *, wish: str) -> None:
        """Needs to be told a wish."""

    monkeypatch.setitem(METHODS.entries, "demanding", Entry("demanding", demanding))
    monkeypatch.setitem(METHODS.spellings, "demanding", "demanding")
    assert "demanding" not in methods_for(classifier)
