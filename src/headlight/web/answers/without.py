"""How probable an answer still is when sources are taken away from its prompt."""

import torch

from headlight.explaining.prediction import logits_by_row
from headlight.explaining.written import Written
from headlight.models.model import Model
from headlight.renderers.characters import harmless
from headlight.web.answers.asking import prompt_of, with_answer
from headlight.web.limits import Limits
from headlight.web.questions import Without
from headlight.web.replies import AnswerChange, FallenToken

SHOWN = 3
"""How many of the tokens that lost most are told."""


def without(model: Model, question: Without, limits: Limits) -> AnswerChange:
    """The log-probability of the same answer with all sources, and without some of them."""
    texts = [
        with_answer(model, prompt_of(model, question, limits, left_out), question.answer, limits)
        for left_out in ((), tuple(question.without))
    ]
    before, after = (log_probabilities(model, text) for text in texts)
    return {
        "before": float(before.sum()),
        "after": float(after.sum()),
        "tokens": len(before),
        "fallen": fallen(texts[0], before, after),
    }


def log_probabilities(model: Model, made: Written) -> torch.Tensor:
    """That of each token of the answer after everything before it."""
    (logits,) = logits_by_row(model, [made.row])
    said = torch.tensor(made.row.ids[made.first :], device=logits.device)
    reading = logits[made.first - 1 : -1].double().log_softmax(-1)
    return reading.gather(1, said[:, None])[:, 0].cpu()


def fallen(made: Written, before: torch.Tensor, after: torch.Tensor) -> list[FallenToken]:
    """The tokens of the answer whose probability fell by the largest factors, the largest first."""
    order = torch.argsort(after - before, stable=True).tolist()
    lost = [n for n in order if after[n] < before[n]][:SHOWN]
    return [
        {
            "text": harmless(made.text[slice(*made.offsets[made.first + n])].strip()),
            "before": float(before[n].exp()),
            "after": float(after[n].exp()),
        }
        for n in lost
    ]
