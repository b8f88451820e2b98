"""The secrets that this process holds, in the forms in which they could turn up in a text."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
_API_KEY = re.compile(r"API_?KEY$", re.IGNORECASE)
# A folder, a number or a word stands in many texts that hold no secret: GNOME_KEYRING_CONTROL=/run/user,
# MAX_TOKENS=4096, POSTGRES_PASSWORD=postgres.
_HARMLESS = re.compile(r"[~./].*|\d{1,12}|[A-Za-z]+|[a-z]+(?:[-_][a-z]+)*", re.DOTALL)
_SHORTEST = 6
_SHORTEST_API_KEY = 8
_LONGEST_WORD = 15
_SHORTEST_ENCODED = 12


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that hold secrets by their name, and do not look like something else."""
    return tuple(value for name, value in environment.items() if _is_secret(name, value.strip()))


def _is_secret(name: str, value: str) -> bool:
    if not _NAME.search(name):
        return False
    if _API_KEY.search(name):
        return len(value) >= _SHORTEST_API_KEY
    is_word = len(value) <= _LONGEST_WORD or value.startswith(("/", "~", "."))
    return len(value) >= _SHORTEST and not (is_word and _HARMLESS.fullmatch(value))


def forms_of(values: Iterable[str]) -> tuple[str, ...]:
    """Each value plain, quoted for an address or for JSON, in hexadecimal and in base64; longest first."""
    forms = {form for value in values for form in _forms(value.strip())}
    return tuple(sorted(forms, key=len, reverse=True))


def _forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogateescape")
    yield value
    yield quote(data, safe="")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    if len(data) >= _SHORTEST_ENCODED:
        yield data.hex()
        for shift in range(3):
            yield from _encoded(data, shift)


def _encoded(data: bytes, shift: int) -> Iterator[str]:
    """What base64 makes of it after `shift` other bytes: the part that those cannot change."""
    padded = b"\0" * shift + data
    start, end = -(-shift * 8 // 6), len(padded) * 8 // 6
    yield base64.b64encode(padded).decode()[start:end]
    yield base64.urlsafe_b64encode(padded).decode()[start:end]
