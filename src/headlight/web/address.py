"""Where a server listens, and who may come; nothing here needs torch, so a taken port is reported at once."""

import secrets
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.web.guard import LOOPBACK


@dataclass(frozen=True)
class Address:
    """Where a server listens; anywhere but on this machine only with a token."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def needed_token(self) -> str | None:
        """The token, made up where one is needed and none was given."""
        return self.token or (None if self.is_loopback else secrets.token_urlsafe(24))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which it may be called; with a token by any."""
        return tuple(dict.fromkeys((*LOOPBACK, self.host))) if self.is_loopback else ()


def listening(address: Address) -> socket.socket:
    """A socket that takes connections, or why it cannot; those that come early wait."""
    if not 0 <= address.port <= 65535:
        raise InvalidOption(f"port {address.port} does not exist. Use 0 (any free one) to 65535.")
    try:
        family, *_, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return bound(family, place)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}. "
            "Choose another --port, or --port 0 for any free one."
        ) from error


def bound(family: int, place: Any) -> socket.socket:
    """A listening socket; one that cannot be bound is closed."""
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen()
    except OSError:
        found.close()
        raise
    return found
