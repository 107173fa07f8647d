"""`Limits`: what a server accepts; `Refusal`: the answer to everything else."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The most that one request, or all of them together, may ask for.

    tokens: longest text, with its pair. slow_tokens: longest text for methods that need many passes.
    slow_methods: how many such methods a request may use. matrix_tokens: longest text for token-to-token
    matrices. prompt_tokens: longest question with its sources and its answer. sources: how many passages;
    source_characters: the longest of them. answer_tokens: most that are written. answer_words: most that
    are explained at once. body: bytes of a request. upload: seconds in which a request must arrive. seconds:
    from a request to its answer. waiting: requests in the queue. together: requests that share a pass.
    """

    characters: int = 20_000
    tokens: int = 512
    slow_tokens: int = 64
    slow_methods: int = 4
    matrix_tokens: int = 128
    generated_tokens: int = 40
    prompt_tokens: int = 1_024
    sources: int = 20
    source_characters: int = 5_000
    answer_tokens: int = 64
    answer_words: int = 16
    methods: int = 8
    body: int = 200_000
    upload: float = 10.0
    seconds: float = 60.0
    waiting: int = 64
    together: int = 16


class Refusal(Exception):
    """A request that is not answered: an HTTP status and a sentence that says why."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers
