"""Writes an answer, and says on the way what is written so far."""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor
from transformers import PreTrainedTokenizerBase

from headlight.explaining.continuation import UNFINISHED, Writing
from headlight.explaining.written import written
from headlight.models.model import Model
from headlight.web.answers.asking import prompt_of
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Write
from headlight.web.replies import WrittenSoFar


@dataclass(eq=False)
class Listener:
    """A streamer of transformers' generate: it hears every token and says the text so far."""

    tokenizer: PreTrainedTokenizerBase
    say: Callable[[WrittenSoFar], None]
    ids: list[int] = field(default_factory=list)
    is_begun: bool = False

    def put(self, added: Tensor) -> None:
        """Take the next tokens; the first are those of the prompt, which nobody needs to hear."""
        if not self.is_begun:
            self.is_begun = True
            return
        self.ids += added.flatten().tolist()
        text = str(self.tokenizer.decode(self.ids, skip_special_tokens=True))
        self.say({"answer": text.rstrip(UNFINISHED), "is_done": False})

    def end(self) -> None:
        """Nothing follows: the whole answer is what `write` returns."""


def write(
    model: Model, question: Write, limits: Limits, say: Callable[[WrittenSoFar], None]
) -> WrittenSoFar:
    """The answer of a model to a question."""
    if question.tokens > limits.answer_tokens:
        raise Refusal(
            413,
            f"{question.tokens} tokens were asked for; this server writes up to {limits.answer_tokens}. "
            "Ask for fewer.",
        )
    prompt = prompt_of(model, question, limits)
    assert model.tokenizer is not None
    listener = Listener(model.tokenizer, say)
    made = written(model, prompt, None, Writing(question.tokens, 0, {"streamer": listener}))
    return {"answer": made.answer, "is_done": True}
