"""Where a server listens, and who may connect. Needs no torch, so a port in use is reported at once."""

import secrets
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.web.guard import LOOPBACK


@dataclass(frozen=True)
class Address:
    """Where a server listens; a token is required unless only this machine can connect."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def needed_token(self) -> str | None:
        """The given token, or a generated one if it is required."""
        return self.token or (None if self.is_loopback else secrets.token_urlsafe(24))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host names that requests may use; any name if a token is required."""
        return tuple(dict.fromkeys((*LOOPBACK, self.host))) if self.is_loopback else ()


def listening(address: Address) -> socket.socket:
    """A listening socket, or an error that says why there is none."""
    # Opened before the model is loaded: early connections wait instead of failing.
    if not 0 <= address.port <= 65535:
        raise InvalidOption(
            f"port {address.port} does not exist. Use 1 to 65535, or 0 for any free port."
        )
    try:
        family, *_, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return bound(family, place)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}. "
            "Choose another --port, or --port 0 for any free port."
        ) from error


def bound(family: int, place: Any) -> socket.socket:
    """A listening socket; it is closed if it cannot be bound."""
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen()
    except OSError:
        found.close()
        raise
    return found
