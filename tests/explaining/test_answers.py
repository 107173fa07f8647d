"""Answers: the matrix of their parts equals separate passes, adds up, and says what it says of bad input."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import GemmaConfig, PreTrainedTokenizerFast, TextStreamer
from transformers.generation.streamers import BaseStreamer

import headlight
from headlight import Answer, HeadlightError, InvalidInput, InvalidOption, Model, Target
from headlight.explaining import written as written_module
from headlight.explaining.written import UNLIKELY
from headlight.models.model import Task
from tests.networks import DECODERS, SHARED, network

PROMPT, ANSWER = "the keys to the cabinet of mary", " are good. It is dull!"
LINEAR = ["attn_lrp", "libragrad", "gim", "input_x_gradient"]
"""Methods whose scores of a sum are the sums of their scores."""


@pytest.fixture(scope="module", params=[*sorted(DECODERS), "gemma"])
def exact(request: pytest.FixtureRequest, byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A language model of each family in 64 bits."""
    sizes = {"vocab_size": 360}
    if request.param == "gemma":
        from transformers import AutoModelForCausalLM

        torch.manual_seed(0)
        config = GemmaConfig(**{**SHARED, **sizes, "head_dim": 8})
        net = AutoModelForCausalLM.from_config(config).eval()
    else:
        net = network(request.param, Task.CAUSAL, **sizes)
    return headlight.wrap(net.double(), byte_tokenizer, name=f"tiny {request.param}")


@pytest.fixture(scope="module")
def wide(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A Llama in 64 bits that reads long prompts."""
    net = network("llama", Task.CAUSAL, vocab_size=360, max_position_embeddings=600)
    return headlight.wrap(net.double(), byte_tokenizer, name="tiny writer")


def one(model: Model, prompt: Any = PROMPT, answer: Any = ANSWER, **options: Any) -> Answer:
    """One answer by a quick method."""
    made = headlight.explain_answer(
        model, prompt, answer, **{"method": "input_x_gradient", **options}
    )
    assert isinstance(made, Answer)
    return made


# ------------------------------------------------------------------------------------ equalities


@pytest.mark.parametrize("method", LINEAR)
def test_tokens_of_an_answer_equal_separate_passes_and_add_up(exact: Model, method: str) -> None:
    assert exact.tokenizer is not None
    each = one(exact, of="tokens", method=method)
    ids = exact.tokenizer(PROMPT)["input_ids"] + exact.tokenizer(ANSWER)["input_ids"]
    first = len(exact.tokenizer(PROMPT)["input_ids"])
    assert len(each.parts) == len(ids) - first
    for place in (first, first + 2, len(ids) - 1):
        number = place - first
        batch = headlight.Batch.from_ids(ids[:place])
        alone = headlight.explain(exact, batch, method, Target(label=ids[place]))
        np.testing.assert_allclose(each.scores[number, :place], alone.scores, atol=1e-5)
        assert not each.scores[number, place:].any()
        assert each.parts[number].value == pytest.approx(alone.target.logit, abs=1e-5)
        assert each.parts[number].probability == pytest.approx(alone.target.probability, rel=1e-4)
    whole = one(exact, method=method)
    np.testing.assert_allclose(each.scores.sum(0), whole.scores[0], atol=1e-5)
    np.testing.assert_allclose(each.per("answer").scores, whole.scores, atol=1e-5)
    by_sentence = one(exact, method=method, of="sentences")
    assert by_sentence.part_texts == ("are good.", "It is dull!")
    np.testing.assert_allclose(by_sentence.scores, each.per("sentences").scores, atol=1e-5)
    assert by_sentence.log_probability == pytest.approx(whole.log_probability, abs=1e-5)
    assert whole.log_probability == pytest.approx(each.log_probability, abs=1e-5)


def test_a_batch_gives_what_single_prompts_give(exact: Model) -> None:
    prompts, answers = [PROMPT, "a film", "who wrote it? by"], [ANSWER, " is", " mary shelley"]
    methods = ["attn_lrp", "input_x_gradient"]
    found = headlight.explain_answer(exact, prompts, answers, methods, of="tokens")
    for name in methods:
        for prompt, answer, made in zip(prompts, answers, found[name], strict=True):
            alone = one(exact, prompt, answer, method=name, of="tokens")
            assert (made.text, made.tokens, made.units) == (alone.text, alone.tokens, alone.units)
            np.testing.assert_allclose(made.scores, alone.scores, atol=1e-8)


@pytest.mark.parametrize("method", LINEAR)
def test_one_token_rather_than_another_equals_a_contrast(exact: Model, method: str) -> None:
    found = one(exact, PROMPT, " are", rather_than=" is", method=method)
    known = headlight.explain(exact, PROMPT, method, (" are", " is"))
    np.testing.assert_allclose(found.scores[0, : len(known.tokens)], known.scores, atol=1e-5)
    assert found.parts[0].value == pytest.approx(known.target.logit, abs=1e-5)
    assert any(note.startswith("rather than 'is': the answer is") for note in found.notes)
    assert found.options["rather_than"] == "is"


def test_a_contrast_says_how_much_more_probable_the_answer_is(wide: Model) -> None:
    ours, other = one(wide, answer=" are good"), one(wide, answer=" is")
    found = one(wide, answer=" are good", rather_than=" is")
    ratio = float(np.exp(ours.log_probability - other.log_probability))
    assert f"{ratio:.3g} times as probable" in found.notes[-1]
    assert found.signed
    several = headlight.explain_answer(
        wide, [PROMPT, "a film"], " are", "input_x_gradient", rather_than=[" is", " was"]
    )
    assert [each.options["rather_than"] for each in several] == ["is", "was"]


@pytest.mark.parametrize("method", LINEAR)
def test_an_answer_rather_than_another_of_several_tokens_equals_separate_passes(
    exact: Model, method: str
) -> None:
    """Both begin with ' are'; every token of both is explained by a pass of its own."""
    assert exact.tokenizer is not None
    pair = [" are good", " are dull, it is"]
    prompt = exact.tokenizer(PROMPT)["input_ids"]
    added = [exact.tokenizer(text)["input_ids"] for text in pair]
    sums = [np.zeros(len(prompt) + len(own)) for own in added]
    logits = [0.0, 0.0]
    for number, own in enumerate(added):
        for place, token in enumerate(own):
            batch = headlight.Batch.from_ids(prompt + own[:place])
            alone = headlight.explain(exact, batch, method, Target(label=token))
            sums[number][: len(alone.scores)] += alone.scores
            logits[number] += alone.target.logit
    same = next(n for n, (a, b) in enumerate(zip(*added, strict=False)) if a != b)
    shared = len(prompt) + same
    assert same > 0
    found = one(exact, PROMPT, pair[0], rather_than=pair[1], method=method)
    expected = sums[0].copy()
    expected[:shared] -= sums[1][:shared]
    np.testing.assert_allclose(found.scores[0], expected, atol=1e-5)
    assert found.other is not None
    assert found.other.text == pair[1]
    assert len(found.other.tokens) == len(added[1]) - same
    np.testing.assert_allclose(found.other.scores, -sums[1][shared:], atol=1e-5)
    assert any(found.other.scores)
    (part,) = found.parts
    assert part.value == pytest.approx(logits[0] - logits[1], abs=1e-5)
    total = sums[0].sum() - sums[1].sum()
    assert found.completeness[0] == pytest.approx(total / part.value, abs=1e-5)


def test_turned_round_a_contrast_has_the_same_scores_with_the_other_sign(wide: Model) -> None:
    ours, theirs = " are good now", " is"
    there, back = (one(wide, answer=a, rather_than=b) for a, b in ((ours, theirs), (theirs, ours)))
    shared = len(wide.tokenizer(PROMPT)["input_ids"])  # type: ignore[misc]
    np.testing.assert_allclose(there.scores[0, :shared], -back.scores[0, :shared], atol=1e-12)
    assert there.other is not None
    assert back.other is not None
    np.testing.assert_allclose(there.other.scores, -back.scores[0, shared:], atol=1e-12)
    np.testing.assert_allclose(back.other.scores, -there.scores[0, shared:], atol=1e-12)
    assert there.completeness[0] == pytest.approx(back.completeness[0])
    assert f"have {sum(back.other.scores):+.3g} of the scores" in back.notes[-1]
    assert "of the scores" not in there.notes[-1]  # the last token of an answer has no influence


def test_what_the_other_answer_has_counts_in_the_strength_of_a_citation(wide: Model) -> None:
    sources = {"a": "the film is good", "b": "the keys are bad"}
    found = one(wide, "who", " a", rather_than=" the film is dull", sources=sources)
    assert found.other is not None
    everything = np.abs(found.scores).sum() + np.abs(found.other.scores).sum()
    for cited in found.cite():
        assert cited.strength == pytest.approx(cited.score / everything)
    assert found.cite()


def test_weights_of_a_span_weigh_its_tokens(exact: Model) -> None:
    each = one(exact, of="tokens")
    assert exact.tokenizer is not None
    first = len(exact.tokenizer(PROMPT)["input_ids"])
    text, weights = PROMPT + ANSWER, tuple(np.linspace(-1, 2, len(each.parts)))
    target = Target(span=(first, first + len(weights) - 1), weights=weights)
    ids = exact.tokenizer(PROMPT)["input_ids"] + exact.tokenizer(ANSWER)["input_ids"]
    found = headlight.explain(exact, headlight.Batch.from_ids(ids), "input_x_gradient", target)
    expected = (each.scores * np.array(weights)[:, None]).sum(0)
    np.testing.assert_allclose(found.scores, expected, atol=1e-5)
    assert each.text == text


def test_parts_by_name_text_and_span(wide: Model) -> None:
    assert one(wide, of="words").part_texts == ("are", "good", ".", "It", "is", "dull", "!")
    named = one(wide, of=["dull", "good"])
    assert named.part_texts == ("good", "dull")
    spans = one(wide, of=[(1, 4), (5, 9)])
    assert spans.part_texts == ("are", "good")
    np.testing.assert_allclose(spans.scores[1], named.scores[0], atol=1e-12)


def test_units_are_peeled_whole_and_have_the_values_of_the_base(wide: Model) -> None:
    sources = ["the film is good", "the keys are bad", "a film", "mary was dull", "it is boring"]
    given = {"sources": sources, "answer": " the keys are bad"}
    found, base = (one(wide, "are the keys bad", method=m, **given) for m in ("peel", "attn_lrp"))
    np.testing.assert_allclose(np.sort(found.matrix), np.sort(base.matrix), rtol=1e-8)
    assert "of 5 that can be removed, the log-probability goes from" in found.notes[0]
    for number in range(5):
        own = [found.scores[0, place] for place, n in enumerate(found.groups) if n == number]
        np.testing.assert_allclose(own, own[0])
    outside = [place for place, number in enumerate(found.groups) if number is None]
    np.testing.assert_array_equal(found.scores[:, outside], base.scores[:, outside])
    by_words = one(wide, "are the keys bad", method="peel", units="words", **given)
    assert "of 5 that" not in by_words.notes[0]


# ---------------------------------------------------------------------------------------- thoughts

THOUGHT = "<think>the film is dull</think> not good"


def test_scores_of_thoughts_are_sent_on_to_the_prompt(wide: Model) -> None:
    plain = one(wide, answer=THOUGHT, of=[" not good"])
    found = one(wide, answer=THOUGHT, thoughts=True)
    assert found.part_texts == ("not good",)
    assert found.through_thoughts is not None
    np.testing.assert_allclose(found.scores.sum(), plain.scores.sum(), atol=1e-8)
    first = len(wide.tokenizer(PROMPT)["input_ids"])  # type: ignore[misc]
    np.testing.assert_allclose(
        (found.scores - found.through_thoughts)[0, :first], plain.scores[0, :first], atol=1e-8
    )
    inside = [
        p for p, (a, _) in enumerate(found.offsets) if len("<think>") <= a - found.prompt_end < 24
    ]
    assert not found.scores[0, inside].any()
    assert not found.through_thoughts[0, first:].any()
    landed = plain.scores[0].sum() - plain.scores[0, :first].sum()
    assert abs(found.through_thoughts.sum()) <= abs(landed) + np.abs(plain.scores[0, first:]).sum()


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        (" not good", {"thoughts": True}, "the answer has no thoughts that end with '</think>'"),
        (THOUGHT, {"thoughts": ("(", ")")}, r"no thoughts that end with '\)'"),
        ("<think>a</think> ", {"thoughts": True}, "there is nothing after the thoughts"),
        (THOUGHT, {"thoughts": "yes"}, "thoughts='yes' is not possible. Use True, or what opens"),
        (THOUGHT, {"thoughts": True, "method": "rollout"}, "by gradients, which rollout does not"),
        (THOUGHT, {"thoughts": True, "method": "peel"}, "by gradients, which peel does not"),
    ],
)
def test_thoughts_that_are_none_are_refused(
    wide: Model, answer: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        one(wide, answer=answer, **options)


# --------------------------------------------------------------------------------------- writing


def test_the_model_writes_what_generate_writes(wide: Model) -> None:
    assert wide.tokenizer is not None
    made = one(wide, answer=None, max_new_tokens=6)
    ids = wide.tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    network: Any = wide.network
    written = network.generate(ids, max_new_tokens=6, do_sample=False, pad_token_id=0)
    assert made.text == str(wide.tokenizer.decode(written[0])).replace("<s>", "")
    assert "�" in made.answer  # a byte that a special token ends, too
    assert made.prompt + made.answer == made.text
    assert made.prompt == PROMPT


def test_sampling_is_seeded_and_leaves_the_random_state_alone(wide: Model) -> None:
    state = torch.get_rng_state()
    asked = {"do_sample": True, "temperature": 1.5, "seed": 4}
    texts = [one(wide, answer=None, max_new_tokens=9, generation=asked).answer for _ in range(2)]
    assert texts[0] == texts[1]
    other = one(wide, answer=None, max_new_tokens=9, generation={**asked, "seed": 5}).answer
    assert other != texts[0]
    assert torch.equal(torch.get_rng_state(), state)


def test_a_streamer_shows_the_answer_as_it_is_written(
    wide: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    streamer = TextStreamer(wide.tokenizer, skip_prompt=True, skip_special_tokens=True)  # type: ignore[arg-type]
    made = one(wide, answer=None, max_new_tokens=5, generation={"streamer": streamer})
    assert made.answer in capsys.readouterr().out


class Interrupting(BaseStreamer):
    """Presses Ctrl-C at the third token."""

    count = 0

    def put(self, value: object) -> None:
        self.count += 1
        if self.count == 3:
            raise KeyboardInterrupt

    def end(self) -> None:
        """Nothing is left to show."""


def test_an_interrupted_answer_leaves_the_network_as_it_was(wide: Model) -> None:
    before = {name: value.clone() for name, value in wide.network.state_dict().items()}
    hooks = [len(module._forward_hooks) for module in wide.network.modules()]
    kind, state = wide.network.config._attn_implementation, torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        one(wide, answer=None, generation={"streamer": Interrupting()})
    assert [len(module._forward_hooks) for module in wide.network.modules()] == hooks
    assert all(torch.equal(v, before[n]) for n, v in wide.network.state_dict().items())
    assert wide.network.config._attn_implementation == kind
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled()


def test_stop_strings_end_the_answer(wide: Model) -> None:
    whole = one(wide, answer=None, max_new_tokens=8).answer
    mark = whole[2]
    made = one(wide, answer=None, max_new_tokens=8, generation={"stop_strings": [mark]})
    assert made.answer in whole
    assert mark in made.answer


# ----------------------------------------------------------------------------------------- notes


def test_an_improbable_answer_has_a_note_with_its_probability(wide: Model) -> None:
    with torch.no_grad():
        net = network("llama", Task.CAUSAL, vocab_size=360, max_position_embeddings=600)
        net.lm_head.weight *= 40
    sure = headlight.wrap(net.double(), wide.tokenizer, name="sure")
    made = one(sure, answer=" zebra")
    assert made.log_probability / len(made.tokens) < np.log(UNLIKELY)
    (note,) = [note for note in made.notes if "would hardly write" in note]
    assert note.startswith(
        "the model would hardly write 'zebra' here: its probability is about 10^-"
    )
    own = one(sure, answer=None, max_new_tokens=3)
    assert not any("hardly" in note for note in own.notes)


def test_one_improbable_token_of_a_long_answer_has_a_note(
    wide: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = one(wide, of="tokens")
    logs = [part.log_probability for part in each.parts]
    least = int(np.argmin(logs))
    assert np.mean(logs) > np.log(UNLIKELY)
    assert not any("hardly" in note for note in one(wide).notes)
    monkeypatch.setattr(written_module, "NEVER", np.exp(logs[least]) * 1.001)
    (note,) = [note for note in one(wide).notes if "hardly" in note]
    said = each.part_texts[least]
    assert note.startswith(f"the model would hardly write {said!r} after '…")
    assert note.endswith(f"its probability is about 10^{logs[least] / np.log(10):.0f}")
    monkeypatch.setattr(written_module, "NEVER", np.exp(logs[least]) * 0.999)
    assert not any("hardly" in note for note in one(wide).notes)


@pytest.mark.parametrize(
    ("prompt", "answer", "is_noted"),
    [
        ("the keys", "are", True),
        ("the keys", " are", False),
        ("the keys:", "are", False),
        ("the keys ", "are", False),
        ("the keys", "!", False),
        ("好", "的", False),
    ],
)
def test_a_space_that_may_be_missing_is_noted(
    wide: Model, prompt: str, answer: str, is_noted: bool
) -> None:
    made = one(wide, prompt, answer)
    assert made.answer == answer
    assert any("follows the prompt without a space" in note for note in made.notes) == is_noted


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"answer": ""}, "the answer is empty or only white space"),
        ({"answer": " \n"}, "the answer is empty or only white space"),
        ({"answer": 5}, "answer 0 is a int, not text"),
        ({"answer": ["a", "b"]}, "2 answers were given for 1 prompts"),
        ({"prompt": ""}, "input 0 is empty"),
        ({"prompt": 5}, "the input is a int, not text"),
        ({"prompt": []}, "the list of prompts is empty"),
        ({"prompt": ["a", 5]}, "prompt 1 is neither a text nor a chat"),
        ({"prompt": {"text": "a"}}, "the prompt is a mapping without messages"),
        ({"prompt": "a " * 700}, r"the prompt has \d+ tokens, with \d+ more after it, and tiny"),
        ({"answer": None, "max_new_tokens": 0}, "max_new_tokens=0 is not possible"),
        ({"answer": None, "max_new_tokens": 600}, "Shorten the prompt, or lower max_new_tokens"),
        ({"answer": None, "generation": {"max_length": 3}}, "Use max_new_tokens="),
        ({"answer": None, "generation": {"beams": 3}}, "generate does not take generation="),
        ({"answer": None, "generation": {"streamer": "x"}}, "generate does not take generation="),
        ({"answer": None, "generation": {"num_return_sequences": 3}}, "is not possible here"),
        ({"answer": None, "generation": {"seed": -1}}, "seed=-1 is not possible"),
        ({"generation": 5}, "generation=5 is not possible. Give arguments of transformers'"),
        ({"of": "token"}, "of='token' does not exist. Use 'answer', 'sentences'"),
        ({"of": []}, r"of=\[\] asks for no part"),
        ({"of": 3}, "of=3 is not possible"),
        ({"of": ["are", "are good"]}, "of: .* overlap"),
        ({"of": ["zebra"]}, "of: 'zebra' is not in the answer"),
        ({"of": ["o"]}, "of: 'o' is in the answer 2 times"),
        ({"of": [(0, 99)]}, r"of: \(0, 99\) is no stretch"),
        ({"of": "tokens", "rather_than": " is"}, "rather_than= compares whole answers"),
        ({"rather_than": ANSWER}, "rather_than= is the answer itself"),
        (
            {"rather_than": " is", "method": "peel"},
            "subtracts the scores of two answers, and those of peel are an order",
        ),
        ({"rather_than": ""}, "the answer is empty or only white space"),
        ({"rather_than": " is", "thoughts": True}, "rather_than= does not go with thoughts="),
        ({"units": "items"}, "units='items': the text has none of these"),
        ({"units": "sources"}, "no unit named 'sources'"),
        ({"units": [(0, 0)]}, r"units: \(0, 0\) is no stretch"),
        ({"units": [(5, 7)]}, "the units cover no token of the prompt"),
        ({"steps": 3}, "steps"),
        ({"batch_size": 0}, "batch_size=0 is not possible"),
        ({"method": "nonsense"}, "no method named"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(
    wide: Model, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        one(wide, **options)


def test_models_that_write_nothing_are_refused(classifier: Model, wide: Model) -> None:
    with pytest.raises(InvalidInput, match="only a causal language model with a tokenizer"):
        one(classifier)
    bare = headlight.wrap(network("llama", Task.CAUSAL), name="bare")
    with pytest.raises(InvalidInput, match="only a causal language model with a tokenizer"):
        one(bare)
    with pytest.raises(InvalidInput, match="a headlight model comes first"):
        headlight.explain_answer(wide.network, PROMPT)  # type: ignore[call-overload]


def test_an_error_says_which_of_several_prompts_it_means(wide: Model) -> None:
    with pytest.raises(InvalidInput, match=r"prompt 1: units='items': the text has none"):
        headlight.explain_answer(wide, ["- a\n- b", "c"], " d", "input_x_gradient", units="items")
    with pytest.raises(InvalidInput, match="prompt 0: the answer is empty"):
        headlight.explain_answer(wide, ["a", "b"], ["", " c"], "input_x_gradient")


def test_several_methods_give_a_dict_and_lists_stay_lists(wide: Model) -> None:
    both = headlight.explain_answer(wide, PROMPT, ANSWER, ["rollout", "input_x_gradient"])
    assert list(both) == ["rollout", "input_x_gradient"]
    assert not both["rollout"].signed
    (only,) = headlight.explain_answer(wide, [PROMPT], ANSWER, "rollout")
    assert only == both["rollout"]


@pytest.mark.parametrize("units", ["tokens", "words", "sentences", [(0, 8)], lambda _: [(4, 8)]])
def test_units_of_the_prompt_hold_its_scores(wide: Model, units: Any) -> None:
    made = one(wide, units=units)
    assert made.matrix.shape == (1, len(made.units))
    np.testing.assert_allclose(made.matrix.sum(1) + made.rest, made.scores.sum(1), atol=1e-9)
    assert all(made.text[u.start : u.end] == u.name for u in made.units)
    assert made.unit == (units if isinstance(units, str) else "spans")


def test_options_of_methods_pass_through(wide: Model) -> None:
    found = one(wide, method="integrated_gradients", steps=3)
    assert found.options["steps"] == 3
    with pytest.raises(InvalidOption, match="variant"):
        one(wide, variant="draft")
