"""The one gate for untrusted text on its way to a terminal: what could steer it becomes visible instead.

Shown are controls, what changes the direction of reading, and what Unicode lets a terminal draw as nothing.
Spaces of other widths, private-use signs and combining marks draw something and stay.
"""

import re
from functools import cache

# Replaced character by character, so a sequence that is split over two chunks is caught all the same.
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f"  # C0 but tab and newline
    "\x80-\x9f"  # C1: some terminals read 0x9b as ESC [
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"  # format characters of Arabic and Syriac
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # bidi
    "\u2028\u2029"  # separators
    "\ud800-\udfff"  # lone surrogates cannot be encoded
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
)
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and variation selectors: invisible letters
)
# The last two variation selectors belong to many emoji; after a letter, a blank or each other they only hide.
_MISPLACED = (
    r"(?<=[\x00-\x22\x24-\x29\x2b-\x2f\x3a-\xa8\xaa-\xad\xaf-\u1fff\u2000-\u200a\u3000-\ud7ff\ufe00-\ufe0f])"
    "[\ufe0e\ufe0f]"
)
_PICTURES = 0x2400
_DELETE = 0x7F
_FEW = 32


@cache
def _unsafe() -> re.Pattern[str]:
    # Compiled when first asked for: ten milliseconds that the first paint does not need.
    return re.compile(f"[{_STEERING}{_INVISIBLE}]|{_MISPLACED}")


@cache
def _unsafe_anywhere() -> re.Pattern[str]:
    return re.compile(f"[{_STEERING}{_INVISIBLE}]")


@cache
def _misplaced() -> re.Pattern[str]:
    return re.compile(_MISPLACED)


@cache
def _suspect() -> re.Pattern[str]:
    """Most text holds none of these, and looking for them alone is several times as fast."""
    return re.compile(f"[{_STEERING}{_INVISIBLE}\ufe0e\ufe0f]")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "\u2421"
    return f"<U+{code:04X}>"


def safe_text(text: str) -> str:
    """Show controls, bidi marks and invisible characters instead of obeying them; keeps \\n and \\t."""
    text = text.replace("\r\n", "\n")
    return text if _is_harmless(text) else _shown(text)


def _shown(text: str) -> str:
    """Megabytes of escapes hold few different ones: each is replaced everywhere at once."""
    if "\ufe0e" in text or "\ufe0f" in text:
        text = _misplaced().sub(_visible, text)  # first, since it looks at what stands before
    place = 0
    for _ in range(_FEW):
        if (found := _unsafe_anywhere().search(text, place)) is None:
            return text
        place = found.start()  # what is left of it stays as it is
        text = text.replace(found[0], _visible(found))
    return _unsafe_anywhere().sub(_visible, text)


def safe_line(text: str) -> str:
    """As `safe_text`, for a place that has one row only."""
    return safe_text(text).replace("\n", "␤").replace("\t", " ")


def has_unsafe(text: str) -> bool:
    """Whether `safe_text` would show something in place of a character."""
    text = text.replace("\r\n", "\n")
    return not _is_harmless(text) and _unsafe().search(text) is not None


def _is_harmless(text: str) -> bool:
    """A quick look, right wherever it says yes."""
    is_plain = text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable()
    return is_plain or not _suspect().search(text)
