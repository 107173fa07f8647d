"""A pass that memory does not hold is run in halves, on every device."""

from collections.abc import Callable, Sequence

import pytest
import torch

import headlight
from headlight import Batch, InvalidInput
from headlight.models.model import Task
from headlight.probing.probe import Probe
from headlight.running.memory import in_halves, is_out_of_memory
from tests.networks import model, network, rows

CPU = (
    "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 123 bytes. Error code 12 (Cannot allocate memory)"
)
ERRORS = [
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory."),
    RuntimeError(CPU),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 123 bytes."),
    RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
]


def test_the_cpu_says_it_as_the_list_has_it() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


def test_other_errors_are_not_taken_for_it() -> None:
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(ValueError("out of memory"))
    with pytest.raises(RuntimeError, match="shapes"):
        in_halves(failing(RuntimeError("shapes"), 2), ["a", "b", "c"], len)


def failing(error: Exception, most: int) -> Callable[[Sequence[str]], list[str]]:
    """Work that fails on more rows than so many."""

    def run(part: Sequence[str]) -> list[str]:
        if len(part) > most:
            raise error
        return [word.upper() for word in part]

    return run


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: str(error)[:20])
def test_rows_are_halved_until_they_fit(error: Exception) -> None:
    run = failing(error, 2)
    assert in_halves(run, list("abcdefg"), len) == list("ABCDEFG")
    with pytest.raises(InvalidInput, match=r"a row of 3 tokens does not fit into memory.*stride="):
        in_halves(failing(error, 0), ["abc", "d"], len)


def hungry(net: torch.nn.Module, most: int) -> list[int]:
    """Let a network fail as the CPU does on more rows than so many; gives the sizes it was asked for."""
    sizes: list[int] = []

    def fail(
        _module: torch.nn.Module, args: tuple[object, ...], kwargs: dict[str, torch.Tensor]
    ) -> None:
        sizes.append(len(kwargs["input_ids"]))
        if sizes[-1] > most:
            raise RuntimeError(CPU)

    net.register_forward_pre_hook(fail, with_kwargs=True)
    return sizes


def test_explaining_predicting_and_probing_go_on_in_halves() -> None:
    from headlight.explaining.prediction import predict
    from headlight.probing.ask import ask

    net = network("bert", Task.SEQUENCE).double()
    wrapped = headlight.wrap(net)
    batch = Batch.from_ids([rows()[0]] * 4)
    probes = [
        Probe(tuple(row), (True,) * len(row), None, (0,), (0,))
        for row in ([n, *rows()[0]] for n in range(5, 9))
    ]
    sizes = hungry(net, 2)
    headlight.explain(wrapped, batch, "rollout")
    assert sizes == [4, 2, 2]
    sizes.clear()
    predict(wrapped, batch.rows, [headlight.Target()] * 4)
    assert sizes == [4, 2, 2]
    sizes.clear()
    answers = ask(wrapped, probes)
    assert sizes == [4, 2, 2]
    expected = ask(model("bert", Task.SEQUENCE, torch.float64), probes)
    assert [a.logit for a in answers] == pytest.approx([b.logit for b in expected], rel=1e-9)


def test_one_row_that_does_not_fit_is_refused_in_a_sentence() -> None:
    net = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net)
    hungry(net, 0)
    with pytest.raises(InvalidInput, match="a row of 5 tokens does not fit into memory"):
        headlight.explain(wrapped, Batch.from_ids(rows()[0]), "rollout")
