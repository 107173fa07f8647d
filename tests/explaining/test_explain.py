"""`explain` for every task, target and shape of input, and what bad input gets."""

import copy
import sys
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
    HeadlightError,
    InvalidInput,
    InvalidOption,
    Model,
    Target,
    UnknownName,
    UnstableModel,
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


def test_many_texts_come_back_in_order(classifier: Model) -> None:
    texts = [TEXT, "dull", "the film is not very good , but never boring", "a good story", "bad"]
    answers = headlight.explain(classifier, texts, batch_size=2)
    assert [a.texts[0] for a in answers] == texts
    for text, answer in zip(texts, answers, strict=True):
        alone = headlight.explain(classifier, text)
        np.testing.assert_allclose(answer.scores, alone.scores, rtol=1e-3, atol=1e-6)


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


def test_progress_goes_to_standard_error(
    classifier: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    headlight.explain(classifier, [TEXT] * 3, progress=True)
    written = capsys.readouterr()
    assert written.out == ""
    assert "3/3" in written.err


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


def test_probability_gradient_is_the_logit_gradient_by_the_chain_rule(classifier: Model) -> None:
    logits = [headlight.explain(classifier, TEXT, "input_x_gradient", k) for k in range(3)]
    chances = [known(a.target.probability) for a in logits]
    assert sum(chances) == pytest.approx(1, rel=1e-5)
    found = headlight.explain(
        classifier, TEXT, "input_x_gradient", Target(label=0, output="probability")
    )
    mean = sum(p * a.scores for p, a in zip(chances, logits, strict=True))
    expected = chances[0] * (logits[0].scores - mean)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-3, atol=1e-6)


def test_pairs_are_read_as_pairs(classifier: Model) -> None:
    answer = headlight.explain(classifier, PAIR)
    assert known(answer.segments).count(1) == 9
    assert answer.texts == PAIR


def test_regression_explains_its_value() -> None:
    answer = headlight.explain(model("bert", Task.REGRESSION), Batch.from_ids(rows()[0]), "simple")
    assert answer.target.probability is None
    with pytest.raises(InvalidOption, match="no probability"):
        headlight.explain(
            model("bert", Task.REGRESSION),
            Batch.from_ids(rows()[0]),
            target=Target(output="probability"),
        )


def test_multi_label_probabilities_are_independent(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE, problem_type="multi_label_classification")
    answer = headlight.explain(headlight.wrap(net, tokenizer), TEXT, target=1)
    expected = torch.sigmoid(torch.tensor(answer.target.logit))
    assert answer.target.probability == pytest.approx(float(expected))


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


@pytest.mark.parametrize("method", ["attcat", "rollout", "gae", "input_x_gradient"])
def test_generation_is_a_matrix_of_input_and_output(writer: Model, method: str) -> None:
    made = headlight.explain_generation(writer, "the keys", method, max_new_tokens=4)
    count = len(made.prompt)
    assert made.matrix.shape == (len(made.output), count + len(made.output) - 1)
    assert (np.triu(made.matrix[:, count:], 0) == 0).all()
    first = headlight.explain(writer, "the keys", method)
    np.testing.assert_allclose(made.matrix[0, :count], first.scores, rtol=1e-3, atol=1e-6)
    given = headlight.explain_generation(writer, "the keys", method, continuation=" are good")
    assert "".join(given.output).replace("Ġ", " ") == " are good"


def test_several_prompts_and_methods_give_lists_and_a_dict(writer: Model) -> None:
    prompts, methods = ["the keys to", "a film is"], ["gradient_l2", "rollout"]
    found = headlight.explain_generation(writer, prompts, methods, max_new_tokens=3)
    assert list(found) == methods
    for method in methods:
        for made, prompt in zip(found[method], prompts, strict=True):
            alone = headlight.explain_generation(writer, prompt, method, max_new_tokens=3)
            assert (made.prompt, made.output) == (alone.prompt, alone.output)
            np.testing.assert_allclose(made.matrix, alone.matrix, rtol=1e-3, atol=1e-5)
    only = headlight.explain_generation(writer, prompts[:1], "rollout", max_new_tokens=2)
    assert [type(each) for each in only] == [headlight.Generation]
    given = headlight.explain_generation(writer, prompts, "rollout", continuation=[" are", " not"])
    assert ["".join(each.output) for each in given] == ["Ġare", "Ġnot"]


def test_steps_of_a_generation_know_their_words(writer: Model) -> None:
    made = headlight.explain_generation(
        writer, "the keys", "rollout", continuation=" are unboring!"
    )
    last = made.attributions[-1]
    assert last.texts == ("the keys are unboring",)
    assert [last.texts[0][slice(*span)] for span in known(last.offsets)][-1].strip()
    assert last.words().tokens == ("the", "keys", "are", "unboring")
    assert made.attributions[0].texts == ("the keys",)
    words = made.words()
    assert words.inputs == ("the", "keys", "are", "unboring")
    assert words.matrix.shape == (len(made.output), 4)
    np.testing.assert_allclose(words.matrix.sum(1), made.matrix.sum(1), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens=0 is not possible"),
        ({"max_new_tokens": -2}, "max_new_tokens=-2 is not possible"),
        ({"max_new_tokens": 2.5}, "max_new_tokens=2.5 is not possible"),
        ({"max_new_tokens": True}, "max_new_tokens=True is not possible"),
        ({"max_new_tokens": "3"}, "max_new_tokens='3' is not possible"),
        ({"continuation": 5}, "continuation 0 is a int, not text"),
        ({"continuation": ["a", "b"]}, "2 continuations were given for 1 prompts"),
        ({"continuation": ""}, "the continuation has no token"),
        ({"continuation": "\ud800"}, "continuation 0 has a lone surrogate"),
        ({"prompt": [{"role": "user", "content": "hi"}]}, "input 0 is a chat message"),
    ],
)
def test_what_cannot_be_continued_is_refused(
    writer: Model, call: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        headlight.explain_generation(writer, **{"prompt": "the keys", "method": "rollout", **call})


def test_a_text_that_would_grow_too_long_is_not_begun(writer: Model) -> None:
    with pytest.raises(InvalidInput, match=r"and tiny .* takes"):
        headlight.explain_generation(writer, "the keys", max_new_tokens=10_000)


def test_only_causal_models_generate(classifier: Model) -> None:
    with pytest.raises(InvalidInput, match="only a causal language model"):
        headlight.explain_generation(classifier, TEXT)


# -------------------------------------------------------------------------------------- long inputs


def test_long_texts_are_cut_and_say_so(classifier: Model) -> None:
    answer = headlight.explain(classifier, "good " * 500)
    assert len(answer) == 80
    assert answer.notes[0].startswith("cut to the first 80 of 502 tokens")


def test_a_hundred_thousand_characters_do_no_harm(classifier: Model) -> None:
    assert len(headlight.explain(classifier, "dull and boring " * 6250, "rollout")) == 80


def test_windows_explain_the_whole_text(classifier: Model) -> None:
    text = "good " * 100 + "bad " * 60
    answer = headlight.explain(classifier, text, "input_x_gradient", stride=10)
    assert len(answer) == 162
    assert np.count_nonzero(answer.scores) == 162
    assert answer.notes == ("explained in 3 windows that share 10 tokens",)
    short = headlight.explain(classifier, TEXT, "input_x_gradient", stride=10)
    assert short == headlight.explain(classifier, TEXT, "input_x_gradient")


def test_windows_of_a_classifier_share_one_label(classifier: Model) -> None:
    text = "good " * 100 + "bad " * 60
    own = headlight.explain(classifier, text, "input_x_gradient", stride=10).target
    assert own.label == own.predicted
    for label in ("negative", "positive"):
        answer = headlight.explain(classifier, text, "input_x_gradient", label, stride=10)
        assert answer.target.label == label
        assert answer.target.predicted == own.predicted


def test_windows_of_a_question_score_the_best_one(reader: Model) -> None:
    context = "dull " * 100 + PAIR[1]
    answer = headlight.explain(reader, (PAIR[0], context), "gradient_l2", stride=5)
    assert "only one of them is scored" in answer.notes[0]
    assert 0 < np.count_nonzero(answer.scores) <= 80
    assert answer.target.label == answer.target.predicted
    start, end = known(answer.target.positions)
    offsets = known(answer.offsets)
    first, last = offsets[start][0], offsets[end][1]
    assert context[first:last] == answer.target.label


def test_windows_of_a_given_answer_hold_it(reader: Model) -> None:
    context = "dull " * 100 + PAIR[1]
    by_text = headlight.explain(reader, (PAIR[0], context), "attcat", "mary shelley", stride=20)
    first, last = known(by_text.target.positions)
    assert [by_text.tokens[p] for p in (first, last)] == ["mary", "shelley"]
    span = Target(span=(first, last))
    by_span = headlight.explain(reader, (PAIR[0], context), "attcat", span, stride=20)
    np.testing.assert_array_equal(by_span.scores, by_text.scores)
    with pytest.raises(InvalidOption, match="does not fit into one window"):
        headlight.explain(reader, (PAIR[0], context), target=Target(span=(8, 105)), stride=20)


def test_windows_are_for_pooled_heads_and_questions(writer: Model) -> None:
    with pytest.raises(InvalidOption, match="stride= is for"):
        headlight.explain(writer, "the keys", stride=3)


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


def test_bad_target_fields_are_refused() -> None:
    with pytest.raises(InvalidOption, match="Use one of 'logit', 'probability'"):
        Target(output="odds")  # type: ignore[arg-type]


def test_text_needs_a_tokenizer() -> None:
    with pytest.raises(InvalidInput, match="without a tokenizer"):
        headlight.explain(model("bert", Task.SEQUENCE), TEXT)


def test_nan_weights_are_named(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net, tokenizer)
    with torch.no_grad():
        net.get_parameter("classifier.weight")[0, 0] = torch.nan
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.explain(wrapped, TEXT)
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.wrap(net, tokenizer)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_explained_and_noted(
    tokenizer: PreTrainedTokenizerFast, dtype: torch.dtype
) -> None:
    net = network("bert", Task.SEQUENCE, initializer_range=0.05)
    exact = headlight.explain(headlight.wrap(copy.deepcopy(net), tokenizer), TEXT, "gradient_l2", 0)
    net.to(dtype)  # type: ignore[arg-type]
    half = headlight.explain(headlight.wrap(net, tokenizer), TEXT, "gradient_l2", 0)
    assert half.scores.dtype == np.float32
    assert "about three digits" in half.notes[0]
    np.testing.assert_allclose(half.scores, exact.scores, rtol=0.15, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AutoModel.from_config(BertConfig(**ENCODER)), "BertModel has no head"),
        (lambda: torch.nn.Linear(2, 2), "a Linear cannot be wrapped"),
        (
            lambda: T5ForConditionalGeneration(T5Config(vocab_size=20, d_model=8)),
            "is an encoder-decoder, which reads its tokens in two places",
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


def test_long_rows_take_smaller_passes(classifier: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from headlight.explaining import batches, plan

    sizes: list[int] = []
    plain = batches.run_pass
    monkeypatch.setattr(plan, "ATTENTION_VALUES", 3 * 4 * 8 * 8 * 2)
    monkeypatch.setattr(
        batches,
        "run_pass",
        lambda m, r, t, p: sizes.append(len(r)) or plain(m, r, t, p),  # type: ignore[func-returns-value]
    )
    headlight.explain(classifier, [TEXT] * 5, "rollout")
    assert sizes == [2, 2, 1]
    monkeypatch.setattr(plan, "RELEVANCE_VALUES", 3 * 4 * 8 * 8)
    sizes.clear()
    headlight.explain(classifier, [TEXT] * 2, ["rollout", "lrp"])
    assert sizes == [2, 1, 1]


def test_a_pass_that_does_not_fit_is_halved(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headlight.explaining import batches

    plain = batches.run_pass

    def small(m: Model, r: list[object], t: list[object], p: object) -> object:
        if len(r) > 2:
            raise torch.OutOfMemoryError
        return plain(m, r, t, p)  # type: ignore[arg-type]

    expected = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    monkeypatch.setattr(batches, "run_pass", small)
    found = headlight.explain(classifier, [TEXT, "dull", "good", "bad", "a film"], "rollout")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-5)


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


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_decoder_classifiers_without_a_pad_token_run_row_by_row(family: str) -> None:
    wrapped = headlight.wrap(network(family, Task.SEQUENCE, pad_token_id=None))
    found = headlight.explain(wrapped, Batch.from_ids(rows()), ["rollout", "attcat"])
    for number, row in enumerate(rows()):
        alone = headlight.explain(wrapped, Batch.from_ids(row), ["rollout", "attcat"])
        for name in found:
            np.testing.assert_array_equal(found[name][number].scores, alone[name].scores)
            assert found[name][number].target.position == len(row) - 1


def test_rows_padded_on_the_left_are_read_as_if_they_were_not() -> None:
    wrapped = model("llama", Task.CAUSAL)
    ids, mask = [0, 0, 0, *rows()[0]], [0, 0, 0, *[1] * len(rows()[0])]
    padded = headlight.explain(wrapped, Batch.from_ids([ids], attention_mask=[mask]), "rollout")
    plain = headlight.explain(wrapped, Batch.from_ids(rows()[0]), "rollout")
    assert padded == plain
