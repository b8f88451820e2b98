"""An address is read once and strictly: what is approved is what is fetched."""

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress, read_address


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTPS://Example.ORG", "https://example.org/"),
        ("https://example.org:443/a#part", "https://example.org/a"),
        ("http://example.org:8080?q=1", "http://example.org:8080/?q=1"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/docs/../admin", "https://example.org/admin"),
        ("https://example.org/docs/%2e%2E/admin", "https://example.org/admin"),
        ("https://example.org/../../a/./b/..", "https://example.org/a/"),
        ("https://example.org/ä?ü=ö", "https://example.org/%C3%A4?%C3%BC=%C3%B6"),
        ("https://example.org/a%20b", "https://example.org/a%20b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("http://0xA9FEA9FE/", "http://169.254.169.254/"),
        ("http://2852039166/", "http://169.254.169.254/"),
        ("http://127.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://localhost./", "http://localhost/"),
        ("https://example.org//a//b", "https://example.org//a//b"),
    ],
)
def test_one_address_has_one_form(text: str, url: str) -> None:
    assert read_address(text).url == url
    assert read_address(url).url == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org/a",
        "https://",
        "https:///path",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://@example.org/",
        "https://good.com@evil.io/",
        "https://good.com\\@evil.io/",
        "https://exa\0mple.org/",
        "https://example.org/a b",
        "https://example.org/\nHost: x",
        "https://example.org/\x85",
        "https://example.org/\udc80",
        "https://exa%00mple.org/",
        "https://exa%2fmple.org/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org:x/",
        "https://[::1/",
        "https://[fe80::1%25eth0]:x/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://a..b/",
        "https://аррӏе.com/",
        "https://xn--80ak6aa92e.com/",
        "https://gооgle.com/",
        "https://xn--zzzzzzzzz.com/",
        "https://" + "a" * 64 + ".org/",
        "https://example.org/" + "a" * 8_000,
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_address(text)
    assert caught.value.type is ErrorType.INVALID_TOOL_PARAMS
    assert caught.value.message.startswith("invalid args: url: ")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "text", ["file:///etc/passwd", "gopher://h/1", "ftp://h/", "javascript:alert(1)", "data:,x"]
)
def test_only_web_schemes_are_accepted(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_address(text)
    assert caught.value.type is ErrorType.PERMISSION_DENIED


def test_a_redirect_is_read_as_strictly() -> None:
    here = WebAddress("https", "example.org", 443, "/a/b")
    assert here.join("../c").url == "https://example.org/c"
    assert here.join("//other.example/x").url == "https://other.example/x"
    for location in ("file:///etc/passwd", "https://u:p@example.org/", "http://a\tb/", "https://h\\x/"):
        with pytest.raises(ToolError):
            here.join(location)
