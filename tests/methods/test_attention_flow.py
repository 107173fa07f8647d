"""Attention flow against networkx, and on graphs whose flow is known."""

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from headlight.methods.attention_flow import flows, in_units


def slow_flow(capacities: NDArray[np.float64], source: NDArray[np.float64], token: int) -> float:
    """The maximum flow to one token, on a graph of named nodes."""
    graph = nx.DiGraph()
    layers, size, _ = capacities.shape
    for above in range(size):
        graph.add_edge("prediction", (layers, above), capacity=float(source[above]))
        for layer in range(layers, 1, -1):
            for below in range(size):
                weight = float(capacities[layer - 1, above, below])
                graph.add_edge((layer, above), (layer - 1, below), capacity=weight)
        graph.add_edge((1, above), "token", capacity=float(capacities[0, above, token]))
    return float(nx.maximum_flow_value(graph, "prediction", "token"))


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("source", [[0.0, 1.0, 0.0, 0.0], [0.25] * 4])
def test_flows_are_those_of_another_solver(layers: int, source: list[float]) -> None:
    capacities = np.random.default_rng(layers).random((layers, 4, 4))
    capacities /= capacities.sum(-1, keepdims=True)
    found = flows(capacities, np.array(source))
    expected = [slow_flow(capacities, np.array(source), token) for token in range(4)]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_where_every_token_looks_at_itself_all_flows_to_the_one_that_is_read() -> None:
    capacities = np.stack([np.eye(3)] * 2)
    assert flows(capacities, np.array([0.0, 1.0, 0.0])) == [0.0, 1.0, 0.0]


def test_a_narrow_layer_bounds_the_flow() -> None:
    capacities = np.stack([np.eye(2), np.array([[0.25, 0.75], [0.5, 0.5]])])
    np.testing.assert_allclose(flows(capacities, np.array([1.0, 0.0])), [0.25, 0.75])


def test_units_fit_32_bits() -> None:
    found = in_units(np.array([0.0, 0.5, 1.0]))
    assert (found.dtype, found.tolist()) == (np.int32, [0, 2**29, 2**30])  # type: ignore[comparison-overlap]
