"""Names are looked up as this machine sees them, and what is private is remembered."""

import asyncio
from ipaddress import ip_address

import pytest

from coder_tui.policy.addresses import reach_of_address
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.transport import AddressBook, system_resolver
from tests.web.loopback import Names


async def test_this_machine_knows_its_own_name() -> None:
    found = await system_resolver("localhost")
    assert found
    assert all(address.is_loopback for address in found)


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a..b", "x" * 300])
async def test_an_unknown_name_is_a_network_error(name: str) -> None:
    with pytest.raises(ToolError) as caught:
        await system_resolver(name)
    assert caught.value.type is ErrorType.NETWORK_ERROR


async def test_a_lookup_can_be_cancelled() -> None:
    task = asyncio.create_task(system_resolver("no-such-host.invalid"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_literal_is_never_looked_up() -> None:
    names = Names({})
    book = AddressBook(names, reach_of_address)
    assert await book.look_up("127.1") == (ip_address("127.0.0.1"),)
    assert await book.private_addresses_of("10.0.0.1") == ()
    assert names.asked == []


async def test_only_what_is_private_is_remembered_and_only_while_it_is() -> None:
    names = Names({"a.example": ["10.0.0.1", "8.8.8.8"], "b.example": ["8.8.4.4"]})
    book = AddressBook(names, reach_of_address)
    assert await book.private_addresses_of("a.example") == ()
    await book.look_up("a.example")
    assert await book.private_addresses_of("a.example") == (ip_address("10.0.0.1"),)
    await book.look_up("a.example")
    await book.look_up("b.example")
    assert (await book.private_addresses_of("a.example"), await book.private_addresses_of("b.example")) == (
        (),
        (),
    )
    assert names.asked == ["a.example", "a.example", "b.example"]


async def test_what_is_remembered_is_bounded() -> None:
    names = Names({f"h{n}.example": ["10.0.0.1"] for n in range(300)})
    book = AddressBook(names, reach_of_address)
    for n in range(300):
        await book.look_up(f"h{n}.example")
    assert await book.private_addresses_of("h0.example") == ()
    assert await book.private_addresses_of("h299.example") == (ip_address("10.0.0.1"),)


async def test_an_unanswered_local_name_does_not_delay_the_approval() -> None:
    assert await AddressBook(Names({}), reach_of_address).private_addresses_of("wiki") == ()
