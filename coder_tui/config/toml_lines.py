"""Finds the line of each key in a TOML text, which the standard parser does not tell."""

from bisect import bisect_left

KeyPath = tuple[str | int, ...]

_SIMPLE_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_UNICODE_ESCAPES = {"u": 4, "U": 8}


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Map each key path (list places are numbers) to its line; `text` must have parsed."""
    return _Scanner(text).scan()


class _Scanner:
    """Walks a text that is known to be valid, so it looks only for where things begin and end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [index for index, character in enumerate(text) if character == "\n"]
        self._lines: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._here() == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip_blank()
        return self._lines

    def _header(self) -> KeyPath:
        start = self._at
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        table: KeyPath = ()
        names = self._key("]")
        for name in names[:-1]:
            table = self._entered((*table, name), start)
        table = (*table, names[-1])
        if is_list:
            self._counts[table] = self._counts.get(table, -1) + 1
        self._at += 2 if is_list else 1
        return self._entered(table, start)

    def _entered(self, table: KeyPath, start: int) -> KeyPath:
        """Note a table; a list of tables stands for its last member."""
        self._note(table, start)
        if table in self._counts:
            table = (*table, self._counts[table])
            self._note(table, start)
        return table

    def _pair(self, table: KeyPath) -> None:
        start = self._at
        path = table
        for name in self._key("="):
            path = (*path, name)
            self._note(path, start)
        self._at += 1
        self._skip_space()
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        match self._here():
            case '"' | "'":
                self._string()
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case _:
                self._skip_until(",]}\n#")

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        self._skip_blank()
        place = 0
        while self._here() != "]":
            if self._here() == ",":
                self._at += 1
                place += 1
            else:
                self._note((*path, place), self._at)
                self._value((*path, place))
            self._skip_blank()
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        self._skip_blank()
        while self._here() != "}":
            if self._here() == ",":
                self._at += 1
            else:
                self._pair(path)
            self._skip_blank()
        self._at += 1

    def _key(self, end: str) -> list[str]:
        names: list[str] = []
        self._skip_space()
        while self._here() != end:
            if self._here() == ".":
                self._at += 1
            elif self._here() in "\"'":
                names.append(self._string())
            else:
                start = self._at
                self._skip_until(f" \t.{end}")
                names.append(self._text[start : self._at])
            self._skip_space()
        return names

    def _string(self) -> str:
        quote = self._here()
        mark = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(mark)
        parts: list[str] = []
        while not self._text.startswith(mark, self._at):
            parts.append(self._escape() if quote == '"' and self._here() == "\\" else self._here())
            self._at += 1
        self._at += len(mark)
        # Up to two quotes may stand right before the three that end a long string.
        while len(mark) == 3 and self._here() == quote:
            self._at += 1
        return "".join(parts)

    def _escape(self) -> str:
        self._at += 1
        letter = self._here()
        width = _UNICODE_ESCAPES.get(letter, 0)
        if not width:
            return _SIMPLE_ESCAPES.get(letter, "")
        digits = self._text[self._at + 1 : self._at + 1 + width]
        self._at += width
        return chr(int(digits, 16))

    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _note(self, path: KeyPath, at: int) -> None:
        self._lines.setdefault(path, bisect_left(self._breaks, at) + 1)

    def _skip_space(self) -> None:
        while self._here() in {" ", "\t"}:
            self._at += 1

    def _skip_blank(self) -> None:
        while self._here() in {" ", "\t", "\r", "\n", "#"}:
            if self._here() == "#":
                self._skip_until("\n")
            else:
                self._at += 1

    def _skip_until(self, ends: str) -> None:
        while self._at < len(self._text) and self._text[self._at] not in ends:
            self._at += 1
