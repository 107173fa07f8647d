"""Walking the graph of autograd, from a result to what it was computed from."""

from collections.abc import Callable, Iterator

from torch import Tensor
from torch.autograd.graph import Node


def inputs_of_step(node: Node) -> list[Node | None]:
    """The steps whose results a step used."""
    return [step for step, _ in node.next_functions]


def steps_of(
    result: Tensor, onward: Callable[[Node], list[Node | None]] = inputs_of_step
) -> Iterator[Node]:
    """Every step that led to a result, once; `onward` says which steps to go to from each."""
    waiting, met = [result.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        yield node
        waiting += onward(node)
