"""The hub of models: whether it answers, and what of it is on this machine."""

from pathlib import Path

YES = "yes"
SECONDS = 10.0
"""How long the hub may take to answer whether it has a model."""


def cached_file(name: str, file: str, revision: str | None = None) -> Path | None:
    """A file of a model in the local cache of the hub."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, file, revision=revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def cached_models() -> list[str]:
    """Names of the models in the local cache of the hub."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return []
    return sorted(r.repo_id for r in repositories if r.repo_type == "model")


def hub_answers(name: str, revision: str | None = None) -> str:
    """`YES` if the hub has a model, else why not; asked once, where a download would try for half a minute."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        HfHubHTTPError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # The client library behind the hub has changed its name between versions; its errors have this parent.
    transport_error: type[Exception] = HfHubHTTPError.__bases__[0]
    try:
        HfApi().model_info(name, revision=revision, timeout=SECONDS)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return "the hub has no such model, or it is private"
    except (transport_error, OSError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        return f"the hub cannot be reached ({said})"
    return YES
