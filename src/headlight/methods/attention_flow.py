"""Attention flow: how much attention can flow from the prediction to each token."""

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.methods.attention import with_residual
from headlight.methods.registry import METHODS
from headlight.shapes import Scores
from headlight.trace.trace import Trace

CAPACITY_UNIT = 2**30
"""Capacities become integers in units of 1/CAPACITY_UNIT: the flow is exact to 1e-9 and fits into 32 bits."""


@METHODS.register(
    "attention_flow",
    group="attention",
    needs={"attention"},
    aliases=("flow",),
    paper="Abnar and Zuidema (2020)",
    is_laborious=True,
)
def attention_flow(trace: Trace) -> Scores:
    """Maximum flow from the prediction to each token, attention being the capacity of each edge.

    Nodes are tokens at every layer; the edge from token i above to token j below has the capacity
    rownorm(E_h(A_l) + I)_ij. Every token is a maximum-flow problem of its own, so this is far slower than
    other methods.
    """
    layers = (
        torch.stack([with_residual(a.mean(1)) for a in trace.attention], 1).double().cpu().numpy()
    )
    scores = torch.zeros(trace.inputs.ids.shape, dtype=trace.attention[0].dtype)
    for number, length in enumerate(trace.inputs.lengths.tolist()):
        capacities = layers[number, :, :length, :length]
        for source in sources(trace, number, length):
            scores[number, :length] += torch.tensor(flows(capacities, source), dtype=scores.dtype)
    return scores.to(trace.inputs.ids.device)


def sources(trace: Trace, number: int, length: int) -> list[NDArray[np.float64]]:
    """Capacities from the prediction to the tokens of the last layer; for an answer, one set per end.

    A head that averages tokens acts as one more layer, whose capacities are its weights.
    """
    weights = trace.weights[number, :length].double().cpu().numpy()
    if trace.goal.kind != "span":
        return [weights]
    return [np.eye(length)[position] for position, _ in trace.goal.resolved[number].read_at or ()]


def flows(capacities: NDArray[np.float64], source: NDArray[np.float64]) -> list[float]:
    """The maximum flow to each token, for capacities [layer, above, below].

    All problems share one graph (source, the tokens of layers L … 1, sink); only the capacities into
    the sink, from the tokens of layer 1 to the token in question, differ.
    """
    # Here, because the command line imports all methods and would wait for scipy.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    layers, size, _ = capacities.shape
    nodes = np.arange(layers * size).reshape(layers, size)
    sink, start = layers * size, layers * size + 1
    starts, ends = [np.full(size, start), nodes[0]], [nodes[-1], np.full(size, sink)]
    values = [source, np.ones(size)]
    for layer in range(1, layers):
        starts.append(np.repeat(nodes[layer], size))
        ends.append(np.tile(nodes[layer - 1], size))
        values.append(capacities[layer].ravel())
    graph = csr_array(
        (in_units(np.concatenate(values)), (np.concatenate(starts), np.concatenate(ends))),
        shape=(start + 1, start + 1),
    )
    last_edges = np.flatnonzero(graph.indices == sink)
    values_by_token = []
    for token in range(size):
        graph.data[last_edges] = in_units(capacities[0, :, token])
        values_by_token.append(maximum_flow(graph, start, sink).flow_value / CAPACITY_UNIT)
    return values_by_token


def in_units(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Capacities as integers."""
    return np.round(values * CAPACITY_UNIT).astype(np.int32)
