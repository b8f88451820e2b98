"""How a rule's pattern matches a URL: host by host, so that a look-alike never passes for the real one."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

_PATTERN = re.compile(
    r"(?:(?P<scheme>[^:/]+)://)?(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<rest>.*)"
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def address_matches(pattern: str, url: str, *, strictly: bool) -> bool:
    """Whether `pattern` covers `url`. Strictly is for rules that allow; the others match as plain text, too.

    A host may begin with `*.`; a `*` right after a host means its paths, never a longer host.
    """
    if not strictly and _glob(pattern).fullmatch(url):
        return True
    wanted = _PATTERN.fullmatch(pattern)
    try:
        given = urlsplit(url)
        port = str(given.port or _DEFAULT_PORTS.get(given.scheme, ""))
    except ValueError:
        return False
    if wanted is None or not _glob(wanted["scheme"] or "*").fullmatch(given.scheme):
        return False
    host, rest = _split_star(wanted["host"].lower(), wanted["rest"])
    if not _host_matches(host, (given.hostname or "").lower()):
        return False
    if not _port_matches(wanted["port"], host, port, given.scheme):
        return False
    path = given.path + (f"?{given.query}" if given.query else "")
    return not rest or _glob(rest).fullmatch(path) is not None


def names_host(pattern: str, url: str) -> bool:
    """Whether `pattern` has the very host of `url` in it, and not a `*` that happens to cover it."""
    wanted = _PATTERN.fullmatch(pattern)
    try:
        given = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return wanted is not None and _split_star(wanted["host"].lower(), "")[0] == given.lower()


def _split_star(host: str, rest: str) -> tuple[str, str]:
    """`good.com*` is meant as everything on good.com; taken as text it would cover `good.com.evil.io`."""
    if host.endswith("*") and host != "*":
        return host.rstrip("*").removesuffix("."), "*"
    return host.strip("[]"), rest


def _host_matches(wanted: str, given: str) -> bool:
    if wanted == "*":
        return bool(given)
    if wanted.startswith("*."):
        return "*" not in wanted[2:] and given.endswith(wanted[1:])
    return wanted == given


def _port_matches(wanted: str | None, host: str, given: str, scheme: str) -> bool:
    if wanted is None:
        return host == "*" or given == _DEFAULT_PORTS.get(scheme)
    return wanted.rstrip("*") == given or wanted == "*"


@lru_cache(maxsize=512)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char, re.escape(char)) for char in pattern), re.DOTALL)
