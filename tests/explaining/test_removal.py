"""An answer is read without units of its prompt: their tokens are left out, and each case is read once."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from headlight.answer import Numbers
from headlight.explaining.removal import Divided, Kept, Removal
from headlight.models.model import Model, Task
from tests.networks import model

IDS = tuple(range(20, 44))
TEXT = Divided(
    IDS,
    units=(None, 0, 0, 0, None, 1, 1, 1, 1, None, 2, 2, None, None),
    parts=((14, 16), (17, 23)),
)


def logs_of(wrapped: Model, kept: tuple[bool, ...]) -> list[float]:
    """The log-probabilities of both parts, from a plain pass over the tokens that are left."""
    prompt = [t for t, u in zip(IDS, TEXT.units, strict=False) if u is None or kept[u]]
    ids = [*prompt, *IDS[14:]]
    with torch.no_grad():
        logs = wrapped.network(torch.tensor([ids])).logits[0].log_softmax(-1)
    moved = len(ids) - len(IDS)
    return [
        sum(float(logs[p + moved - 1, IDS[p]]) for p in range(first, last + 1))
        for first, last in TEXT.parts
    ]


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_log_probabilities_are_those_of_plain_passes(family: str) -> None:
    wrapped = model(family, Task.CAUSAL, torch.float64)
    cases = [(True, True, True), (False, True, False), (True, False, True), (False, False, False)]
    removal = Removal(wrapped, TEXT)
    found = removal.log_probabilities(cases)
    assert removal.prefixes != [None]
    assert np.abs(found - [logs_of(wrapped, case) for case in cases]).max() < 1e-9
    whole = Removal(wrapped, TEXT, prefixes=[None])
    assert np.abs(found - whole.log_probabilities(cases)).max() < 1e-9


def test_each_case_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    removal = Removal(model("llama", Task.CAUSAL), TEXT)
    read: list[Kept] = []
    whole = removal.read

    def noted(cases: Sequence[Kept]) -> list[Numbers]:
        read.extend(cases)
        return whole(cases)

    monkeypatch.setattr(removal, "read", noted)
    first = removal.log_probabilities([removal.whole, removal.nothing, removal.whole])
    again = removal.log_probabilities([removal.nothing, (True, False, True)])
    assert read == [removal.whole, removal.nothing, (True, False, True)]
    assert removal.count == 3
    assert np.array_equal(first[1], again[0])
    assert np.array_equal(first[0], first[2])


def test_the_first_token_stays_if_nothing_else_would() -> None:
    text = Divided((7, 8, 9, 10), units=(0, 0, 1), parts=((3, 3),))
    assert text.unit_count == 2
    assert text.part_lengths == (1,)
    assert text.without_removed((False, False)).ids == (7, 10)
    assert text.without_removed((False, True)).ids == (9, 10)


def test_a_prompt_without_units_has_none() -> None:
    assert Divided((7, 8), units=(None,), parts=((1, 1),)).unit_count == 0
