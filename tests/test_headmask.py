"""Head masks: parts, algebra, corruption, files."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from headlight import HeadMask, InvalidInput, InvalidOption, UnknownName

SYNTACTIC = torch.tensor([[1, 0, 0], [0, 1, 0]]).bool()
POSITIONAL = torch.tensor([[1, 0, 0], [0, 0, 1]]).bool()
MASK = HeadMask({"syntactic": SYNTACTIC, "positional": POSITIONAL}, {"model": "m", "texts": 3})


def test_parts_join_and_part() -> None:
    assert MASK.count == 3
    assert torch.equal(MASK.heads, SYNTACTIC | POSITIONAL)
    assert torch.equal(MASK.part("positional").heads, POSITIONAL)
    assert str(MASK) == "syntactic+positional: 3 of 6 heads"
    with pytest.raises(UnknownName, match="Did you mean 'positional'"):
        MASK.part("position")


def test_heads_are_named_one_by_one() -> None:
    assert HeadMask.at([(1, 1), (2, 3)], 2, 3).heads.tolist() == [[1, 0, 0], [0, 0, 1]]
    for place in ((0, 1), (3, 1), (1, 4)):
        with pytest.raises(InvalidOption, match="there are layers 1 to 2 with heads 1 to 3"):
            HeadMask.at([place], 2, 3)


def test_algebra() -> None:
    one, two = HeadMask.of(SYNTACTIC), HeadMask.of(POSITIONAL)
    assert torch.equal((one | two).heads, SYNTACTIC | POSITIONAL)
    assert torch.equal((one & two).heads, SYNTACTIC & POSITIONAL)
    assert torch.equal((~one).heads, ~SYNTACTIC)
    assert one.overlap(two) == pytest.approx(1 / 3)
    assert (one & ~one).overlap(two & ~two) == 1.0
    with pytest.raises(InvalidInput, match="cannot be combined"):
        one | HeadMask.full(3, 3)


@given(rate=st.floats(0, 1), seed=st.integers(0, 99))
def test_corruption_only_adds_and_is_seeded(rate: float, seed: int) -> None:
    found = MASK.corrupted(rate, seed)
    assert bool((found.heads | ~MASK.heads).all())
    assert found.count == 3 + round(rate * 3)
    assert torch.equal(found.heads, MASK.corrupted(rate, seed).heads)


@given(seed=st.integers(0, 99))
def test_a_random_mask_keeps_the_rate(seed: int) -> None:
    assert MASK.random_like(seed).count == MASK.count
    by_layer = MASK.random_like(seed, "by_layer")
    assert by_layer.heads.sum(1).tolist() == MASK.heads.sum(1).tolist()


def test_random_masks_differ() -> None:
    drawn = {str(MASK.random_like(seed).heads.tolist()) for seed in range(20)}
    assert len(drawn) > 3


def test_masks_are_saved_whole_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "mask.safetensors"
    MASK.save(path)
    again = HeadMask.load(path)
    assert {n: p.tolist() for n, p in again.parts.items()} == {
        n: p.tolist() for n, p in MASK.parts.items()
    }
    assert dict(again.facts) == dict(MASK.facts)
    assert [p.name for p in tmp_path.iterdir()] == ["mask.safetensors"]
    save_file({"a": torch.ones(2, 2)}, path)
    with pytest.raises(InvalidInput, match="holds no head mask"):
        HeadMask.load(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InvalidInput, match="no head mask can be read"):
        HeadMask.load(path)


def test_bad_masks_are_refused() -> None:
    with pytest.raises(InvalidInput, match="zeros and ones"):
        HeadMask.of([[0.5, 1]])
    with pytest.raises(InvalidInput, match="at least one part"):
        HeadMask({})
    with pytest.raises(InvalidInput, match=r"\[layer, head\]"):
        HeadMask({"a": SYNTACTIC, "b": torch.ones(3, 3).bool()})
    with pytest.raises(InvalidOption, match="not a share"):
        MASK.corrupted(1.5)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([[1, 0], [1]], "zeros and ones"),
        ([["a", "b"]], "zeros and ones"),
        ("syntactic", "zeros and ones"),
        ([], "must be .layer, head."),
        ([1, 0], "must be .layer, head."),
        ([[float("nan"), 1]], "this has nan in it"),
        (torch.tensor([[-3, 1]]), "this has -3 in it"),
    ],
)
def test_what_is_not_heads_is_refused(heads: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        HeadMask.of(heads)
    with pytest.raises(InvalidInput, match=r"the part 'a' of a head mask"):
        HeadMask({"a": heads})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (None, "does not say what its head mask is about"),
        ("{", "does not say what its head mask is about"),
        ("[]", "does not say what its head mask is about"),
        ("[" * 100_000, "does not say what its head mask is about"),
        ('{"roles": {"next": [[0, 99]]}}', "has a role for head 100 of layer 1"),
        ('{"roles": {"next": 5}}', "must be lists of .layer, head. by name"),
        ('{"roles": 5}', "must be lists of .layer, head. by name"),
    ],
)
def test_a_mask_file_says_what_it_is_about(tmp_path: Path, about: str | None, message: str) -> None:
    path = tmp_path / "mask.safetensors"
    facts = {"format": "headlight head mask 1"} | ({} if about is None else {"about": about})
    save_file({"a": torch.ones(2, 3)}, path, facts)
    with pytest.raises(InvalidInput, match=message):
        HeadMask.load(path)


def test_values_of_a_mask_file_are_zeros_and_ones(tmp_path: Path) -> None:
    path, facts = tmp_path / "mask.safetensors", {"format": "headlight head mask 1", "about": "{}"}
    save_file({"a": torch.ones(2, 3)}, path, facts)
    assert HeadMask.load(path).count == 6
    for value in (float("nan"), -3.0):
        save_file({"a": torch.full((2, 3), value)}, path, facts)
        with pytest.raises(InvalidInput, match="made of zeros and ones"):
            HeadMask.load(path)


def test_no_flipped_bit_makes_another_mask(tmp_path: Path) -> None:
    path = tmp_path / "mask.safetensors"
    MASK.save(path)
    whole = path.read_bytes()
    refused = 0
    for bit in range(0, 8 * len(whole), 3):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(damaged)
        try:
            read = HeadMask.load(path)
        except InvalidInput:
            refused += 1
            continue
        assert {n: p.tolist() for n, p in read.parts.items()} == {
            n: p.tolist() for n, p in MASK.parts.items()
        }
    assert refused > 2 * len(whole)


def test_a_mask_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        MASK.parts["syntactic"] = SYNTACTIC  # type: ignore[index]


def test_files_of_the_first_version_are_read_with_numbers_from_one(tmp_path: Path) -> None:
    old, new = tmp_path / "old.safetensors", tmp_path / "new.safetensors"
    facts = {"format": "headlight head mask 1", "about": '{"roles": {"+1": [[0, 2]]}}'}
    save_file({"positional": torch.tensor([[0, 0, 1], [0, 0, 0]])}, old, facts)
    mask = HeadMask.load(old)
    assert mask.roles == {(1, 3): ("+1",)}
    assert mask.kind(1, 3) == "positional"
    mask.save(new)
    assert HeadMask.load(new).roles == mask.roles
    with pytest.raises(
        InvalidOption, match="head 0 of layer 1 does not exist: there are layers 1 to 2"
    ):
        mask.kind(1, 0)
