"""`Task`: what a network's head decides, and the class names that say so."""

from enum import StrEnum


class Task(StrEnum):
    """What a network's head decides."""

    SEQUENCE = "sequence classification"
    REGRESSION = "regression"
    TOKEN = "token classification"
    QUESTION = "question answering"
    MASKED = "masked language modelling"
    CAUSAL = "causal language modelling"


POOLED = (Task.SEQUENCE, Task.REGRESSION)
"""Tasks whose head decides once for the whole input."""

HEADS = {
    "ForSequenceClassification": Task.SEQUENCE,
    "ForTokenClassification": Task.TOKEN,
    "ForQuestionAnswering": Task.QUESTION,
    "ForMaskedLM": Task.MASKED,
    "ForCausalLM": Task.CAUSAL,
    "LMHeadModel": Task.CAUSAL,
}
