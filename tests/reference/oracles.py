"""Every formula a second time: straight from the paper or the description of the code, with loops."""

from collections.abc import Callable

import networkx
import numpy as np

from tests.networks import FEW
from tests.reference.passes import Matrix, Pass

Oracle = Callable[[Pass], Matrix]
ORACLES: dict[tuple[str, str], Oracle] = {}


def replicates(name: str, variant: str = "paper") -> Callable[[Oracle], Oracle]:
    """Tie an oracle to the method it replicates."""

    def add(oracle: Oracle) -> Oracle:
        ORACLES[name, variant] = oracle
        return oracle

    return add


def head_mean(maps: Matrix) -> Matrix:
    heads, size, _ = maps.shape
    result = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            for h in range(heads):
                result[i, j] += maps[h, i, j] / heads
    return result


def with_own_zero(row: Matrix, position: int) -> Matrix:
    row = row.copy()
    row[position] = 0
    return row


def residual_rows(matrix: Matrix) -> Matrix:
    result = matrix + np.eye(len(matrix))
    for i in range(len(matrix)):
        result[i] /= result[i].sum()
    return result


@replicates("raw_attention")
def raw_attention(p: Pass) -> Matrix:
    return head_mean(p.attention[-1])[p.read_at]


@replicates("raw_attention", "released")
def raw_attention_released(p: Pass) -> Matrix:
    return with_own_zero(raw_attention(p), p.read_at)


@replicates("rollout")
def rollout(p: Pass) -> Matrix:
    joint = np.eye(p.size)
    for maps in p.attention:
        joint = residual_rows(head_mean(maps)) @ joint
    return joint[p.read_at]


@replicates("rollout", "released")
def rollout_released(p: Pass) -> Matrix:
    return with_own_zero(rollout(p), p.read_at)


@replicates("attention_flow")
def attention_flow(p: Pass) -> Matrix:
    graph = networkx.DiGraph()
    for layer, maps in enumerate(p.attention):
        matrix = residual_rows(head_mean(maps))
        for i in range(p.size):
            for j in range(p.size):
                graph.add_edge((layer + 1, i), (layer, j), capacity=matrix[i, j])
    top = (len(p.attention), p.read_at)
    return np.array([networkx.maximum_flow_value(graph, top, (0, j)) for j in range(p.size)])


@replicates("grads")
def grads(p: Pass) -> Matrix:
    return head_mean(p.attention_gradient[-1])[p.read_at]


@replicates("grads", "released")
def grads_released(p: Pass) -> Matrix:
    gradient = head_mean(p.attention_gradient[-1])
    scores = np.array([max(0.0, gradient[:, j].mean()) for j in range(p.size)])
    return with_own_zero(scores, 0)


def gradcam_map(p: Pass) -> Matrix:
    maps, gradient = p.attention[-1], p.attention_gradient[-1]
    total = np.zeros((p.size, p.size))
    for h in range(len(maps)):
        total += gradient[h].mean() * maps[h] / len(maps)
    return np.maximum(total, 0)


@replicates("attention_gradcam")
def attention_gradcam(p: Pass) -> Matrix:
    return gradcam_map(p)[p.read_at]


@replicates("attention_gradcam", "released")
def attention_gradcam_released(p: Pass) -> Matrix:
    heat = gradcam_map(p)
    spread = heat.max() - heat.min()
    scaled = (heat - heat.min()) / spread if spread > 0 else np.zeros_like(heat)
    return with_own_zero(scaled[p.read_at], p.read_at)


@replicates("att_grads")
def att_grads(p: Pass) -> Matrix:
    total = np.zeros(p.size)
    for maps, gradient in zip(p.attention, p.attention_gradient, strict=True):
        total += head_mean(maps * gradient)[p.read_at]
    return total


@replicates("grad_sam")
def grad_sam(p: Pass) -> Matrix:
    layers, heads = len(p.attention), len(p.attention[0])
    total = np.zeros(p.size)
    for layer in range(layers):
        for h in range(heads):
            for i in range(p.size):
                for j in range(p.size):
                    slope = max(0.0, p.attention_gradient[layer][h, i, j])
                    total[j] += p.attention[layer][h, i, j] * slope
    return total / (layers * heads * p.size)


@replicates("gae")
def gae(p: Pass) -> Matrix:
    relevance = np.eye(p.size)
    for maps, gradient in zip(p.attention, p.attention_gradient, strict=True):
        relevance = relevance + head_mean(np.maximum(maps * gradient, 0)) @ relevance
    return relevance[p.read_at]


@replicates("gae", "released")
def gae_released(p: Pass) -> Matrix:
    return with_own_zero(gae(p), p.read_at)


def activation(p: Pass, layer: int, token: int) -> float:
    pairs = zip(p.hidden[layer][token], p.hidden_gradient[layer][token], strict=True)
    return float(sum(h * g for h, g in pairs))


def attended(p: Pass, layer: int, token: int) -> float:
    return float(np.mean([head[:, token].mean() for head in p.attention[layer]]))


@replicates("cat")
def cat(p: Pass) -> Matrix:
    layers = range(1, len(p.attention) + 1)
    return np.array([sum(activation(p, layer, t) for layer in layers) for t in range(p.size)])


@replicates("cat", "released")
def cat_released(p: Pass) -> Matrix:
    layers = range(len(p.attention))
    return np.array([sum(activation(p, layer, t) for layer in layers) for t in range(p.size)])


@replicates("attcat")
def attcat(p: Pass) -> Matrix:
    scores = np.zeros(p.size)
    for t in range(p.size):
        for layer in range(len(p.attention)):
            scores[t] += attended(p, layer, t) * activation(p, layer, t)
    return scores


def length(vector: Matrix) -> float:
    return float(np.sqrt(sum(x * x for x in vector)))


@replicates("gradient_l2")
def gradient_l2(p: Pass) -> Matrix:
    return np.array([length(g) for g in p.hidden_gradient[0]])


@replicates("gradient_l2", "released")
def gradient_l2_released(p: Pass) -> Matrix:
    norms = np.array([length(g) for g in p.embedded_twice[1]])
    return norms / norms.sum()


@replicates("input_x_gradient")
def input_x_gradient(p: Pass) -> Matrix:
    return np.array([activation(p, 0, t) for t in range(p.size)])


@replicates("input_x_gradient_l2")
def input_x_gradient_l2(p: Pass) -> Matrix:
    return np.array([length(h * g) for h, g in zip(p.hidden[0], p.hidden_gradient[0], strict=True)])


@replicates("input_x_gradient_l2", "released")
def input_x_gradient_l2_released(p: Pass) -> Matrix:
    return np.array([length(h * g) for h, g in zip(*p.embedded_twice, strict=True)])


@replicates("input_x_gradient_mean")
def input_x_gradient_mean(p: Pass) -> Matrix:
    pairs = zip(p.hidden[0], p.hidden_gradient[0], strict=True)
    return np.array([np.mean([abs(x) for x in h * g]) for h, g in pairs])


@replicates("input_x_gradient_mean", "released")
def input_x_gradient_mean_released(p: Pass) -> Matrix:
    return np.array([np.abs(h * g).mean() for h, g in zip(*p.embedded_twice, strict=True)])


@replicates("simple")
def simple(p: Pass) -> Matrix:
    pairs = zip(p.hidden[0], p.loss_gradient, strict=True)
    magnitude = np.array([abs(float(h @ g)) for h, g in pairs])
    return magnitude / magnitude.sum()


# ----------------------------------------------------------------------------- decomposition


def contribution(p: Pass, layer: int, i: int, j: int, norms: int, with_epsilon: bool) -> Matrix:
    """T_i(x_j) of a layer after so many of its normalisations."""
    block = p.blocks[layer]
    found = np.zeros(p.hidden[layer].shape[1])
    for h in range(len(p.attention[layer])):
        found = found + p.attention[layer][h, i, j] * (block.values[j, h] @ block.projection[h])
    if i == j:
        found = found + p.hidden[layer][i]
    for norm in block.norms[:norms]:
        variance = norm.given[i].var() + (norm.epsilon if with_epsilon else 0)
        found = norm.gamma * (found - found.mean()) / np.sqrt(variance)
    return found


def layer_matrix(p: Pass, layer: int, entry: Callable[[int, int], float]) -> Matrix:
    return np.array([[entry(i, j) for j in range(p.size)] for i in range(p.size)])


def product_row(p: Pass, matrices: list[Matrix]) -> Matrix:
    joint = np.eye(p.size)
    for matrix in matrices:
        joint = matrix @ joint
    return joint[p.read_at]


def alti_matrix(p: Pass, layer: int, power: int, norms: int, released: bool) -> Matrix:
    block = p.blocks[layer]
    outputs = block.norms[norms - 1].output if block.norms else block.output

    def nearer(i: int, j: int) -> float:
        if i != j and not p.attention[layer][:, i, j].any():
            return 0.0
        gap = contribution(p, layer, i, j, norms, not released) - outputs[i]
        gap = gap + (1e-6 if released else 0)
        length = np.linalg.norm(outputs[i], power)
        return max(0.0, float(length - np.linalg.norm(gap, power)))

    matrix = layer_matrix(p, layer, nearer)
    for i in range(p.size):
        matrix[i] = matrix[i] / matrix[i].sum() if matrix[i].sum() > 0 else np.eye(p.size)[i]
    return matrix


def alti_of(power: int, norms: int, released: bool) -> Oracle:
    return lambda p: product_row(
        p, [alti_matrix(p, layer, power, norms, released) for layer in range(len(p.blocks))]
    )


replicates("alti")(alti_of(1, 1, False))
replicates("alti", "released")(alti_of(1, 1, True))
replicates("alti_ln2")(alti_of(1, 2, False))
replicates("alti_ln2", "released")(alti_of(1, 2, True))


def length_matrix(p: Pass, layer: int, norms: int, with_epsilon: bool) -> Matrix:
    return layer_matrix(
        p,
        layer,
        lambda i, j: float(np.linalg.norm(contribution(p, layer, i, j, norms, with_epsilon))),
    )


def as_shares(matrix: Matrix) -> Matrix:
    return matrix / matrix.sum(1, keepdims=True)


@replicates("norms")
def norms(p: Pass) -> Matrix:
    return product_row(
        p, [as_shares(length_matrix(p, layer, 1, True)) for layer in range(len(p.blocks))]
    )


def globenc_of(with_epsilon: bool) -> Oracle:
    def globenc(p: Pass) -> Matrix:
        found = [length_matrix(p, layer, 2, with_epsilon) for layer in range(len(p.blocks))]
        return product_row(p, found if p.blocks[0].norms else [as_shares(m) for m in found])

    return globenc


replicates("globenc")(globenc_of(True))
replicates("globenc", "released")(globenc_of(False))


# ------------------------------------------------------------------- paths and perturbation


def integrated(p: Pass) -> Matrix:
    """Gauss and Legendre by the roots of the Legendre polynomial, one point at a time."""
    legendre = np.polynomial.legendre.Legendre.basis(FEW["steps"])
    slope = legendre.deriv()
    start, end = p.baseline, p.hidden[0]
    total = np.zeros_like(end)
    for root in legendre.roots().astype(float):
        weight = 2 / ((1 - root**2) * slope(root) ** 2)
        total += weight / 2 * p.gradient(start + (root + 1) / 2 * (end - start))
    return (end - start) * total


@replicates("integrated_gradients")
def integrated_gradients(p: Pass) -> Matrix:
    return integrated(p).sum(1)


@replicates("integrated_gradients_l2")
def integrated_gradients_l2(p: Pass) -> Matrix:
    return np.array([np.sqrt((token**2).sum()) for token in integrated(p)])


@replicates("integrated_gradients_mean")
def integrated_gradients_mean(p: Pass) -> Matrix:
    return np.array([np.abs(token).mean() for token in integrated(p)])


@replicates("occlusion")
def occlusion(p: Pass) -> Matrix:
    result = np.zeros(p.size)
    for t in range(p.size):
        without = p.hidden[0].copy()
        without[t] = p.baseline[t]
        result[t] = p.value(p.hidden[0]) - p.value(without)
    return result


# ---------------------------------------------------------------------------------- decoding


def decoded_layer(p: Pass, gradients: list[Matrix], positive: Callable[[float], float]) -> Matrix:
    layer = len(p.hidden) // 2
    said = p.decode(p.hidden[layer])
    result = np.zeros(p.size)
    for t, token in enumerate(p.ids):
        total = 0.0
        for j in range(p.size):
            total += said[j, token] * (gradients[layer][j] * p.hidden[layer][j]).sum()
        result[t] = positive(total)
    return result


@replicates("grad_cam")
def grad_cam(p: Pass) -> Matrix:
    return np.maximum((p.hidden_gradient[0] * p.hidden[0]).sum(1), 0)


@replicates("decoded_grad_cam")
def decoded_grad_cam(p: Pass) -> Matrix:
    return decoded_layer(p, p.hidden_gradient, lambda total: max(total, 0.0))


@replicates("decoded_simple")
def decoded_simple(p: Pass) -> Matrix:
    result = decoded_layer(p, p.loss_gradients, abs)
    return result / result.sum()
