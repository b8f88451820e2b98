"""Read a file's symbols and references with its grammar, only in the child process.

Languages without a grammar here are read by their indentation.
"""

import importlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

from tree_sitter import Language, Node, Parser, Query, QueryCursor


@dataclass(frozen=True, slots=True)
class Grammar:
    """`family` groups languages whose names refer to each other; data files have no names that code uses."""

    name: str
    module: str
    family: str
    entry: str = "language"
    is_code: bool = True
    depth: int | None = None
    """The default depth of an outline."""

    @property
    def query(self) -> str:
        return f"{self.name}.scm"


def _code(name: str, family: str = "", entry: str = "language", module: str = "") -> Grammar:
    return Grammar(name, module or f"tree_sitter_{name}", family or name, entry)


def _data(name: str, depth: int | None = 2, entry: str = "language") -> Grammar:
    return Grammar(name, f"tree_sitter_{name}", name, entry, is_code=False, depth=depth)


_TYPESCRIPT = _code("typescript", "javascript", "language_typescript")
_TSX = Grammar("typescript", "tree_sitter_typescript", "javascript", "language_tsx")
_BY_SUFFIX: dict[str, Grammar] = {
    **dict.fromkeys(("py", "pyi", "pyw"), _code("python")),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), _code("javascript")),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    "go": _code("go"),
    "rs": _code("rust"),
    "java": _code("java"),
    "c": _code("c"),
    # A header may be either; the grammar of C++ also reads C.
    **dict.fromkeys(("h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino"), _code("cpp", "c")),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh"), _code("bash")),
    "sql": _code("sql"),
    "css": _data("css", None),
    **dict.fromkeys(("html", "htm"), _data("html", None)),
    **dict.fromkeys(("json", "jsonc"), _data("json")),
    **dict.fromkeys(("yaml", "yml"), _data("yaml")),
    "toml": _data("toml"),
    **dict.fromkeys(("md", "markdown"), _data("markdown", None)),
    **dict.fromkeys(("xml", "xsd", "pom"), _data("xml", 2, "language_xml")),
}
_INDENTED = frozenset(
    {
        *(
            "cs",
            "clj",
            "dart",
            "elm",
            "erl",
            "ex",
            "exs",
            "fs",
            "groovy",
            "hs",
            "jl",
            "kt",
            "kts",
            "lua",
            "m",
        ),
        *("ml", "mm", "nim", "php", "pl", "pm", "proto", "ps1", "r", "rb", "scala", "svelte", "swift", "vue"),
        "zig",
    }
)
"""Code that is read only by its indentation."""

MAPPED_SUFFIXES = tuple(
    sorted(f".{suffix}" for suffix in {*_INDENTED, *(s for s, g in _BY_SUFFIX.items() if g.is_code)})
)
"""What belongs in a map of a project."""


def suffix_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name[1:] else ""


def grammar_for(path: str) -> Grammar | None:
    return _BY_SUFFIX.get(suffix_of(path))


def family_of(path: str) -> str:
    grammar = grammar_for(path)
    return grammar.family if grammar else suffix_of(path)


LONGEST_SIGNATURE = 160
_SPACE = re.compile(r"\s+")
_OPENING = re.compile(r"(?:\s|[{;:]|=>?)+$")


@dataclass(frozen=True, slots=True)
class Symbol:
    """`level` counts the enclosing symbols; lines count from 1; a name that others cannot use is empty."""

    name: str
    signature: str
    line: int
    level: int


@dataclass(frozen=True, slots=True)
class FileSymbols:
    symbols: tuple[Symbol, ...] = ()
    references: tuple[tuple[str, int], ...] = ()
    """The names that occur, with their counts."""


Wire = tuple[list[tuple[str, str, int, int]], list[tuple[str, int]]]
"""The form in which it is sent and cached: plain lists."""


def to_wire(file: FileSymbols) -> Wire:
    return [(s.name, s.signature, s.line, s.level) for s in file.symbols], list(file.references)


def from_wire(wire: Wire) -> FileSymbols:
    symbols, references = wire
    return FileSymbols(
        tuple(Symbol(*fields) for fields in symbols), tuple((name, count) for name, count in references)
    )


def tidy(signature: str) -> str:
    """Return one line without what only opens a body."""
    text = _OPENING.sub("", _SPACE.sub(" ", signature).strip())
    return text if len(text) <= LONGEST_SIGNATURE else text[:LONGEST_SIGNATURE] + " […]"


MOST_REFERENCES = 2_000
_WORD = re.compile(r"[A-Za-z_$][\w$]{2,}", re.ASCII)
_OPENS = re.compile(r"[A-Za-z_@#$<\[(\"']")
_CONTROL = re.compile(
    r"(?:if|else|elif|elsif|unless|for|foreach|while|until|do|switch|case|when|match|try|catch|rescue|except|"
    r"finally|ensure|with|return|begin|loop|end|then|default)\b"
)
_DEFINES = re.compile(
    r"\b(?:class|module|def|defp|defmodule|fn|fun|func|function|sub|interface|trait|struct|enum|object|type|"
    r"protocol|extension|record|message|service|package|namespace)\s+(?:self\.)?([A-Za-z_$][\w$]*)"
)


def read_indentation(text: str) -> FileSymbols:
    """Read the lines that open a block: those followed by a deeper line."""
    symbols: list[Symbol] = []
    around: list[int] = []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for (number, line), (_, following) in pairwise(lines):
        indent = _indent(line)
        while around and around[-1] >= indent:
            around.pop()
        if _indent(following) <= indent:
            continue
        words = line.strip()
        if _OPENS.match(words) and not _CONTROL.match(words):
            defined = _DEFINES.search(words)
            symbols.append(Symbol(defined[1] if defined else "", tidy(words), number, len(around)))
            around.append(indent)
    return FileSymbols(tuple(symbols), count_references(text))


def count_references(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(_WORD.findall(text)).most_common(MOST_REFERENCES))


def _indent(line: str) -> int:
    width = line.expandtabs(4)
    return len(width) - len(width.lstrip())


MOST_SYMBOLS = 5_000
_CALLABLE = re.compile("function|method|constructor|declarator")
_NAME = re.compile(r"[A-Za-z_$~][\w$]*(?=\W*$)")


def parse(path: str, data: bytes) -> FileSymbols:
    """Parse `data` in the language of `path`; by indentation if there is no grammar."""
    grammar = grammar_for(path)
    tools = load_grammar(grammar) if grammar else None
    if grammar is None or tools is None:
        return read_indentation(data.decode("utf-8", "replace"))
    parser, query = tools
    tree = parser.parse(data)
    symbols: dict[tuple[int, str], _Found] = {}
    quiet: list[Node] = []
    for _, captures in QueryCursor(query).matches(tree.root_node):
        quiet += captures.get("quiet", [])
        found = _found(captures, data)
        if found is None:
            continue
        known = symbols.get((found.start, found.name))
        # Several patterns may match one definition; the one that knows where its body begins says more.
        if known is None or (found.has_body and not known.has_body):
            symbols[found.start, found.name] = found
    references = count_references(_without_quiet(data, quiet)) if grammar.is_code else ()
    return FileSymbols(_nested(list(symbols.values())[:MOST_SYMBOLS], data), references)


@lru_cache(maxsize=32)
def load_grammar(grammar: Grammar) -> tuple[Parser, Query] | None:
    """Return the parser and the query; None if this Python has no build of the grammar."""
    try:
        # Grammars are megabytes of tables, so each is loaded with the first file of its language.
        module = importlib.import_module(grammar.module)
    except ModuleNotFoundError:
        return None
    language = Language(getattr(module, grammar.entry)())
    source = files("coder_tui.workspace.outline").joinpath("queries", grammar.query).read_text("utf-8")
    return Parser(language), Query(language, source)


class _Found:
    """A definition as the query found it."""

    __slots__ = ("end", "has_body", "is_callable", "name", "signature", "start")

    def __init__(self, node: Node, name: str, signature: str, *, has_body: bool) -> None:
        self.start, self.end = node.start_byte, node.end_byte
        self.is_callable = _CALLABLE.search(node.type) is not None
        self.name = name
        self.signature = signature
        self.has_body = has_body


def _found(captures: dict[str, list[Node]], data: bytes) -> _Found | None:
    key = next((key for key in captures if key.partition(".")[0] == "symbol"), None)
    if key is None:
        return None
    node = captures[key][0]
    head, body = captures.get("head"), captures.get("body")
    if head:
        text = _text(data, head[0].start_byte, head[0].end_byte)
    elif body:
        text = _text(data, node.start_byte, body[0].start_byte)
    else:
        text = _text(data, node.start_byte, node.end_byte).split("\n", 1)[0]
    prefix = key.partition(".")[2]
    signature = tidy(f"{prefix} {text}" if prefix else text)
    named = captures.get("name")
    name = _text(data, named[0].start_byte, named[0].end_byte) if named else ""
    last = _NAME.search(name)
    return _Found(node, last[0] if last else name, signature, has_body=bool(body))


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def _nested(found: list[_Found], data: bytes) -> tuple[Symbol, ...]:
    """Order by place; what is inside another symbol is one level deeper.

    Names inside a function are local.
    """
    symbols: list[Symbol] = []
    around: list[_Found] = []
    line, at = 1, 0
    # One statement may define several names; it is shown once.
    distinct = {(item.start, item.end): item for item in reversed(found)}
    for item in sorted(distinct.values(), key=lambda item: (item.start, -item.end)):
        # Counted here, because reading `start_point` of tree-sitter 0.26 corrupts the interpreter's memory.
        line, at = line + data.count(b"\n", at, item.start), item.start
        while around and around[-1].end < item.end:
            around.pop()
        name = "" if any(outer.is_callable for outer in around) else item.name
        symbols.append(Symbol(name, item.signature, line, len(around)))
        around.append(item)
    return tuple(symbols)


def _without_quiet(data: bytes, quiet: list[Node]) -> str:
    """Return the text without comments and strings, whose words refer to nothing."""
    pieces: list[bytes] = []
    at = 0
    for node in sorted(quiet, key=lambda node: node.start_byte):
        if node.start_byte >= at:
            pieces.append(data[at : node.start_byte])
            at = node.end_byte
    pieces.append(data[at:])
    return b" ".join(pieces).decode("utf-8", "replace")
