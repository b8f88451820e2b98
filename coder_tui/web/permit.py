"""What an approval covers: the addresses that were shown, not what a name or redirect leads to later."""

from dataclasses import dataclass

from coder_tui.policy.addresses import IpAddress, Reach, literal_address, reach_of_host
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.address_book import ReachOf

_HINT = "Nothing was sent there. If it is meant, fetch it again, by itself: the approval then says where."


@dataclass(frozen=True, slots=True)
class Permit:
    """`addresses` are the ones that are not public but were approved."""

    addresses: frozenset[IpAddress] = frozenset()
    is_for_this_machine: bool = False
    """Whether `localhost` was approved by that name, whatever it resolves to here."""
    is_for_any: bool = False
    """For an address out of the person's own settings: wherever its name leads was chosen by them."""

    @classmethod
    def for_call(cls, address: WebAddress, shown: frozenset[IpAddress]) -> "Permit":
        literal = literal_address(address.host)
        own = frozenset({literal}) if literal is not None else frozenset()
        return cls(own | shown, literal is None and reach_of_host(address.host) is Reach.LOOPBACK)

    def check(self, address: WebAddress, found: tuple[IpAddress, ...], reach_of: ReachOf) -> "Permit":
        """Refuse what is not covered; return what the next hop may still reach."""
        by_name = reach_of_host(address.host)
        if by_name.is_forbidden:
            raise _refused(f"{address.host} is a {by_name} address", "")
        reaches = [reach_of(ip) for ip in found]
        for ip, reach in zip(found, reaches, strict=True):
            if reach.is_forbidden:
                raise _refused(f"{_leads(address, ip)}, a {reach} address", "")
            if not self._covers(ip, reach):
                raise _refused(f"{_leads(address, ip)}, a {reach} address that was not approved", _HINT)
        # A public server must not send us back to what was approved before it had a say.
        is_private = bool(reaches) and all(reach is not Reach.PUBLIC for reach in reaches)
        return self if is_private else Permit()

    def _covers(self, ip: IpAddress, reach: Reach) -> bool:
        if reach is Reach.PUBLIC or self.is_for_any or ip in self.addresses:
            return True
        return self.is_for_this_machine and reach is Reach.LOOPBACK


def _leads(address: WebAddress, ip: IpAddress) -> str:
    return str(ip) if str(ip) == address.host else f"{address.host} leads to {ip}"


def _refused(message: str, hint: str) -> ToolError:
    return ToolError(ErrorType.PERMISSION_DENIED, f"permission denied: {message}", hint)
