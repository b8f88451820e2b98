"""The gate for untrusted text on its way to a terminal: characters that could control it become visible.

These are control characters, direction marks, and characters that terminals draw as nothing. Spaces of other
widths, private-use characters and combining marks draw something and stay.
"""

import re
from functools import cache

# Replaced one by one, so that a sequence that is split over two chunks is also caught.
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
# The last two variation selectors are part of many emoji. After a letter, a space or each other they only
# hide.
_MISPLACED = (
    r"(?<=[\x00-\x22\x24-\x29\x2b-\x2f\x3a-\xa8\xaa-\xad\xaf-\u1fff\u2000-\u200a\u3000-\ud7ff\ufe00-\ufe0f])"
    "[\ufe0e\ufe0f]"
)
_PICTURES = 0x2400
_DELETE = 0x7F
_FEW = 32


_ANYWHERE = f"[{_STEERING}{_INVISIBLE}]"
_SUSPECT = f"[{_STEERING}{_INVISIBLE}\ufe0e\ufe0f]"
"""Candidates: most text has none, and searching only for these is several times as fast."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Compiled on first use: it takes ten milliseconds, which the first paint does not need.
    return re.compile(pattern)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "\u2421"
    return f"<U+{code:04X}>"


def safe_text(text: str) -> str:
    """Replace controls, bidi marks and invisible characters by visible text. Keeps \\n and \\t."""
    text = text.replace("\r\n", "\n")
    return text if _is_harmless(text) else _shown(text)


def _shown(text: str) -> str:
    """Replace each kind of character everywhere at once: even megabytes of escapes have few kinds."""
    if "\ufe0e" in text or "\ufe0f" in text:
        text = _compiled(_MISPLACED).sub(_visible, text)  # first, because it depends on the character before
    place = 0
    for _ in range(_FEW):
        if (found := _compiled(_ANYWHERE).search(text, place)) is None:
            return text
        place = found.start()  # the text before it is done
        text = text.replace(found[0], _visible(found))
    return _compiled(_ANYWHERE).sub(_visible, text)


def safe_line(text: str) -> str:
    """Make text safe like `safe_text`, for a single row."""
    return safe_text(text).replace("\n", "␤").replace("\t", " ")


def has_unsafe(text: str) -> bool:
    """Return whether `safe_text` would replace a character."""
    text = text.replace("\r\n", "\n")
    return not _is_harmless(text) and _compiled(f"{_ANYWHERE}|{_MISPLACED}").search(text) is not None


def _is_harmless(text: str) -> bool:
    """Check quickly. True is always right; False may be wrong."""
    is_plain = text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable()
    return is_plain or not _compiled(_SUSPECT).search(text)
