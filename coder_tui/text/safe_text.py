"""The one gate for untrusted text on its way to a terminal: what could steer it becomes visible instead."""

import re

# Replaced character by character, so a sequence that is split over two chunks is caught all the same.
_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f"  # C0 but tab and newline
    "\x80-\x9f"  # C1: some terminals read 0x9b as ESC [
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi, separators
    "\ud800-\udfff"  # lone surrogates cannot be encoded
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags: invisible letters
    "]"
)
_PICTURES = 0x2400
_DELETE = 0x7F


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "\u2421"
    return f"<U+{code:04X}>"


def safe_text(text: str) -> str:
    """Show controls, bidi marks and invisible characters instead of obeying them; keeps \\n and \\t."""
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    """As `safe_text`, for a place that has one row only."""
    return safe_text(text).replace("\n", "␤").replace("\t", " ")


def has_unsafe(text: str) -> bool:
    """Whether `safe_text` would show something in place of a character."""
    return _UNSAFE.search(text.replace("\r\n", "\n")) is not None
