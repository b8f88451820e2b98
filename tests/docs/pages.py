"""Read our Markdown pages: their code blocks, their prose and what they quote in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md")
_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_STARTS = re.compile(r"^(\s*)([-*+] |\d+\. |> |#+ |\|)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the page, its line, its language and its text without indentation."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def paths() -> list[Path]:
    return [ROOT / name for name in NAMES] + sorted((ROOT / "docs").rglob("*.md"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(*languages: str) -> list[Block]:
    found = []
    for path in paths():
        text = path.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            if match[2] in languages:
                body = "\n".join(line.removeprefix(match[1]) for line in match[3].splitlines())
                found.append(Block(name_of(path), text.count("\n", 0, match.start()) + 2, match[2], body))
    return found


def prose(path: Path) -> str:
    """The page without code blocks and comments, with every line where it was."""
    text = path.read_text(encoding="utf-8")
    for pattern in (_FENCE, _COMMENT):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    return text


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Each paragraph, list item and table cell as one line of text, with the number of its first line."""
    began, words = 0, list[str]()
    for number, line in enumerate([*prose(path).splitlines(), ""], 1):
        start = _STARTS.match(line)
        if words and (start or not line.strip()):
            yield began, " ".join(words)
            words = []
        if not line.strip() or (start and start[2].startswith("#")):
            continue
        if start and start[2] == "|":
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line) if cell.strip(" -"))
            continue
        began = began if words else number
        words.append(line[start.end() :] if start else line.strip())


def quoted(path: Path, *, columns_after: bool = False) -> Iterator[tuple[int, str]]:
    """Find what is between single backticks, with its line; `columns_after` skips the first of a table."""
    for number, line in enumerate(prose(path).splitlines(), 1):
        line = line.split("|", 2)[-1] if columns_after else line
        yield from ((number, span) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line))
