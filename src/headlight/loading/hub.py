"""The Hugging Face hub: whether it answers, and which of its files are on this machine."""

from pathlib import Path

YES = "yes"
SECONDS = 10.0
"""How long the hub may take to answer whether it has a model."""


def cached_file(name: str, file: str, revision: str | None = None) -> Path | None:
    """A file of a hub model in the local cache, if it is there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        path = try_to_load_from_cache(name, file, revision=revision)
    except HFValidationError:
        return None
    return Path(path) if isinstance(path, str) else None


def cached_models() -> list[str]:
    """Names of the hub models in the local cache."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return []
    return sorted(r.repo_id for r in repositories if r.repo_type == "model")


def hub_answers(name: str, revision: str | None = None) -> str:
    """`YES` if the hub has a model, else why not; it asks once, but a download would try for half a minute."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        HfHubHTTPError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # The hub's HTTP library differs between versions (requests, httpx); the parent of its errors is the same.
    transport_error: type[Exception] = HfHubHTTPError.__bases__[0]
    try:
        HfApi().model_info(name, revision=revision, timeout=SECONDS)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return "the hub has no such model, or it is private"
    except (transport_error, OSError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        return f"the hub cannot be reached ({said})"
    return YES
