"""File names as diffs write them: quoted, dated, and with a letter in front."""

import re

_PAIRS = {("a/", "b/"), ("b/", "a/"), ("i/", "w/"), ("w/", "i/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/")}
_SIDES = ({"a/", "i/", "c/", "o/"}, {"b/", "w/"})
NOTHING = "/dev/null"
_DATE = re.compile(r"(\t.*|\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*)$")
_TWO_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*")')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def without_date(name: str) -> str:
    """Return the name alone, its quotes taken off."""
    name = name.strip()
    if name.startswith('"') and (end := name.rfind('"')) > 0:
        return _unquoted(name[1:end])
    return _DATE.sub("", name).strip()


def git_names(text: str) -> tuple[str, str] | None:
    """The two names of a `diff --git` line; those with blanks are told apart by being the same."""
    if quoted := _TWO_QUOTED.fullmatch(text.strip()):
        return without_date(quoted[1]), without_date(quoted[2])
    old, new = text[: len(text) // 2], text[len(text) // 2 + 1 :]
    if strip_prefixes(old, new)[0] == strip_prefixes(old, new)[1]:
        return old, new
    names = text.split()
    return (names[0], names[1]) if len(names) == 2 else None


def strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Take off a/ and b/ and their like, where both sides have them or the other side is no file."""
    pair = old[:2], new[:2]
    if pair in _PAIRS:
        return old[2:], new[2:]
    if old == NOTHING and pair[1] in _SIDES[1]:
        return old, new[2:]
    if new == NOTHING and pair[0] in _SIDES[0]:
        return old[2:], new
    return old, new


def _unquoted(name: str) -> str:
    data = _ESCAPE.sub(_character, name.encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _character(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED.get(code, code)
