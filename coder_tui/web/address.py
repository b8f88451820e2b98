"""A web address, parsed once and strictly, so that every check sees the same host.

Host names in other alphabets are encoded for resolvers, and refused if they imitate Latin letters.
"""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from coder_tui.policy.addresses import literal_address, looks_numeric, plain_host
from coder_tui.protocol.errors import ErrorType, ToolError

_IMITATING = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU", "COPTIC"})
# Cyrillic, Greek and Armenian letters that are drawn as Latin ones.
_LOOK_LATIN = frozenset("аеорсухіїјѕԁһӏԛԝьгпτνοαικρυχорսоցհոս")
_ACE = "xn--"


def ascii_host(host: str) -> str:
    """Return the host as `xn--…`; ASCII is unchanged. Raise `ToolError` for a name that imitates another."""
    labels = [_readable(label) for label in unicodedata.normalize("NFKC", host).lower().split(".")]
    for label in labels:
        if not label.isascii() and _imitates(label):
            raise ToolError(
                ErrorType.INVALID_TOOL_PARAMS,
                f"invalid args: url: its host has letters that look like others: {_encoded(label)}",
                "Write the intended host in plain letters.",
            )
    return ".".join(_encoded(label) for label in labels)


def _readable(label: str) -> str:
    return _translated(label, decode=True) if label.startswith(_ACE) else label


def _encoded(label: str) -> str:
    return label if label.isascii() else _translated(label, decode=False)


def _translated(label: str, *, decode: bool) -> str:
    import idna  # only here: its tables load slowly, and few hosts need them

    try:
        return idna.decode(label) if decode else idna.encode(label, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _wrong("its host is not a valid name") from error


def _imitates(label: str) -> bool:
    """Return whether similar-looking alphabets are mixed, or all letters of another alphabet look Latin."""
    letters = [char for char in label if char.isalpha()]
    scripts = {unicodedata.name(char, "UNKNOWN").partition(" ")[0] for char in letters}
    if scripts & _IMITATING and len(scripts) > 1:
        return True
    return bool(letters) and bool(scripts & _IMITATING) and all(char in _LOOK_LATIN for char in letters)


_PORTS = {"http": 80, "https": 443}
_LONGEST = 8_000
_HIGHEST_PORT = 65_535
_FORBIDDEN = re.compile("[\x00-\x20\x7f-\x9f\\\\\ud800-\udfff]")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_LONGEST_HOST = 253
# Characters that stay as they are in a path or query; `%` too, so that escapes survive.
_PLAIN = "!#$%&'()*+,/:;=?@[]~"
_HERE = frozenset({".", "%2e"})
_UP = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


@dataclass(frozen=True, slots=True)
class WebAddress:
    """`host` is ASCII, lower case, without brackets; `target` is path and query, never a fragment."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.target

    @property
    def is_literal(self) -> bool:
        return literal_address(self.host) is not None

    def join(self, location: str) -> "WebAddress":
        """Return where a redirect from here leads."""
        if _FORBIDDEN.search(location.strip(" ")):
            raise _wrong("it redirects to an address with spaces, backslashes or control characters")
        return read_address(urljoin(self.url, location.strip(" ")))


def read_address(text: str) -> WebAddress:
    """Read a URL; `ToolError` says what is wrong with it, and never repeats a password."""
    if len(text) > _LONGEST:
        raise _wrong(f"it is longer than {_LONGEST} characters")
    if _FORBIDDEN.search(text):
        raise _wrong("it has spaces, backslashes or control characters", "Escape them, as in %20.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _wrong("it is not a URL: its host or port cannot be read") from error
    _check_scheme(parts, text)
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise _wrong("it must not have a user or password in it", "Give them in `auth`.")
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise _wrong("its port is out of range")
    host = _read_host(parts.hostname or "")
    return WebAddress(parts.scheme.lower(), host, port or _PORTS[parts.scheme.lower()], _target(parts))


def _check_scheme(parts: SplitResult, text: str) -> None:
    if parts.scheme in _PORTS and parts.netloc:
        return
    if "://" not in text and not parts.scheme:
        raise _wrong("it has no scheme", "Begin it with https://.")
    if parts.scheme not in _PORTS:
        message = f"Only http and https addresses are fetched, not {parts.scheme or 'this'}."
        raise ToolError(ErrorType.PERMISSION_DENIED, message, "Read files with read.")
    raise _wrong("it has no host")


def _read_host(text: str) -> str:
    address = literal_address(text)
    if address is not None:
        return str(address)
    host = plain_host(ascii_host(text))
    if len(host) > _LONGEST_HOST or looks_numeric(host) or not _HOST.fullmatch(host):
        raise _wrong("its host is neither a name nor an address")
    return host


def _target(parts: SplitResult) -> str:
    """Return path and query with `.` and `..` resolved, so that a rule for a folder cannot be bypassed."""
    path = _resolve(parts.path or "/")
    query = f"?{parts.query}" if parts.query else ""
    return quote(path + query, safe=_PLAIN).replace("#", "%23")


def _resolve(path: str) -> str:
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step.lower() in _UP:
            del kept[-1:]
        elif step.lower() not in _HERE:
            kept.append(step)
    if steps[-1].lower() in _HERE | _UP:
        kept.append("")
    return "/" + "/".join(kept)


def _wrong(reason: str, hint: str = "") -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: url: {reason}", hint)
