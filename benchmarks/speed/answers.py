"""The cost of explaining an answer of a language model, as multiples of one plain pass over prompt and answer.

    python -m benchmarks.speed.answers           writes benchmarks/speed/answers.json and results.md
    python -m benchmarks.speed.answers --quick   one round; writes below build/bench

A prompt of 200 tokens and an answer of 40, both given, on the embedded `llm`. Cases and plain passes alternate.
Peaks of memory are those of fresh processes.
"""

from collections.abc import Callable
from functools import cache

import torch
from benchmarks.speed.bulk import composed
from benchmarks.speed.measuring import (
    Spread,
    command,
    facts,
    folder,
    in_fresh_process,
    peak_megabytes,
    seconds,
    spread_of,
)
from benchmarks.speed.report import keep

import headlight

PROMPT, ANSWER, PROMPTS, ROUNDS = 200, 40, 8, 5
METHOD = "attn_lrp"


@cache
def loaded() -> headlight.Model:
    """The embedded language model."""
    return headlight.load("llm")


def text_of(count: int, number: int) -> str:
    """A text of exactly this many tokens; the number chooses another one."""
    tokenizer = loaded().tokenizer
    assert tokenizer is not None
    ids = tokenizer(" ".join(composed(10 * (number + 1))[10 * number :]))["input_ids"][:count]
    return str(tokenizer.decode(ids))


def explaining(of: str, answer_tokens: int = ANSWER, prompts: int = 1) -> Callable[[], object]:
    """A call that explains answers, prompt and answer given."""
    model = loaded()
    texts = [text_of(PROMPT, number) for number in range(prompts)]
    answers = [" " + text_of(answer_tokens, prompts + number) for number in range(prompts)]
    return lambda: headlight.explain_answer(model, texts, answers, METHOD, of=of)


def plain(rows: int = 1) -> Callable[[], object]:
    """One pass over as many tokens as prompt and answer have, which computes the logits of the answer alone."""
    network = loaded().network
    ids = torch.randint(5, 40_000, (rows, PROMPT + ANSWER))

    def call() -> None:
        with torch.inference_mode():
            network(ids, use_cache=False, logits_to_keep=ANSWER + 1)

    return call


def ratios(case: Callable[[], object], bare: Callable[[], object], rounds: int) -> Spread:
    """How many plain passes a case takes."""
    case()
    bare()
    found, before = [], seconds(bare)
    for _ in range(rounds):
        own, after = seconds(case), seconds(bare)
        found.append(own / ((before + after) / 2))
        before = after
    return spread_of(found)


def memory_of(answer_tokens: int) -> float:
    """The peak of explaining every token of an answer; to be run in a fresh process."""
    return peak_megabytes(explaining("tokens", answer_tokens))


def main() -> None:
    """Measure and write."""
    rounds = 1 if (is_quick := command(__doc__).parse_args().quick) else ROUNDS
    single = plain()
    cases = {
        "the whole answer": ratios(explaining("answer"), single, rounds),
        "every token of the answer": ratios(explaining("tokens"), single, min(rounds, 3)),
        f"the whole answers of {PROMPTS} prompts, to a pass of all of them": ratios(
            explaining("answer", prompts=PROMPTS), plain(PROMPTS), rounds
        ),
    }
    found = {
        "settings": facts() | {"prompt": PROMPT, "answer": ANSWER, "rounds": rounds},
        "model": "llm",
        "method": METHOD,
        "passes": cases,
        "peak megabytes": {
            str(count): in_fresh_process(memory_of, count) for count in (ANSWER // 4, ANSWER)
        },
    }
    print(keep(folder(is_quick), "answers", found))


if __name__ == "__main__":
    main()
