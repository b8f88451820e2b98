"""Reads a file's symbols and references with its grammar, in the child process alone."""

import importlib
import re
from functools import lru_cache
from importlib.resources import files

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from coder_tui.workspace.outline.indentation import count_references, read_indentation
from coder_tui.workspace.outline.languages import Grammar, grammar_for
from coder_tui.workspace.outline.symbols import FileSymbols, Symbol, tidy

MOST_SYMBOLS = 5_000
_CALLABLE = re.compile("function|method|constructor|declarator")
_NAME = re.compile(r"[A-Za-z_$~][\w$]*(?=\W*$)")


def parse(path: str, data: bytes) -> FileSymbols:
    """Read `data` as the language that `path` is of; by indentation where no grammar is there."""
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
        # Several patterns may fit one definition: the one that knows where its body begins says more.
        if known is None or (found.has_body and not known.has_body):
            symbols[found.start, found.name] = found
    references = count_references(_loud(data, quiet)) if grammar.is_code else ()
    return FileSymbols(_nested(list(symbols.values())[:MOST_SYMBOLS], data), references)


@lru_cache(maxsize=32)
def load_grammar(grammar: Grammar) -> tuple[Parser, Query] | None:
    """The parser and the query; None where this Python has no build of the grammar."""
    try:
        # Grammars are megabytes of tables: each is loaded when the first file of its language comes.
        module = importlib.import_module(grammar.module)
    except ModuleNotFoundError:
        return None
    language = Language(getattr(module, grammar.entry)())
    source = files("coder_tui.workspace.outline").joinpath("queries", grammar.query).read_text("utf-8")
    return Parser(language), Query(language, source)


class _Found:
    """A definition as the query saw it."""

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
    """Order by place; what lies within another is one level deeper. Within a function names are its own."""
    symbols: list[Symbol] = []
    around: list[_Found] = []
    line, at = 1, 0
    # One statement may define several names; it is shown once.
    distinct = {(item.start, item.end): item for item in reversed(found)}
    for item in sorted(distinct.values(), key=lambda item: (item.start, -item.end)):
        # Counted here: reading `start_point` of tree-sitter 0.26 damages the interpreter's memory.
        line, at = line + data.count(b"\n", at, item.start), item.start
        while around and around[-1].end < item.end:
            around.pop()
        name = "" if any(outer.is_callable for outer in around) else item.name
        symbols.append(Symbol(name, item.signature, line, len(around)))
        around.append(item)
    return tuple(symbols)


def _loud(data: bytes, quiet: list[Node]) -> str:
    """The text without comments and strings, whose words refer to nothing."""
    pieces: list[bytes] = []
    at = 0
    for node in sorted(quiet, key=lambda node: node.start_byte):
        if node.start_byte >= at:
            pieces.append(data[at : node.start_byte])
            at = node.end_byte
    pieces.append(data[at:])
    return b" ".join(pieces).decode("utf-8", "replace")
