"""Modified gradients by hand: networks written out in 64 bits; what is constant on the way back is detached."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from tests.reference.passes import Matrix


@dataclass(frozen=True)
class Rules:
    """One column of the table of the papers. sink: whether attention goes back into the first key and value."""

    norm: bool
    ratio: bool
    gate: tuple[float, float]
    scores: float
    value: float
    temperature: float = 1.0
    sink: bool = True


PAPERS = {
    "attn_lrp": Rules(True, True, (0.5, 0.5), 0.25, 0.5),
    "cp_lrp": Rules(True, True, (0.0, 1.0), 0.0, 1.0),
    "libragrad": Rules(True, True, (0.5, 0.5), 0.0, 1.0),
    "gim": Rules(True, False, (0.5, 0.5), 0.25, 0.5, 2.0),
    "modified_gradient": Rules(True, True, (0.5, 0.5), 0.25, 0.5),
}


def fades(x: Tensor, factor: float) -> Tensor:
    """The same number, whose gradient has a factor."""
    return x.detach() + factor * (x - x.detach())


def layer_norm(x: Tensor, gain: Tensor, shift: Tensor, eps: float, rules: Rules) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return centred / (deviation.detach() if rules.norm else deviation) * gain + shift


def rms_norm(x: Tensor, gain: Tensor, eps: float, rules: Rules) -> Tensor:
    root = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return x / (root.detach() if rules.norm else root) * gain


def activated(function: Callable[[Tensor], Tensor], x: Tensor, rules: Rules) -> Tensor:
    z = function(x)
    return x * (z / x).detach() if rules.ratio else z


def attention(q: Tensor, k: Tensor, v: Tensor, rules: Rules, is_causal: bool) -> Tensor:
    """[head, token, width]; the weights have their value at temperature 1 and their slope at another."""
    if not rules.sink:
        k, v = (torch.cat([x[:, :1].detach(), x[:, 1:]], 1) for x in (k, v))
    scores = fades(q, rules.scores) @ fades(k, rules.scores).transpose(1, 2) / q.shape[-1] ** 0.5
    if is_causal:
        scores = scores + torch.full(scores.shape[1:], -torch.inf).double().triu(1)
    slope = rules.temperature * torch.softmax(scores / rules.temperature, -1)
    weights = torch.softmax(scores, -1).detach() + slope - slope.detach()
    # v changes by the plain weights, the weights by the plain v
    return weights.detach() @ fades(v, rules.value) + (weights - weights.detach()) @ v.detach()


def heads_of(x: Tensor, count: int) -> Tensor:
    return x.view(len(x), count, -1).transpose(0, 1)


def joined(x: Tensor) -> Tensor:
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def bert(net: PreTrainedModel, start: Tensor, label: int, rules: Rules) -> Tensor:
    w, config = net.state_dict(), net.config
    count, eps = config.num_attention_heads, config.layer_norm_eps

    def lin(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        return layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"], eps, rules)

    x = start
    for n in range(config.num_hidden_layers):
        at = f"bert.encoder.layer.{n}"
        q, k, v = (
            heads_of(lin(x, f"{at}.attention.self.{part}"), count)
            for part in ("query", "key", "value")
        )
        mixed = joined(attention(q, k, v, rules, is_causal=False))
        x = norm(x + lin(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        wide = activated(torch.nn.functional.gelu, lin(x, f"{at}.intermediate.dense"), rules)
        x = norm(x + lin(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    pooled = activated(torch.tanh, lin(x[:1], "bert.pooler.dense"), rules)
    return lin(pooled, "classifier")[0, label]


def llama(net: PreTrainedModel, start: Tensor, label: int, rules: Rules) -> Tensor:
    w, config = net.state_dict(), net.config
    count, shared = config.num_attention_heads, config.num_key_value_heads
    width = config.hidden_size // count
    # transformers computes rotations in 32 bits, also in a 64-bit network
    speeds = 1.0 / 10000.0 ** (torch.arange(0, width, 2).float() / width)
    place = torch.arange(len(start)).float()[:, None] * speeds
    cos, sin = (torch.cat([f(place)] * 2, -1).double() for f in (torch.cos, torch.sin))

    def rotated(x: Tensor) -> Tensor:
        half = width // 2
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin

    def norm(x: Tensor, name: str) -> Tensor:
        return rms_norm(x, w[f"{name}.weight"], config.rms_norm_eps, rules)

    x = start
    for n in range(config.num_hidden_layers):
        at = f"model.layers.{n}"
        y = norm(x, f"{at}.input_layernorm")
        q = heads_of(y @ w[f"{at}.self_attn.q_proj.weight"].T, count)
        k, v = (
            heads_of(y @ w[f"{at}.self_attn.{part}_proj.weight"].T, shared) for part in ("k", "v")
        )
        k, v = (
            rotated(k).repeat_interleave(count // shared, 0),
            v.repeat_interleave(count // shared, 0),
        )
        mixed = joined(attention(rotated(q), k, v, rules, is_causal=True))
        x = x + mixed @ w[f"{at}.self_attn.o_proj.weight"].T
        y = norm(x, f"{at}.post_attention_layernorm")
        gate = activated(torch.nn.functional.silu, y @ w[f"{at}.mlp.gate_proj.weight"].T, rules)
        up = y @ w[f"{at}.mlp.up_proj.weight"].T
        wide = fades(gate, rules.gate[0]) * up.detach() + gate.detach() * fades(up, rules.gate[1])
        # a sum of two halves counts the product twice: its value is put right, its slopes are kept
        wide = wide - (gate * up).detach()
        x = x + wide @ w[f"{at}.mlp.down_proj.weight"].T
    return (norm(x[-1:], "model.norm") @ w["lm_head.weight"].T)[0, label]


def gpt2(net: PreTrainedModel, start: Tensor, label: int, rules: Rules) -> Tensor:
    w, config = net.state_dict(), net.config
    count, eps = config.n_head, config.layer_norm_epsilon

    def lin(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        return layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"], eps, rules)

    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))

    x = start
    for n in range(config.n_layer):
        at = f"transformer.h.{n}"
        parts = lin(norm(x, f"{at}.ln_1"), f"{at}.attn.c_attn").chunk(3, -1)
        q, k, v = (heads_of(part, count) for part in parts)
        x = x + lin(joined(attention(q, k, v, rules, is_causal=True)), f"{at}.attn.c_proj")
        wide = activated(gelu, lin(norm(x, f"{at}.ln_2"), f"{at}.mlp.c_fc"), rules)
        x = x + lin(wide, f"{at}.mlp.c_proj")
    return (norm(x[-1:], "transformer.ln_f") @ w["lm_head.weight"].T)[0, label]


NETWORKS = {"bert": bert, "llama": llama, "gpt2": gpt2}


def modified_scores(
    net: PreTrainedModel,
    embeddings: Matrix,
    baseline: Matrix,
    label: int,
    method: str,
    rules: Rules | None = None,
) -> Matrix:
    """The scores of every token; GIM multiplies by the difference to the baseline, the others by the input.

    rules: others than those of the method's paper.
    """
    start = torch.tensor(embeddings).double().requires_grad_()
    value = NETWORKS[net.config.model_type](net, start, label, rules or PAPERS[method])
    (gradient,) = torch.autograd.grad(value, start)
    multiplier = start - torch.tensor(baseline) if method == "gim" else start
    scores: Matrix = (multiplier * gradient).sum(-1).detach().numpy()
    return scores
