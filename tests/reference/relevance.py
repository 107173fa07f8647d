"""Relevance a second time: BERT and Llama walked through by hand in 64 bits, every product written out.

Nothing here uses headlight or autograd's graph of it; only the gradients of the attention come from
transformers' own pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from scipy.special import erf
from transformers import PreTrainedModel

from tests.reference.passes import Matrix, Pass

EPSILON = 1e-6


# ------------------------------------------------------------------------------------ rules


def over(part: Matrix, whole: Matrix, eps: float = 1e-9) -> Matrix:
    safe = np.where(whole == 0, 1.0, whole + eps * np.sign(whole))
    return np.where(whole == 0, 0.0, part / safe)


def positive_linear(x: Matrix, weight: Matrix, _bias: Matrix, r: Matrix) -> Matrix:
    products = np.maximum(x[:, None, :] * weight[None], 0.0)
    return (products * over(r, products.sum(-1))[..., None]).sum(1)


def epsilon_linear(x: Matrix, weight: Matrix, bias: Matrix, r: Matrix) -> Matrix:
    products = x[:, None, :] * weight[None]
    return (products * over(r, products.sum(-1) + bias, EPSILON)[..., None]).sum(1)


def product(a: Matrix, b: Matrix, r: Matrix, eps: float) -> tuple[Matrix, Matrix]:
    """Shares of both factors of a @ b, halved."""
    products = a[:, :, None] * b[None]
    shares = products * over(r, products.sum(1), eps)[:, None, :]
    return shares.sum(2) / 2, shares.sum(0) / 2


def scaled_sum(a: Matrix, b: Matrix, r: Matrix) -> tuple[Matrix, Matrix]:
    """Shares of both summands, each brought to its part of the whole."""
    ra, rb = a * over(r, a + b), b * over(r, a + b)
    size = abs(ra.sum()) + abs(rb.sum())
    if size == 0:
        return ra, rb
    return tuple(x * abs(x.sum()) / size * r.sum() / x.sum() for x in (ra, rb))


def epsilon_sum(a: Matrix, b: Matrix, r: Matrix) -> tuple[Matrix, Matrix]:
    return a * over(r, a + b, EPSILON), b * over(r, a + b, EPSILON)


def same(_x: Matrix, _y: Matrix, r: Matrix) -> Matrix:
    return r


def expanded_softmax(x: Matrix, y: Matrix, r: Matrix) -> Matrix:
    return np.where(y == 0, 0.0, x * (r - y * r.sum(-1, keepdims=True)))


def same_norm(_x: Matrix, _gain: Matrix, _shift: Matrix, _eps: float, r: Matrix) -> Matrix:
    return r


def linear_norm(x: Matrix, gain: Matrix, shift: Matrix, eps: float, r: Matrix) -> Matrix:
    """A layer norm as a matrix for each token, its spread held constant."""
    size = x.shape[-1]
    found = np.zeros_like(x)
    for t in range(len(x)):
        spread = np.sqrt(x[t].var() + eps)
        matrix = gain[:, None] * (np.eye(size) - 1 / size) / spread
        found[t] = epsilon_linear(x[t : t + 1], matrix, shift, r[t : t + 1])[0]
    return found


@dataclass(frozen=True)
class Rules:
    linear: Callable[..., Matrix]
    add: Callable[..., tuple[Matrix, Matrix]]
    softmax: Callable[..., Matrix]
    norm: Callable[..., Matrix]
    eps: float


CHEFER = Rules(positive_linear, scaled_sum, same, same_norm, 1e-9)
ATTN_LRP = Rules(epsilon_linear, epsilon_sum, expanded_softmax, linear_norm, EPSILON)


# ----------------------------------------------------------------------------------- masking


Masking = Literal["open", "residual", "lost"]
"""What happens in a block without a head in the mask; in a "lost" one nothing is scaled, as released."""


def gated(r: Matrix, parts: Matrix, masking: Masking) -> Matrix:
    """Relevance [head, query, feature] let into the heads of the parts [part, head]."""
    if masking == "lost":
        return r * parts.max(0)[:, None, None]
    if parts.max(0).all() or (masking == "open" and not parts.any()):
        return r
    pieces = [r * part[:, None, None] for part in parts if part.any()]
    size = sum(abs(piece.sum()) for piece in pieces)
    return sum((p * abs(p.sum()) / size * r.sum() / p.sum() for p in pieces), np.zeros_like(r))


@dataclass
class Found:
    """Relevance of attention by layer [head, query, key], before the gate too, and of h⁰ … h^L."""

    attention: list[Matrix] = field(default_factory=list)
    ungated: list[Matrix] = field(default_factory=list)
    hidden: list[Matrix] = field(default_factory=list)


def closed_scaled(r: Matrix, before: Matrix, parts: Matrix | None, masking: Masking) -> Matrix:
    """If no head is in the mask and the block is closed, all goes through the residual."""
    if parts is None or parts.any() or masking != "residual":
        return r
    return r * before.sum() / r.sum()


def attend(
    rules: Rules, maps: Matrix, values: Matrix, r: Matrix, parts: Matrix | None, masking: Masking
) -> tuple[Matrix, Matrix, Matrix]:
    """Relevance of attention, of it before the gate, and of the values; all by head."""
    heads = range(len(maps))
    bare = np.stack([product(maps[h], values[h], r[h], rules.eps)[0] for h in heads])
    if parts is not None:
        r = gated(r, parts, masking)
    pairs = [product(maps[h], values[h], r[h], rules.eps) for h in heads]
    return np.stack([a for a, _ in pairs]), bare, np.stack([v for _, v in pairs])


# -------------------------------------------------------------------------------------- BERT


def arrays(net: PreTrainedModel) -> dict[str, Matrix]:
    return {name: p.detach().double().numpy() for name, p in net.state_dict().items()}


def by_head(x: Matrix, heads: int) -> Matrix:
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def merged(x: Matrix) -> Matrix:
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def normed(x: Matrix, gain: Matrix, shift: Matrix, eps: float) -> Matrix:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + eps) * gain + shift


def bert_relevance(
    net: PreTrainedModel,
    p: Pass,
    label: int,
    rules: Rules,
    parts: Matrix | None = None,
    masking: Masking = "open",
    seed: float = 1.0,
) -> Found:
    """A BERT sequence classifier, block by block from the logit down. parts: [part, layer, head]."""
    w, config, found = arrays(net), net.config, Found()

    def lin(name: str) -> tuple[Matrix, Matrix]:
        return w[f"{name}.weight"], w[f"{name}.bias"]

    def run(name: str, x: Matrix) -> Matrix:
        weight, bias = lin(name)
        return x @ weight.T + bias

    first = p.hidden[-1][:1]
    pooled = np.tanh(run("bert.pooler.dense", first))
    logits = run("classifier", pooled)
    r = np.zeros_like(logits)
    r[0, label] = seed
    r = rules.linear(pooled, *lin("classifier"), r)
    top = rules.linear(first, *lin("bert.pooler.dense"), r)
    r = np.zeros_like(p.hidden[-1])
    r[0] = top[0]
    found.hidden.append(r)
    for number in reversed(range(config.num_hidden_layers)):
        at, x, before = f"bert.encoder.layer.{number}", p.hidden[number], r
        heads = config.num_attention_heads
        q, k, v = (run(f"{at}.attention.self.{n}", x) for n in ("query", "key", "value"))
        maps = p.attention[number]
        mixed = merged(np.stack([m @ h for m, h in zip(maps, by_head(v, heads), strict=True)]))
        out = run(f"{at}.attention.output.dense", mixed)
        name = f"{at}.attention.output.LayerNorm"
        y = normed(out + x, *lin(name), config.layer_norm_eps)
        inner = run(f"{at}.intermediate.dense", y)
        act = inner * (1 + erf(inner / np.sqrt(2))) / 2
        down = run(f"{at}.output.dense", act)
        name2 = f"{at}.output.LayerNorm"
        r_sum = rules.norm(down + y, *lin(name2), config.layer_norm_eps, r)
        r_out, r_y = rules.add(down, y, r_sum)
        r_act = rules.linear(act, *lin(f"{at}.output.dense"), r_out)
        r_y = r_y + rules.linear(y, *lin(f"{at}.intermediate.dense"), r_act)
        r_attn, r_x = rules.add(out, x, rules.norm(out + x, *lin(name), config.layer_norm_eps, r_y))
        r_mixed = by_head(rules.linear(mixed, *lin(f"{at}.attention.output.dense"), r_attn), heads)
        own = None if parts is None else parts[:, number]
        r_maps, bare, r_v = attend(rules, maps, by_head(v, heads), r_mixed, own, masking)
        found.attention.insert(0, r_maps)
        found.ungated.insert(0, bare)
        r_q, r_k = [], []
        for h in range(heads):
            qh, kh = by_head(q, heads)[h], by_head(k, heads)[h]
            scores = qh @ kh.T / np.sqrt(qh.shape[-1])
            pair = product(qh, kh.T, rules.softmax(scores, maps[h], r_maps[h]), rules.eps)
            r_q.append(pair[0])
            r_k.append(pair[1].T)
        for n, part in (("query", np.stack(r_q)), ("key", np.stack(r_k)), ("value", r_v)):
            r_x = r_x + rules.linear(x, *lin(f"{at}.attention.self.{n}"), merged(part))
        r = closed_scaled(r_x, before, own, masking)
        found.hidden.insert(0, r)
    return found


# ------------------------------------------------------------------------------------- Llama


def llama_relevance(
    net: PreTrainedModel,
    p: Pass,
    label: int,
    rules: Rules,
    parts: Matrix | None = None,
    masking: Masking = "open",
    seed: float = 1.0,
) -> Found:
    """A Llama decoder: RMS norms and SiLU passed through, gates halved, rotation as a sum of two."""
    w, config, found = arrays(net), net.config, Found()
    heads, shared = config.num_attention_heads, config.num_key_value_heads
    size, width = p.size, config.hidden_size // heads

    def lin(name: str) -> tuple[Matrix, Matrix]:
        weight = w[f"{name}.weight"]
        return weight, np.zeros(len(weight))

    def rms(x: Matrix, name: str) -> Matrix:
        return (
            x / np.sqrt((x**2).mean(-1, keepdims=True) + config.rms_norm_eps) * w[f"{name}.weight"]
        )

    place = np.arange(size)[:, None] / 10000.0 ** (np.arange(0, width, 2)[None] / width)
    cos, sin = (np.concatenate([f(place)] * 2, -1) for f in (np.cos, np.sin))

    def turned(x: Matrix) -> Matrix:
        return np.concatenate([-x[..., width // 2 :], x[..., : width // 2]], -1)

    def turned_back(r: Matrix) -> Matrix:
        return np.concatenate([r[..., width // 2 :], r[..., : width // 2]], -1)

    def unrotate(x: Matrix, r: Matrix) -> Matrix:
        straight, crossed = rules.add(x * cos, turned(x) * sin, r)
        return straight + turned_back(crossed)

    last = rms(p.hidden[-1], "model.norm")
    weight, bias = lin("lm_head")
    r = np.zeros((1, len(weight)))
    r[0, label] = seed
    top = rules.linear(last[-1:], weight, bias, r)
    r = np.zeros_like(last)
    r[-1] = top[0]
    found.hidden.append(r)
    for number in reversed(range(config.num_hidden_layers)):
        at, x, before = f"model.layers.{number}", p.hidden[number], r
        n1 = rms(x, f"{at}.input_layernorm")
        q, k, v = (n1 @ lin(f"{at}.self_attn.{n}_proj")[0].T for n in "qkv")
        group = heads // shared
        vh = np.repeat(by_head(v, shared), group, 0)
        maps = p.attention[number]
        mixed = merged(np.stack([m @ h for m, h in zip(maps, vh, strict=True)]))
        out = mixed @ lin(f"{at}.self_attn.o_proj")[0].T
        y = x + out
        n2 = rms(y, f"{at}.post_attention_layernorm")
        gate, up = (n2 @ lin(f"{at}.mlp.{n}_proj")[0].T for n in ("gate", "up"))
        act = gate / (1 + np.exp(-gate)) * up
        r_y, r_mlp = rules.add(y, act @ lin(f"{at}.mlp.down_proj")[0].T, r)
        r_act = rules.linear(act, *lin(f"{at}.mlp.down_proj"), r_mlp)
        for n in ("gate", "up"):
            r_y = r_y + rules.linear(n2, *lin(f"{at}.mlp.{n}_proj"), r_act / 2)
        r_x, r_out = rules.add(x, out, r_y)
        r_mixed = by_head(rules.linear(mixed, *lin(f"{at}.self_attn.o_proj"), r_out), heads)
        own = None if parts is None else parts[:, number]
        r_maps, bare, r_v = attend(rules, maps, vh, r_mixed, own, masking)
        found.attention.insert(0, r_maps)
        found.ungated.insert(0, bare)
        qh, kh = by_head(q, heads), np.repeat(by_head(k, shared), group, 0)
        turned_q, turned_k = (z * cos + turned(z) * sin for z in (qh, kh))
        r_qh, r_kh = [], []
        for h in range(heads):
            scores = np.where(np.tri(size) > 0, turned_q[h] @ turned_k[h].T / np.sqrt(width), 0)
            pair = product(
                turned_q[h], turned_k[h].T, rules.softmax(scores, maps[h], r_maps[h]), rules.eps
            )
            r_qh.append(pair[0])
            r_kh.append(pair[1].T)
        r_keys, r_values = (
            np.stack([*z]).reshape(shared, group, size, width).sum(1) for z in (r_kh, r_v)
        )
        r_queries = unrotate(qh, np.stack(r_qh))
        r_keys = unrotate(by_head(k, shared), r_keys)
        for n, part in (("q", r_queries), ("k", r_keys), ("v", r_values)):
            r_x = r_x + rules.linear(n1, *lin(f"{at}.self_attn.{n}_proj"), merged(part))
        r = closed_scaled(r_x, before, own, masking)
        found.hidden.insert(0, r)
    return found


# ----------------------------------------------------------------------------------- methods


def weighted(p: Pass, attention: list[Matrix], start: int) -> list[Matrix]:
    pairs = list(zip(p.attention_gradient, attention, strict=True))[start:]
    return [np.maximum(g * r, 0).mean(0) for g, r in pairs]


def chained(layers: list[Matrix], normalises: bool) -> Matrix:
    joint = np.eye(len(layers[0]))
    for layer in layers:
        step = layer + np.eye(len(layer))
        joint = (step / step.sum(-1, keepdims=True) if normalises else step) @ joint
    return joint


WALKS = {"bert": bert_relevance, "llama": llama_relevance}


def logit(net: PreTrainedModel, ids: list[int], label: int) -> float:
    with torch.no_grad():
        logits = net(torch.tensor([ids])).logits[0]
    return float(logits[label] if logits.dim() == 1 else logits[-1, label])
