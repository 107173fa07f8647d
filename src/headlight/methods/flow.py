"""Attention flow: how much attention can be carried from the prediction to each token."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from headlight.methods.attention import with_residual
from headlight.methods.registry import METHODS
from headlight.shapes import Scores
from headlight.trace.trace import Trace

CAPACITY_UNIT = 2**30
"""Capacities become integers of this unit: the flow is exact to 1e-9 and fits 32 bits."""


@METHODS.register(
    "attention_flow", needs={"attention"}, aliases=("flow",), paper="Abnar and Zuidema (2020)"
)
def attention_flow(trace: Trace) -> Scores:
    """Maximum flow from the prediction to each token, attention being the capacity of each edge.

    Nodes are tokens at every layer; the edge from token i above to token j below has the capacity
    rownorm(E_h(A_l) + I)_ij. One maximum-flow problem a token, so it is far slower than the rest.
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
    """Capacities from the prediction to the tokens of the last layer: one set for each reading position.

    A head that averages all tokens is one more layer, whose capacities are its weights.
    """
    read_at = trace.goal.decisions[number].read_at
    weights = trace.weights[number, :length].double().cpu().numpy()
    return [weights] if not read_at else [np.eye(length)[position] for position in read_at]


def flows(capacities: NDArray[np.float64], source: NDArray[np.float64]) -> list[float]:
    """The maximum flow to each token, for capacities [layer, above, below]."""
    layers, size, _ = capacities.shape
    above, below = np.divmod(np.arange(size * size), size)
    edges = [(source, np.full(size, (layers + 1) * size), layers * size + np.arange(size))]
    for layer, matrix in enumerate(capacities):
        edges.append((matrix.ravel(), (layer + 1) * size + above, layer * size + below))
    values, starts, ends = (np.concatenate(column) for column in zip(*edges, strict=True))
    units = np.round(values * CAPACITY_UNIT).astype(np.int32)
    kept = units > 0
    count = (layers + 1) * size + 1
    graph = csr_array((units[kept], (starts[kept], ends[kept])), shape=(count, count))
    return [maximum_flow(graph, count - 1, t).flow_value / CAPACITY_UNIT for t in range(size)]
