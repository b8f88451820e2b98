"""Classify network addresses by their text alone: public, private, this machine, or forbidden."""

import unicodedata
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

IpAddress = IPv4Address | IPv6Address


class Reach(StrEnum):
    """What an address reaches, least strict first."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    METADATA = "cloud-metadata"

    @property
    def is_forbidden(self) -> bool:
        return self in (Reach.LINK_LOCAL, Reach.METADATA)


_ORDER = tuple(Reach)
# Where cloud machines get their own credentials. Some are private or even public addresses.
_METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
        ),
    )
)
_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
_THIS_HOST = IPv4Network("0.0.0.0/8")
# IPv6 prefixes that carry an IPv4 address in their last bits: compatible, mapped, translated, NAT64.
_CARRIERS = tuple(
    IPv6Network(prefix)
    for prefix in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)
_UNICAST_V6 = IPv6Network("2000::/3")
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))
_MOST_PARTS = 4
_BYTE = 0xFF


def reach_of_url(url: str) -> Reach:
    """Return what the host of a URL reaches.

    A URL that cannot be parsed counts as private, so that the user is asked.
    """
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return Reach.PRIVATE
    return reach_of_host(host) if host else Reach.PRIVATE


def reach_of_host(host: str) -> Reach:
    """Classify a host by its text alone. A name that looks public may still resolve to anything."""
    name = plain_host(host)
    if name in _METADATA_NAMES:
        return Reach.METADATA
    if (
        name == "localhost"
        or name.endswith(".localhost")
        or name in ("localhost.localdomain", "ip6-localhost")
    ):
        return Reach.LOOPBACK
    address = literal_address(name)
    if address is not None:
        return reach_of_address(address)
    return Reach.PRIVATE if looks_numeric(name) or ":" in name else Reach.PUBLIC


def reach_of_address(address: IpAddress) -> Reach:
    if isinstance(address, IPv6Address):
        carried = (_reach(IPv4Address(inner)) for inner in _carried(address))
        return max((_reach(_without_scope(address)), *carried), key=_ORDER.index)
    return _reach(address)


def _reach(address: IpAddress) -> Reach:
    if address in _METADATA:
        return Reach.METADATA
    if address.is_link_local:
        return Reach.LINK_LOCAL
    if address.is_loopback or address.is_unspecified or (address.version == 4 and address in _THIS_HOST):
        # The system treats "no address" as this machine.
        return Reach.LOOPBACK
    if isinstance(address, IPv6Address) and address not in _UNICAST_V6:
        # For a translated address, the address inside decides.
        return Reach.PUBLIC if any(address in network for network in _TRANSLATED) else Reach.PRIVATE
    return Reach.PUBLIC if address.is_global and not address.is_multicast else Reach.PRIVATE


def _without_scope(address: IPv6Address) -> IPv6Address:
    return IPv6Address(int(address))


def _carried(address: IPv6Address) -> list[int]:
    """Return the IPv4 addresses that a gateway would extract from this one."""
    found = [int(address) & 0xFFFFFFFF for network in _CARRIERS if _without_scope(address) in network]
    if address.sixtofour is not None:
        found.append(int(address.sixtofour))
    if address.teredo is not None:
        found.append(int(address.teredo[1]))
    return found


def plain_host(host: str) -> str:
    """Normalize a host as resolvers do: case, compatible letters, other full stops, the final dot."""
    folded = unicodedata.normalize("NFKC", host.strip("[]")).replace("\u3002", ".").lower()
    return folded.removesuffix(".")


def literal_address(host: str) -> IpAddress | None:
    """Parse a host as resolvers do, including `127.1` and `0x7f000001`. Returns None for a name."""
    name = plain_host(host)
    if ":" in name:
        try:
            return IPv6Address(name)
        except ValueError:
            return None
    return _loose_ipv4(name)


def looks_numeric(host: str) -> bool:
    """Return whether the last part is a number, so that no resolver treats it as a name."""
    last = plain_host(host).rpartition(".")[2]
    return last.isdecimal() or (last.startswith("0x") and _number(last) is not None)


def _loose_ipv4(name: str) -> IPv4Address | None:
    numbers = [_number(part) for part in name.split(".")]
    if len(numbers) > _MOST_PARTS:
        return None
    value = 0
    for place, number in enumerate(numbers):
        is_last = place == len(numbers) - 1
        room = 8 * (_MOST_PARTS - place) if is_last else 8
        if number is None or number >= 1 << room:
            return None
        value |= number if is_last else (number & _BYTE) << 8 * (_MOST_PARTS - 1 - place)
    return IPv4Address(value)


def _number(part: str) -> int | None:
    if not part.isascii() or not part.isalnum():
        return None
    try:
        if part.startswith("0x"):
            return int(part[2:] or "0", 16)
        return int(part, 8 if part.startswith("0") and part != "0" else 10)
    except ValueError:
        return None
