"""Characters that make a command look like another one than it is."""

import re
import unicodedata

# What a terminal or an eye passes over: controls, format marks, odd blanks, unassigned codes.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"})
_PLAIN = frozenset("\n\t ")
# A mark on a letter that is written with one code elsewhere is ordinary; a filler that draws nothing is not.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")
_RUN = re.compile(r"\w+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LOOKALIKE_SCRIPTS = (
    "CYRILLIC",
    "GREEK",
    "ARMENIAN",
    "CHEROKEE",
    "COPTIC",
    "LISU",
    "FULLWIDTH",
    "MATHEMATICAL",
)


def odd_characters(text: str) -> tuple[str, ...]:
    """Sentences on what is hidden or dressed up in `text`; none for ordinary text."""
    doubts = []
    if hidden := _hidden(text):
        doubts.append(f"it holds characters that cannot be seen ({', '.join(hidden)})")
    if not text.isascii() and (mixed := _mixed_word(text)):
        doubts.append(f"{mixed!a} mixes letters that look alike from different alphabets")
    return tuple(doubts)


def _hidden(text: str) -> list[str]:
    found = dict.fromkeys(_CONTROLS.findall(text))
    for char in dict.fromkeys(_NOT_ASCII.findall(text)):
        if char in _BLANK_LETTERS or unicodedata.category(char) in _HIDDEN_CATEGORIES:
            found[char] = None
    return [f"U+{ord(char):04X}" for char in found][:5]


def _mixed_word(text: str) -> str:
    words: list[str] = _RUN.findall(text)
    for word in dict.fromkeys(words):
        if word.isascii():
            continue
        has_latin = any(char.isascii() and char.isalpha() for char in word)
        others = [char for char in word if not char.isascii()]
        if any(_is_lookalike(char) for char in others) and (has_latin or any(map(_is_dressed, others))):
            return word
    return ""


def _is_lookalike(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_LOOKALIKE_SCRIPTS)


def _is_dressed(char: str) -> bool:
    """Latin in another dress: `ｃｕｒｌ`, `𝐜𝐮𝐫𝐥`."""
    return unicodedata.normalize("NFKC", char).isascii()
