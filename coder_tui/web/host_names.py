"""Host names in other alphabets: made into what resolvers take, refused where they imitate Latin letters."""

import unicodedata

from coder_tui.protocol.errors import ErrorType, ToolError

_IMITATING = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU", "COPTIC"})
# Cyrillic, Greek and Armenian letters that are drawn as Latin ones.
_LOOK_LATIN = frozenset("аеорсухіїјѕԁһӏԛԝьгпτνοαικρυχорսоցհոս")
_ACE = "xn--"


def ascii_host(host: str) -> str:
    """The host as `xn--…`; ASCII stays as it is. `ToolError` for a name that passes for another."""
    labels = [_readable(label) for label in unicodedata.normalize("NFKC", host).lower().split(".")]
    for label in labels:
        if not label.isascii() and _imitates(label):
            raise ToolError(
                ErrorType.INVALID_TOOL_PARAMS,
                f"invalid args: url: its host has letters that look like others: {_encoded(label)}",
                "Write the host that is meant in plain letters.",
            )
    return ".".join(_encoded(label) for label in labels)


def _readable(label: str) -> str:
    return _translated(label, decode=True) if label.startswith(_ACE) else label


def _encoded(label: str) -> str:
    return label if label.isascii() else _translated(label, decode=False)


def _translated(label: str, *, decode: bool) -> str:
    import idna  # only here: its tables take a while to load, and few hosts need them

    try:
        return idna.decode(label) if decode else idna.encode(label, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _no_name() from error


def _no_name() -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, "invalid args: url: its host is not a valid name")


def _imitates(label: str) -> bool:
    """Whether alphabets are mixed that look alike, or all letters of another alphabet look Latin."""
    letters = [char for char in label if char.isalpha()]
    scripts = {unicodedata.name(char, "UNKNOWN").partition(" ")[0] for char in letters}
    if scripts & _IMITATING and len(scripts) > 1:
        return True
    return bool(letters) and bool(scripts & _IMITATING) and all(char in _LOOK_LATIN for char in letters)
