"""Addresses are classified correctly in every spelling."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.policy.addresses import Reach, literal_address, reach_of_address, reach_of_host, reach_of_url
from coder_tui.policy.rules import address_matches

_ORDER = tuple(Reach)

METADATA = (
    "http://169.254.169.254/latest/meta-data/",
    "http://0xA9FEA9FE/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[::169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://metadata.google.internal/",
    "http://Metadata.Google.Internal./computeMetadata/v1/",
    "http://１６９.254.169.254/",
    "http://169。254。169。254/",
)
LINK_LOCAL = ("http://169.254.1.2/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://169.254.7/")
LOOPBACK = (
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:8080/",
    "http://api.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.1.2.3/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://①②⑦.0.0.1/",
)
PRIVATE = (
    "http://10.0.0.1/",
    "http://172.16.5.4/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fd12::1]/",
    "http://[fec0::1]/",
    "http://[2002:0a00:0001::1]/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[ff02::1]/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://[::1",
    "http:///",
)
PUBLIC = (
    "https://example.org/",
    "http://8.8.8.8/",
    "http://[2606:4700::1111]/",
    "https://a.b.example/",
    "http://0xg.org/",
)


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        *((url, Reach.METADATA) for url in METADATA),
        *((url, Reach.LINK_LOCAL) for url in LINK_LOCAL),
        *((url, Reach.LOOPBACK) for url in LOOPBACK),
        *((url, Reach.PRIVATE) for url in PRIVATE),
        *((url, Reach.PUBLIC) for url in PUBLIC),
    ],
)
def test_an_address_is_recognized_in_every_spelling(url: str, reach: Reach) -> None:
    assert reach_of_url(url) is reach


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.1", "127.0.0.1"), ("0xA9FEA9FE", "169.254.169.254"), ("010.0.0.1", "8.0.0.1"), ("[::1]", "::1")],
)
def test_a_number_is_read_as_resolvers_read_it(text: str, address: str) -> None:
    assert literal_address(text) == ip_address(address)


@pytest.mark.parametrize("text", ["example.org", "1.2.3.4.5", "256.0.0.1", "08.0.0.1", "", "a:b", "1..2"])
def test_a_name_is_not_read_as_a_number(text: str) -> None:
    assert literal_address(text) is None


@given(
    st.from_regex(
        r"(0x[0-9a-fA-F]{0,9}|0?[0-9]{1,11})(\.(0x[0-9a-fA-F]{0,4}|0?[0-9]{1,9})){0,4}\.?", fullmatch=True
    )
)
def test_numbers_are_read_as_this_system_reads_them(text: str) -> None:
    try:
        expected = IPv4Address(socket.inet_aton(text))
    except OSError:
        return
    assert literal_address(text) == expected


@given(st.ip_addresses(v=4))
def test_an_address_keeps_its_reach_in_every_ipv6_form(address: IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::", "64:ff9b:1::"):
        dressed = IPv6Address(int(IPv6Address(prefix)) | int(address))
        assert _ORDER.index(reach_of_address(dressed)) >= _ORDER.index(reach_of_address(address))


def test_a_name_counts_as_public() -> None:
    assert reach_of_host("intranet.example") is Reach.PUBLIC


ALLOWED = (
    ("https://good.com/*", "https://good.com/a?b=c"),
    ("https://good.com", "https://good.com/a"),
    ("https://good.com*", "https://good.com/a"),
    ("good.com", "http://good.com/"),
    ("https://*.good.com/*", "https://docs.good.com/"),
    ("https://*", "https://anything.example:8443/x"),
    ("http://localhost:*/*", "http://localhost:3000/x"),
    ("http://localhost:3000*", "http://localhost:3000/x"),
    ("http://[::1]:8080/*", "http://[::1]:8080/x"),
    ("https://good.com/docs/*", "https://good.com/docs/a"),
)
NOT_ALLOWED = (
    ("https://good.com*", "https://good.com.evil.io/"),
    ("https://good.com*", "https://good.community/"),
    ("https://good.com", "https://good.com.evil.io/"),
    ("https://good.com/*", "https://good.com@evil.io/"),
    ("https://good.com*", "https://good.com@evil.io/"),
    ("https://good.com/*", "https://evil.io/https://good.com/"),
    ("https://*good.com/*", "https://evilgood.com/"),
    ("https://*.good.com/*", "https://evil.io/x.good.com/"),
    ("https://*.good.com/*", "https://evil.io?x=.good.com/"),
    ("https://good.com/*", "http://good.com/"),
    ("https://good.com/*", "https://good.com:8443/"),
    ("https://good.com/docs/*", "https://good.com/admin"),
    ("https://go*.com/*", "https://goevil.io/.com/"),
    ("http://127.0.0.*", "http://127.0.0.evil.io/"),
)


@pytest.mark.parametrize(("pattern", "url"), ALLOWED)
def test_a_rule_that_allows_covers_what_its_host_names(pattern: str, url: str) -> None:
    assert address_matches(pattern, url, strictly=True)


@pytest.mark.parametrize(("pattern", "url"), NOT_ALLOWED)
def test_a_rule_that_allows_never_covers_a_look_alike(pattern: str, url: str) -> None:
    assert not address_matches(pattern, url, strictly=True)


def test_a_rule_that_denies_matches_as_text_too() -> None:
    assert address_matches("*tracker*", "https://x.example/tracker.js", strictly=False)
    assert address_matches("https://evil.io", "https://evil.io/x", strictly=False)
