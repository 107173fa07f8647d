"""`explain` for every task, target and shape of input, and what bad input gets."""

import copy
import threading
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import nn
from transformers import (
    AutoModel,
    BertConfig,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    pipeline,
)

import headlight
from headlight import (
    Attribution,
    Batch,
    InvalidInput,
    InvalidOption,
    Model,
    Target,
    UnknownName,
    UnsupportedModel,
)
from headlight.models.model import Task
from tests.known import known
from tests.networks import ENCODER, model, network, rows

TEXT = "a charming and often affecting journey"
PAIR = ("who wrote it ?", "it was written by mary shelley in london .")


# ------------------------------------------------------------------------------- shapes of answers


def test_one_text_gives_one_attribution(classifier: Model) -> None:
    answer = headlight.explain(classifier, TEXT)
    assert isinstance(answer, Attribution)
    assert answer.method == "attn_lrp"
    assert answer.model == "tiny classifier"
    assert answer.tokens[1:-1] == tuple(TEXT.split())
    assert answer.target.label == answer.target.predicted
    assert set(answer.versions) == {"headlight", "torch", "transformers"}


def test_several_methods_give_a_dict_by_name(classifier: Model) -> None:
    answers = headlight.explain(classifier, [TEXT, "dull"], method=["AttCAT", "RawAtt"])
    assert list(answers) == ["attcat", "raw_attention"]
    assert [len(found) for found in answers.values()] == [2, 2]
    one = headlight.explain(classifier, TEXT, method=["rollout"])
    assert isinstance(one["rollout"], Attribution)


def test_a_batch_of_one_row_gives_one_attribution() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    assert isinstance(headlight.explain(wrapped, Batch.from_ids(rows()[0])), Attribution)
    assert len(headlight.explain(wrapped, Batch.from_ids(rows()))) == len(rows())


def test_ids_of_a_known_tokenizer_are_named(classifier: Model) -> None:
    encoding = known(classifier.tokenizer)([TEXT, "dull"], padding=True, return_tensors="pt")
    found = headlight.explain(classifier, Batch.from_ids(**encoding), "rollout")
    expected = headlight.explain(classifier, [TEXT, "dull"], "rollout")
    for a, b in zip(found, expected, strict=True):
        assert a.tokens == b.tokens
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-5)


def test_variants_of_a_method_stand_side_by_side(classifier: Model, reader: Model) -> None:
    names = ["gae", "gae:variant=released", "rollout:variant=released", "mask_lrp:variant=paper"]
    mask = np.ones((len(classifier.blocks), 4))
    for variant in ("paper", "released"):
        found = headlight.explain(classifier, TEXT, names, variant=variant, mask=mask)
        assert list(found) == names
        assert [found[name].method for name in names] == names
        shown = [found[name].options["variant"] for name in names]
        assert shown == [variant, "released", "released", "paper"]
        for name, own in zip(names, shown, strict=True):
            given: dict[str, Any] = {"mask": mask} if "mask" in name else {}
            alone = headlight.explain(classifier, TEXT, name.split(":")[0], variant=own, **given)
            np.testing.assert_array_equal(found[name].scores, alone.scores)
    # Released code predicts the start and the end of an answer separately, anywhere.
    both = headlight.explain(reader, PAIR, ["attcat", "attcat:variant=released"])
    for variant, answer in zip(("paper", "released"), both.values(), strict=True):
        alone = headlight.explain(reader, PAIR, "attcat", variant=variant)
        assert answer.target == alone.target
        np.testing.assert_array_equal(answer.scores, alone.scores)


# ------------------------------------------------------------------------------------------ targets


def test_labels_by_name_and_index_are_the_same(classifier: Model) -> None:
    by_name = headlight.explain(classifier, TEXT, target="Positive")
    by_index = headlight.explain(classifier, TEXT, target=2)
    assert by_name.target.label == "positive"
    np.testing.assert_array_equal(by_name.scores, by_index.scores)


def test_each_text_may_have_its_own_target(classifier: Model) -> None:
    answers = headlight.explain(classifier, [TEXT, TEXT], target=["negative", "positive"])
    assert [a.target.label for a in answers] == ["negative", "positive"]


def test_scores_of_a_contrast_are_the_difference(classifier: Model) -> None:
    """The gradient is linear, so 'a rather than b' is a minus b."""
    a, b = (headlight.explain(classifier, TEXT, "input_x_gradient", t) for t in (0, 2))
    contrast = headlight.explain(classifier, TEXT, "input_x_gradient", (0, 2))
    np.testing.assert_allclose(contrast.scores, a.scores - b.scores, rtol=1e-4, atol=1e-6)
    assert contrast.target.label == "negative − positive"
    assert contrast.target.logit == pytest.approx(a.target.logit - b.target.logit, rel=1e-5)


def test_pairs_are_read_as_pairs(classifier: Model) -> None:
    answer = headlight.explain(classifier, PAIR)
    assert known(answer.segments).count(1) == 9
    assert answer.texts == PAIR


def test_token_classification_reads_its_token(tagger: Model) -> None:
    text = "mary was in london"
    answer = headlight.explain(tagger, text, "raw_attention", Target(word=3, label="LOC"))
    assert answer.target.positions == (4,)
    assert answer.target.label == "LOC"
    assert headlight.explain(tagger, text).target.predicted in ("O", "PER", "LOC")
    masked = headlight.explain(tagger, "a charming [MASK] film")
    assert masked.tokens[known(masked.target.positions)[0]] == "[MASK]"
    with pytest.raises(InvalidOption, match="no word number 9"):
        headlight.explain(tagger, text, target=Target(word=9))
    with pytest.raises(InvalidOption, match="position 40 does not exist"):
        headlight.explain(tagger, text, target=Target(position=40))


def test_answers_are_spans_of_the_context(reader: Model) -> None:
    answer = headlight.explain(reader, PAIR, "raw_attention")
    start, end = known(answer.target.positions)
    assert start <= end
    assert {known(answer.segments)[p] for p in (start, end)} == {1}
    assert answer.target.label in PAIR[1]
    ends = [headlight.explain(reader, PAIR, "attcat", part) for part in ("start", "end")]
    given = headlight.explain(reader, PAIR, "attcat", "mary shelley")
    first, last = known(given.target.positions)
    assert [given.tokens[p] for p in (first, last)] == ["mary", "shelley"]
    span = headlight.explain(reader, PAIR, "attcat", Target(span=(first, last)))
    np.testing.assert_array_equal(span.scores, given.scores)
    assert len(known(ends[0].target.positions)) == 1


def test_an_answer_is_its_start_plus_its_end(reader: Model) -> None:
    whole = headlight.explain(reader, PAIR, "attcat", Target(span=(7, 9)))
    start = headlight.explain(reader, PAIR, "attcat", Target(span=(7, 9), part="start"))
    end = headlight.explain(reader, PAIR, "attcat", Target(span=(7, 9), part="end"))
    np.testing.assert_allclose(whole.scores, start.scores + end.scores, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("jane austen", "is not in the context"),
        (Target(span=(9, 7)), "not a span"),
        (3, "not an answer"),
    ],
)
def test_answers_that_are_none_are_refused(reader: Model, target: Any, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        headlight.explain(reader, PAIR, target=target)


def test_a_question_needs_a_context(reader: Model) -> None:
    with pytest.raises(InvalidInput, match="question and a context"):
        headlight.explain(reader, "who wrote it ?")


def test_masked_tokens_are_explained_at_the_mask(filler: Model) -> None:
    text = "the keys to the cabinet [MASK] good"
    answer = headlight.explain(filler, text, "raw_attention", ("are", "is"))
    assert answer.tokens[known(answer.target.positions)[0]] == "[MASK]"
    assert answer.target.label == "are − is"
    assert not answer.is_special[known(answer.target.positions)[0]]
    with pytest.raises(InvalidInput, match=r"no mask token.*Write \[MASK\]"):
        headlight.explain(filler, "no mask here")
    with pytest.raises(InvalidOption, match="is not one token"):
        headlight.explain(filler, text, target="cabinets")


def test_next_tokens_are_explained_at_the_last_position(writer: Model) -> None:
    text = "the keys to the cabinet"
    answer = headlight.explain(writer, text, "rollout", ("are", "is"))
    assert answer.target.positions == (len(answer) - 1,)
    assert answer.target.label == "are − is"
    ids = headlight.explain(writer, text, target=5)
    assert ids.target.logit != answer.target.logit


# -------------------------------------------------------------------------------------- long inputs


def test_long_texts_are_cut_and_say_so(classifier: Model) -> None:
    answer = headlight.explain(classifier, "good " * 500)
    assert len(answer) == 80
    assert answer.notes[0].startswith("cut to the first 80 of 502 tokens")


def test_a_hundred_thousand_characters_do_no_harm(classifier: Model) -> None:
    assert len(headlight.explain(classifier, "dull and boring " * 6250, "rollout")) == 80


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"method": "rolout"}, UnknownName, "Did you mean 'rollout'"),
        ({"method": []}, InvalidOption, "asks for nothing"),
        ({"target": "positiv"}, UnknownName, "no label named 'positiv'. Did you mean 'positive'"),
        ({"target": 3}, InvalidOption, "has 3 labels, 0 to 2"),
        ({"target": 1.5}, InvalidOption, "target=1.5 is not understood"),
        ({"target": [1, 2]}, InvalidOption, "2 targets were given for 1 inputs"),
        ({"target": Target(position=1)}, InvalidOption, "means nothing for sequence"),
        ({"seed": 1}, InvalidOption, "'attn_lrp' has no option 'seed'"),
        ({"variant": "fast"}, InvalidOption, "variant 'fast' does not exist"),
        ({"batch_size": 0}, InvalidOption, "batch_size=0"),
        ({"stride": -1}, InvalidOption, "stride=-1"),
        ({"inputs": []}, InvalidInput, "list of texts is empty"),
        ({"inputs": ["fine", " "]}, InvalidInput, "input 1 is empty"),
        ({"inputs": Batch.from_ids([5000])}, InvalidInput, "token id 5000.*ends at 119"),
        ({"inputs": Batch.from_ids([5] * 81)}, InvalidInput, "row 0 has 81 tokens"),
        ({"model": "sentiment"}, InvalidInput, "a headlight model comes first, not a str"),
    ],
)
def test_bad_calls_get_a_sentence(
    classifier: Model, call: dict[str, Any], error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        headlight.explain(**{"model": classifier, "inputs": TEXT, **call})


def test_text_needs_a_tokenizer() -> None:
    with pytest.raises(InvalidInput, match="without a tokenizer"):
        headlight.explain(model("bert", Task.SEQUENCE), TEXT)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_explained_and_noted(
    tokenizer: PreTrainedTokenizerFast, dtype: torch.dtype
) -> None:
    net = network("bert", Task.SEQUENCE, initializer_range=0.05)
    exact = headlight.explain(headlight.wrap(copy.deepcopy(net), tokenizer), TEXT, "gradient_l2", 0)
    net.to(dtype)  # type: ignore[arg-type]
    half = headlight.explain(headlight.wrap(net, tokenizer), TEXT, "gradient_l2", 0)
    assert half.scores.dtype == np.float32
    kind = str(dtype).removeprefix("torch.")
    assert half.notes[0] == f"computed in float32 from {kind} weights"
    read = headlight.explain(headlight.wrap(net, tokenizer), TEXT, "raw_attention", 0)
    assert read.notes[0].startswith(f"computed in {kind}: errors of about")
    np.testing.assert_allclose(half.scores, exact.scores, rtol=0.15, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AutoModel.from_config(BertConfig(**ENCODER)), "BertModel has no head"),
        (lambda: torch.nn.Linear(2, 2), "a Linear cannot be wrapped"),
        (
            lambda: T5ForConditionalGeneration(T5Config(vocab_size=20, d_model=8)),
            "is an encoder-decoder whose decoder reads another text",
        ),
    ],
)
def test_networks_without_a_head_are_refused(make: Callable[[], nn.Module], message: str) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        headlight.wrap(make())


def test_a_pipeline_can_be_wrapped(classifier: Model) -> None:
    pipe = pipeline(
        "text-classification",
        model=classifier.network,
        tokenizer=cast(PreTrainedTokenizerFast, classifier.tokenizer),
        device="cpu",
    )
    assert headlight.explain(headlight.wrap(pipe), TEXT).scores.shape == (8,)


def test_two_threads_with_one_model_get_right_answers(classifier: Model) -> None:
    texts = [TEXT, "the film is dull but never boring", "good", "not a very good plot"]
    expected = [headlight.explain(classifier, text, ["attcat", "rollout"]) for text in texts]
    wrong: list[object] = []

    def work(start: int) -> None:
        for k in range(12):
            n = (start + k) % len(texts)
            found = headlight.explain(classifier, texts[n], ["attcat", "rollout"])
            if any(not np.array_equal(found[m].scores, expected[n][m].scores) for m in found):
                wrong.append((start, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert classifier.network.config._attn_implementation == "sdpa"


def test_rows_padded_on_the_left_are_read_as_if_they_were_not() -> None:
    wrapped = model("llama", Task.CAUSAL)
    ids, mask = [0, 0, 0, *rows()[0]], [0, 0, 0, *[1] * len(rows()[0])]
    padded = headlight.explain(wrapped, Batch.from_ids([ids], attention_mask=[mask]), "rollout")
    plain = headlight.explain(wrapped, Batch.from_ids(rows()[0]), "rollout")
    assert padded == plain
