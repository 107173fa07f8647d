"""Every rule a second time, straight from its formula: numbers one by one, in loops, in 64 bits."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from headlight.trace.relevance import rules
from headlight.trace.relevance.rules import LinearMap, Operation

Numbers = list[list[float]]
ROWS, INPUTS, OUTPUTS = 2, 3, 4


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Seeded numbers of both signs in 64 bits."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def over(part: float, whole: float, stabiliser: float) -> float:
    """part / (whole ± stabiliser), and 0 where the whole is 0."""
    if whole == 0:
        return 0.0
    return part / (whole + stabiliser * (1 if whole > 0 else -1))


X, WEIGHT, BIAS = drawn(ROWS, INPUTS), drawn(OUTPUTS, INPUTS, seed=1), drawn(OUTPUTS, seed=2)
LINEAR_RELEVANCE = drawn(ROWS, OUTPUTS, seed=3)


def linear_operation(bias: Tensor | None = BIAS) -> tuple[Operation, Tensor]:
    """x Wᵀ + b as an operation, and its output."""
    z = X @ WEIGHT.T if bias is None else X @ WEIGHT.T + bias
    return Operation("linear", ROWS, map=LinearMap(WEIGHT, bias)), z


def slow_linear(share: Callable[[int, int, int], float]) -> Tensor:
    """R_j = Σ_i of the share that output i gives to input j, in every row."""
    found = torch.zeros(ROWS, INPUTS, dtype=torch.float64)
    for row in range(ROWS):
        for j in range(INPUTS):
            for i in range(OUTPUTS):
                found[row, j] += share(row, i, j)
    return found


# ------------------------------------------------------------------------------------- division


def test_nothing_is_divided_by_zero_and_the_stabiliser_has_the_sign_of_the_whole() -> None:
    part = torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    whole = torch.tensor([2.0, -2.0, 0.0, 0.0], dtype=torch.float64)
    found = rules.divide(part, whole, 0.5)
    expected = [over(float(p), float(w), 0.5) for p, w in zip(part, whole, strict=True)]
    assert expected == [0.4, -0.4, 0.0, 0.0]
    assert found.tolist() == expected


def test_shares_are_summed_over_the_axes_along_which_an_input_was_broadcast() -> None:
    relevance = drawn(2, 3, 4)
    (found,) = rules.pass_on(Operation("scale", 2), (drawn(1, 4),), relevance, relevance)
    expected = torch.zeros(1, 4, dtype=torch.float64)
    for a in range(2):
        for b in range(3):
            expected[0] += relevance[a, b]
    torch.testing.assert_close(found, expected)
    (same,) = rules.pass_on(Operation("scale", 2), (drawn(2, 3, 4),), relevance, relevance)
    assert same is relevance


# --------------------------------------------------------------------------------------- linear


@pytest.mark.parametrize("bias", [None, BIAS])
def test_z_plus_shares_by_positive_products_alone(bias: Tensor | None) -> None:
    """R_j = Σ_i (x_j W_ij)⁺ R_i / Σ_k (x_k W_ik)⁺, whatever the bias is."""

    def share(row: int, i: int, j: int) -> float:
        positive = [max(0.0, float(X[row, k] * WEIGHT[i, k])) for k in range(INPUTS)]
        return over(positive[j] * float(LINEAR_RELEVANCE[row, i]), sum(positive), 1e-9)

    operation, z = linear_operation(bias)
    (found,) = rules.z_plus(operation, (X,), z, LINEAR_RELEVANCE)
    torch.testing.assert_close(found, slow_linear(share))


def test_z_plus_keeps_the_sum_where_every_output_has_a_positive_product() -> None:
    x, weight, relevance = X.abs(), WEIGHT.abs(), LINEAR_RELEVANCE
    operation = Operation("linear", ROWS, map=LinearMap(weight))
    (found,) = rules.z_plus(operation, (x,), x @ weight.T, relevance)
    torch.testing.assert_close(found.sum(1), relevance.sum(1))  # type: ignore[union-attr]


def test_z_plus_gives_nothing_where_no_product_is_positive() -> None:
    x, weight = X.abs(), -WEIGHT.abs()
    operation = Operation("linear", ROWS, map=LinearMap(weight))
    (found,) = rules.z_plus(operation, (x,), x @ weight.T, LINEAR_RELEVANCE)
    assert not found.any()  # type: ignore[union-attr]


def test_z_plus_of_a_second_sweep_equals_that_of_a_first() -> None:
    """What is kept for the next sweep depends on neither relevance nor the rows that have any."""
    operation, z = linear_operation(BIAS)
    first = LINEAR_RELEVANCE.clone()
    first[0] = 0
    rules.z_plus(operation, (X,), z, first)
    (found,) = rules.z_plus(operation, (X,), z, LINEAR_RELEVANCE)
    (expected,) = rules.z_plus(linear_operation(BIAS)[0], (X,), z, LINEAR_RELEVANCE)
    assert torch.equal(found, expected)  # type: ignore[arg-type]


def test_z_plus_leaves_what_it_is_given_as_it_was() -> None:
    operation, z = linear_operation(BIAS)
    given = [X, z, LINEAR_RELEVANCE, WEIGHT]
    before = [tensor.clone() for tensor in given]
    rules.z_plus(operation, (X,), z, LINEAR_RELEVANCE)
    assert all(map(torch.equal, given, before))


def test_rows_without_relevance_get_none_and_change_no_other() -> None:
    share, weight = drawn(3, 4, 5, seed=1), drawn(5, 2, seed=2)
    turned = drawn(3, 5, 4, seed=3).transpose(1, 2)
    torch.testing.assert_close(rules.multiply_rows(turned, weight), turned @ weight)
    share[0, 1] = share[2] = 0
    torch.testing.assert_close(rules.multiply_rows(share, weight), share @ weight)
    assert not rules.multiply_rows(torch.zeros_like(share), weight).any()


def test_products_back_have_the_digits_of_the_stored_weight() -> None:
    """The weight and the result have 64 bits; 32-bit products are right to six digits."""
    brief = WEIGHT.float()
    wide, z = LinearMap(brief.double()), X @ brief.double().T
    stored = Operation("linear", ROWS, map=LinearMap(brief.double(), stored=brief))
    exact = Operation("linear", ROWS, map=wide)
    for rule in (rules.z_plus, rules.gradient_linear):
        (found,), (expected,) = (rule(op, (X,), z, LINEAR_RELEVANCE) for op in (stored, exact))
        assert found is not None
        assert expected is not None
        assert found.dtype == torch.float64
        assert not torch.equal(found, expected)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("bias", [None, BIAS])
def test_epsilon_shares_by_products_and_the_bias_keeps_its_part(bias: Tensor | None) -> None:
    """R_j = x_j Σ_i W_ij R_i / (z_i + ε)."""
    operation, z = linear_operation(bias)

    def share(row: int, i: int, j: int) -> float:
        product = float(X[row, j] * WEIGHT[i, j])
        whole = sum(float(X[row, k] * WEIGHT[i, k]) for k in range(INPUTS))
        whole += 0.0 if bias is None else float(bias[i])
        return product * over(float(LINEAR_RELEVANCE[row, i]), whole, 1e-6)

    (found,) = rules.epsilon_linear(operation, (X,), z, LINEAR_RELEVANCE)
    torch.testing.assert_close(found, slow_linear(share))


def test_the_released_rule_of_gpt2_loses_half_and_lets_the_bias_share() -> None:
    """Wx and b are balanced as summands of z; half of what Wx gets is shared by its products."""
    operation, z = linear_operation()
    plain = z - BIAS
    parts = [torch.zeros_like(z), torch.zeros_like(z)]
    for row in range(ROWS):
        for i in range(OUTPUTS):
            share = over(float(LINEAR_RELEVANCE[row, i]), float(z[row, i]), 1e-9)
            parts[0][row, i] = plain[row, i] * share
            parts[1][row, i] = BIAS[i] * share
    own = slow_balanced(parts, LINEAR_RELEVANCE)[0]

    def share(row: int, i: int, j: int) -> float:  # type: ignore[no-redef]
        product = float(X[row, j] * WEIGHT[i, j])
        return product * over(float(own[row, i]), float(plain[row, i]), 1e-9) / 2

    (found,) = rules.biased_half(operation, (X,), z, LINEAR_RELEVANCE)
    torch.testing.assert_close(found, slow_linear(share))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- products

LEFT, RIGHT, PRODUCT_RELEVANCE = drawn(2, 3, 4), drawn(2, 4, 5, seed=1), drawn(2, 3, 5, seed=2)


def slow_product(eps: float, halves: int) -> tuple[Tensor, Tensor]:
    """The share of a_ik b_kj in z_ij, added up for every a_ik and every b_kj."""
    z = LEFT @ RIGHT
    found = torch.zeros_like(LEFT), torch.zeros_like(RIGHT)
    for row in range(2):
        for i in range(3):
            for j in range(5):
                part = over(float(PRODUCT_RELEVANCE[row, i, j]), float(z[row, i, j]), eps) / halves
                for k in range(4):
                    share = float(LEFT[row, i, k] * RIGHT[row, k, j]) * part
                    found[0][row, i, k] += share
                    found[1][row, k, j] += share
    return found


@pytest.mark.parametrize(("rule", "eps"), [("share_product", 1e-9), ("epsilon_product", 1e-6)])
def test_a_product_shares_among_both_factors(rule: str, eps: float) -> None:
    operation = Operation("matmul", 2, takes=(True, True))
    apply = getattr(rules, rule)
    found = apply(operation, (LEFT, RIGHT), LEFT @ RIGHT, PRODUCT_RELEVANCE)
    for own, expected in zip(found, slow_product(eps, halves=2), strict=True):
        torch.testing.assert_close(own, expected)
    whole = sum(own.sum((1, 2)) for own in found)
    torch.testing.assert_close(whole, PRODUCT_RELEVANCE.sum((1, 2)), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("side", [0, 1])
def test_a_constant_factor_leaves_all_to_the_other(side: int) -> None:
    operation = Operation("matmul", 2, takes=(side == 0, side == 1))
    found = rules.share_product(operation, (LEFT, RIGHT), LEFT @ RIGHT, PRODUCT_RELEVANCE)
    assert found[1 - side] is None
    torch.testing.assert_close(found[side], slow_product(1e-9, halves=1)[side])


def test_factors_element_by_element_get_equal_parts() -> None:
    relevance, gate = drawn(2, 3), drawn(3, seed=1)
    operation = Operation("mul", 2, takes=(True, True))
    value, own = rules.halve(operation, (drawn(2, 3), gate), relevance, relevance)
    torch.testing.assert_close(value, relevance / 2)
    torch.testing.assert_close(own, (relevance[0] + relevance[1]) / 2)
    operation = Operation("mul", 2, takes=(False, True))
    nothing, all_of_it = rules.halve(operation, (gate, drawn(2, 3)), relevance, relevance)
    assert nothing is None
    torch.testing.assert_close(all_of_it, relevance)


# ----------------------------------------------------------------------------------------- sums


def slow_balanced(parts: list[Tensor], relevance: Tensor) -> list[Tensor]:
    """Part p of every example scaled to |Σp| / Σ_q |Σq| of ΣR."""
    found = [torch.zeros_like(part) for part in parts]
    for row in range(len(relevance)):
        total = float(relevance[row].sum())
        sums = [float(part[row].sum()) for part in parts]
        size = sum(abs(each) for each in sums)
        for new, part, own in zip(found, parts, sums, strict=True):
            new[row] = part[row] * over(over(abs(own), size, 1e-9) * total, own, 1e-9)
    return found


SUMMANDS, SUM_RELEVANCE = (drawn(2, 3, 4), drawn(2, 3, 4, seed=1)), drawn(2, 3, 4, seed=2)


@pytest.mark.parametrize("sign", [1, -1])
def test_summands_share_by_their_size(sign: int) -> None:
    """Each gets ± x R / (Z + ε)."""
    operation = Operation("add", 2, takes=(True, True), signs=(1, sign))
    z = SUMMANDS[0] + sign * SUMMANDS[1]
    found = rules.epsilon_sum(operation, SUMMANDS, z, SUM_RELEVANCE)
    for own, x, n in zip(found, SUMMANDS, (1, sign), strict=True):
        pairs = zip(x.flatten(), SUM_RELEVANCE.flatten(), z.flatten(), strict=True)
        expected = [n * float(a) * over(float(r), float(whole), 1e-6) for a, r, whole in pairs]
        assert own.flatten().tolist() == pytest.approx(expected)


@pytest.mark.parametrize("sign", [1, -1])
def test_balanced_summands_lose_and_make_nothing(sign: int) -> None:
    operation = Operation("add", 2, takes=(True, True), signs=(1, sign))
    z = SUMMANDS[0] + sign * SUMMANDS[1]
    found = rules.share_sum(operation, SUMMANDS, z, SUM_RELEVANCE)
    shares = [
        n * x * SUM_RELEVANCE / (z + 1e-9 * z.sign())
        for x, n in zip(SUMMANDS, (1, sign), strict=True)
    ]
    for own, expected in zip(found, slow_balanced(shares, SUM_RELEVANCE), strict=True):
        torch.testing.assert_close(own, expected)
    torch.testing.assert_close(
        sum(own.sum((1, 2)) for own in found),  # type: ignore[misc, union-attr]
        SUM_RELEVANCE.sum((1, 2)),
        rtol=1e-6,
        atol=0,
    )


def test_parts_that_sum_to_nothing_get_nothing() -> None:
    part = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    other = torch.tensor([[0.5, 0.5]], dtype=torch.float64)
    found = rules.balanced((part, other), torch.tensor([[2.0, 1.0]], dtype=torch.float64), 1)
    assert not found[0].any()
    torch.testing.assert_close(found[1].sum(), torch.tensor(3.0, dtype=torch.float64))


@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dims", [(1,), (2,), (1, 2)])
def test_a_sum_along_axes_shares_by_the_values_it_adds(
    dims: tuple[int, ...], keepdim: bool
) -> None:
    x = SUMMANDS[0]
    relevance = drawn(*x.sum(dims, keepdim=keepdim).shape, seed=5)
    (found,) = rules.share_total(Operation("sum", 2, dims=dims), (x,), relevance, relevance)
    expected = torch.zeros_like(x)
    for place in torch.cartesian_prod(*(torch.arange(size) for size in x.shape)).tolist():
        kept = tuple(0 if d in dims else p for d, p in enumerate(place))
        removed = tuple(p for d, p in enumerate(place) if d not in dims)
        own = relevance[kept if keepdim else removed]
        line = tuple(slice(None) if d in dims else p for d, p in enumerate(place))
        expected[tuple(place)] = float(x[tuple(place)]) * over(
            float(own), float(x[line].sum()), 1e-9
        )
    torch.testing.assert_close(found, expected)


# -------------------------------------------------------------------------------------- softmax


def test_softmax_is_expanded_at_its_input() -> None:
    """R_i = x_i (R_i − z_i Σ_j R_j), and nothing where a mask made z zero, though x is −∞ there."""
    x = drawn(2, 4)
    x[0, 3] = -torch.inf
    z, relevance = x.softmax(-1), drawn(2, 4, seed=1)
    (found,) = rules.taylor_softmax(Operation("softmax", 2), (x,), z, relevance)
    for row in range(2):
        total = sum(float(relevance[row, j]) for j in range(4))
        for i in range(4):
            own = float(relevance[row, i]) - float(z[row, i]) * total
            expected = 0.0 if z[row, i] == 0 else float(x[row, i]) * own
            assert float(found[row, i]) == pytest.approx(expected)  # type: ignore[index]


def test_what_a_map_gives_without_its_bias() -> None:
    z = drawn(2, 4)
    assert LinearMap(WEIGHT).without_bias(z) is z
    torch.testing.assert_close(LinearMap(WEIGHT, BIAS).without_bias(z), z - BIAS)
