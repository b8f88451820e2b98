"""Which language a file is in, by its name or its first line, and what the protocol calls that."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Language:
    """`key` is what servers are found by, `id` the protocol's own word."""

    key: str
    id: str


_SHELL, _PYTHON = Language("sh", "shellscript"), Language("py", "python")
_TYPESCRIPT, _JAVASCRIPT = Language("ts", "typescript"), Language("ts", "javascript")
_YAML, _C, _CPP = Language("yaml", "yaml"), Language("c", "c"), Language("c", "cpp")

BY_SUFFIX: Mapping[str, Language] = {
    **dict.fromkeys((".sh", ".bash", ".ksh"), _SHELL),
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    **dict.fromkeys((".js", ".mjs", ".cjs"), _JAVASCRIPT),
    ".tsx": Language("ts", "typescriptreact"),
    ".jsx": Language("ts", "javascriptreact"),
    ".go": Language("go", "go"),
    ".rs": Language("rust", "rust"),
    **dict.fromkeys((".c", ".h"), _C),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"), _CPP),
    **dict.fromkeys((".yaml", ".yml"), _YAML),
    ".json": Language("json", "json"),
    ".jsonc": Language("json", "jsonc"),
}
_BY_PROGRAM = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "ksh"), _SHELL),
    **dict.fromkeys(("python", "pypy"), _PYTHON),
    **dict.fromkeys(("node", "nodejs"), _JAVASCRIPT),
    **dict.fromkeys(("ts-node", "tsx"), _TYPESCRIPT),
}
_LONGEST_FIRST_LINE = 200
_VERSION = re.compile(r"[\d.]+$")


def language_of(path: PurePath, text: str, more: Mapping[str, Language]) -> Language | None:
    """`more` are suffixes of the person's own settings, which come first."""
    suffix = path.suffix.lower()
    if found := more.get(suffix) or BY_SUFFIX.get(suffix):
        return found
    return _by_first_line(text[:_LONGEST_FIRST_LINE]) if not suffix else None


def _by_first_line(text: str) -> Language | None:
    if not text.startswith("#!"):
        return None
    words = text[2:].partition("\n")[0].split()
    if words and PurePath(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return None
    return _BY_PROGRAM.get(_VERSION.sub("", PurePath(words[0]).name))
