"""Find letters and symbols that look like others: with a Cyrillic letter in it, `curl` is another command."""

import re
import unicodedata
from dataclasses import dataclass

MOST = 8
LONGEST = 131_072
"""Only this many characters are checked. No shell accepts a longer command either."""
# As code points: the characters themselves would look the same here.
# A plain character and those that look like it in each word.
_LOOKALIKES = (
    "\"\u201c\u201d\u2033 '\u02bc\u2018\u2019\u2032 *\u2217 "
    "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58 .\ua4f8\u2024 /\u2215\u2044\u29f8\u2571 "
    ":\ua4fd\u2236 ;\u037e\u204f <\u2039 >\u203a A\u0410\u0391 B\u0412\u0392 C\u0421 E\u0415\u0395 "
    "G\u050c H\u041d\u0397 I\u0406\u0399 J\u0408 K\u041a\u039a L\u053c M\u041c\u039c N\u039d "
    "O\u041e\u039f\u0555 P\u0420\u03a1 Q\u051a S\u0405\u054f T\u0422\u03a4 W\u051c X\u0425\u03a7 "
    "Y\u0423\u03a5 Z\u0396 a\u0430\u03b1\u0251 c\u0441\u03f2 d\u0501 e\u0435 g\u0581\u0261 "
    "h\u04bb\u0570 i\u0456\u03b9\u0131 j\u0458\u03f3 k\u03ba l\u2113\u01c0 n\u0578 o\u043e\u03bf\u0585 "
    "p\u0440\u03c1 q\u051b\u0566 s\u0455 u\u03c5\u057d v\u03bd w\u051d x\u0445 y\u0443 "
    "|\u2223\u2502\u2758\u23d0 ~\u223c\u02dc"
)
_LIKENESS = {other: word[0] for word in (*_LOOKALIKES.split(), " \u2800\u3164") for other in word[1:]}
_WORD = re.compile(r"[^\W\d_][\w.\-]{0,200}")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Confusable:
    """A word or symbol, what it looks like, and the name of the deceptive character."""

    text: str
    resembles: str
    reason: str


def confusables(text: str) -> tuple[Confusable, ...]:
    """Return up to `MOST` words and symbols of a command that look like others. Words of one script are fine.

    Only the first `LONGEST` characters are checked.
    """
    if text.isascii():
        return ()
    found: dict[str, Confusable] = {}
    for word in dict.fromkeys(_WORD.findall(text, 0, LONGEST)):
        if len(found) < MOST and (mixed := _mixed(word)) is not None:
            found[word] = mixed
    for char in dict.fromkeys(_FOREIGN.findall(text, 0, LONGEST)):
        if len(found) < MOST and (sign := _sign(char)) is not None:
            found[char] = sign
    return tuple(found.values())


def _mixed(word: str) -> Confusable | None:
    """Return a word that mixes Latin letters with others, or whose letters all look Latin."""
    seeming = "".join(map(_resembles, word))
    if word.isascii() or seeming == word:
        return None
    letters = _LETTER.findall(word)
    has_latin = any(letter.isascii() for letter in letters)
    if not has_latin and not seeming.isascii():
        return None
    foreign = next(char for char in word if _resembles(char) != char)
    return Confusable(word, seeming, _reason(foreign))


def _sign(char: str) -> Confusable | None:
    likeness = _resembles(char)
    if likeness == char or not likeness.isascii() or likeness.isalnum():
        return None
    return Confusable(char, likeness, _reason(char))


def _resembles(char: str) -> str:
    if char in _LIKENESS:
        return _LIKENESS[char]
    if unicodedata.category(char) == "Zs":
        return " "
    # Full-width, mathematical and other styled forms of ASCII characters. A superscript is visibly one.
    plain = unicodedata.normalize("NFKC", char)
    is_styled = len(plain) == 1 and plain.isascii() and unicodedata.category(char) != "No"
    return plain if is_styled else char


def _reason(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'unnamed character').lower()}"
