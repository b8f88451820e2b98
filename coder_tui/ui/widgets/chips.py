"""Long pastes and pictures as a few words in the prompt; what they stand for is kept beside it."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_CHARACTERS = 800
MOST_LINES = 3
_LONGEST_PATH = 1_000
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_UNITS = ((1_000_000, "MB"), (1_000, "kB"))


class Chips:
    """Labels and what each stands for. A label stays known after it was sent: history may bring it back."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """A label for a long paste; the same paste has the same label."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self._add(f"pasted {size}" if len(text) < _UNITS[0][0] else f"pasted {_size(len(text))}", text)

    def add_picture(self, path: Path, words: str) -> str:
        """A label for a picture, which is named by its path when it is sent."""
        from coder_tui.text.mentions import mention  # the first paint has no pictures

        return self._add(f"image {path.name} {words}".strip(), mention(str(path)))

    def whole(self, text: str) -> str:
        """With each label replaced, once, by what it stands for; what that holds is left as it is."""
        if not self._texts:
            return text
        left = dict(self._texts)
        return self._pattern().sub(lambda match: left.pop(match[0], match[0]), text)

    def short(self, text: str) -> str:
        """The other way round, for a text that comes back unsent."""
        for label, kept in self._texts.items():
            text = text.replace(kept, label, 1)
        return text

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where labels stand in a line."""
        return [match.span() for match in self._pattern().finditer(line)] if self._texts else []

    def text_of(self, label: str) -> str | None:
        return self._texts.get(label)

    def _add(self, words: str, text: str) -> str:
        label, number = f"[{words}]", 1
        while self._texts.get(label, text) != text:
            number += 1
            label = f"[{words} #{number}]"
        self._texts[label] = text
        return label

    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._texts)))


def is_long(text: str) -> bool:
    """Whether a paste would fill the prompt."""
    return len(text) > MOST_CHARACTERS or text.count("\n") > MOST_LINES - (not text.endswith("\n"))


def pasted_picture(text: str) -> Path | None:
    """The picture that a pasted or dropped text names, if there is such a file."""
    text = text.strip()
    if len(text) > _LONGEST_PATH or "\n" in text or not text.strip("'\"").lower().endswith(_PICTURES):
        return None
    path = Path(_unquoted(text)).expanduser()
    try:
        return path if path.is_absolute() and path.is_file() else None
    except (OSError, ValueError):
        return None


def picture_words(path: Path) -> str:
    """`640×480, 34 kB`, as far as it can be told."""
    # Not needed before a picture is pasted.
    from coder_tui.workspace.images import HEAD, look_at

    try:
        with path.open("rb") as file:
            picture, size = look_at(file.read(HEAD)), path.stat().st_size
    except OSError:
        return ""
    return ", ".join(filter(None, (picture.size if picture else "", _size(size))))


def _unquoted(text: str) -> str:
    """As terminals write a file that was dropped on them: an address, in quotes, with backslashes."""
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    from shlex import split  # nothing is dropped before the first paint

    try:
        words = split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"
