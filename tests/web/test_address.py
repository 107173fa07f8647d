"""Where a server listens, and who may come."""

import pytest

from headlight import InvalidInput
from headlight.web.address import Address, listening
from headlight.web.guard import LOOPBACK


def test_a_port_is_taken_from_the_moment_it_is_bound() -> None:
    with listening(Address(port=0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidInput, match="already in use"):
            listening(Address(port=port))
    with listening(Address(port=port)) as again:
        assert again.getsockname()[1] == port


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_on_this_machine_no_token_is_needed_but_the_right_name_is(host: str) -> None:
    assert Address(host).needed_token is None
    assert Address(host, token="own").needed_token == "own"
    assert {*LOOPBACK, host} == set(Address(host).hosts)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "machine.example", ""])
def test_elsewhere_a_token_is_made_up_where_none_is_given(host: str) -> None:
    made = Address(host).needed_token
    assert made is not None
    assert len(made) >= 32
    assert made != Address(host).needed_token
    assert Address(host, token="own").needed_token == "own"
    assert Address(host).hosts == ()
