"""Check a command line with a grammar: is it plain, do the words agree, which commands are nested in it?

Also finds characters that make a command look like a different one.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from coder_tui.policy.shell.notes import Redirect, Step, Word, named

# Characters that terminals and readers skip: controls, format marks, unusual spaces, unassigned codes.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me"})
# Fillers that draw nothing.
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
    """Return a sentence for each kind of hidden or disguised character. Empty for ordinary text."""
    doubts = []
    if hidden := _hidden(text):
        doubts.append(f"it contains invisible characters ({', '.join(hidden)})")
    if not text.isascii() and (mixed := _mixed_word(text)):
        doubts.append(f"{mixed!a} mixes similar letters of different alphabets")
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
        if any(_is_lookalike(char) for char in others) and (has_latin or any(map(_is_styled, others))):
            return word
    return ""


def _is_lookalike(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_LOOKALIKE_SCRIPTS)


def _is_styled(char: str) -> bool:
    """Return whether it is a styled Latin letter: `ｃｕｒｌ`, `𝐜𝐮𝐫𝐥`."""
    return unicodedata.normalize("NFKC", char).isascii()


_PLAIN_NODES = named(
    "program list pipeline command command_name word string string_content raw_string concatenation "
    "number redirected_statement file_redirect file_descriptor comment test_command"
)
_PLAIN_TOKENS = frozenset({"&&", "||", ";", "|", "&", "\n", '"', ">", ">>", "<", ">&", "[", "]", "$"})
_WORDS = frozenset({"word", "string", "raw_string", "concatenation", "number", "simple_expansion"})
_SENTENCES = {
    "command_substitution": "it runs a command inside another ($(…) or backquotes)",
    "process_substitution": "it runs a command behind a file name (<(…) or >(…))",
    "simple_expansion": "$ expands to something that is known only when it runs",
    "expansion": "${…} expands to something that is known only when it runs",
    "arithmetic_expansion": "$((…)) is computed when it runs",
    "variable_assignment": "it sets a variable, which can change what programs do",
    "variable_assignments": "it sets a variable, which can change what programs do",
    "declaration_command": "it sets a variable, which can change what programs do",
    "unset_command": "it unsets a variable, which can change what programs do",
    "function_definition": "it defines a function, which may replace a program",
    "heredoc_redirect": "a here-document contains its own text",
    "herestring_redirect": "a here-string contains its own text",
    "ansi_c_string": "$'…' is read differently by different shells",
    "translated_string": '$"…" is read differently by different shells',
    "brace_expression": "braces become several words in some shells",
    "subshell": "parentheses open another shell",
    "compound_statement": "braces group commands",
    "negated_command": "! inverts the result",
    "if_statement": "it branches",
    "while_statement": "it loops",
    "for_statement": "it loops",
    "c_style_for_statement": "it loops",
    "case_statement": "it branches",
    "ERROR": "it cannot be read with certainty",
}
_MORE = "it is more than plain commands"
_COMMANDS = (
    "(command) @command (declaration_command) @command (unset_command) @command (file_redirect) @redirect"
)


@lru_cache(maxsize=1)
def _language() -> Language:
    return Language(tree_sitter_bash.language())


@lru_cache(maxsize=1)
def _command_query() -> Query:
    return Query(_language(), _COMMANDS)


def parse(source: bytes) -> Tree:
    return Parser(_language()).parse(source)


def doubts_about(tree: Tree, steps: tuple[Step, ...], text: str) -> tuple[str, ...]:
    """Return why the line is not plain. `steps` is the result of the other reader."""
    doubts: dict[str, None] = {}
    spans: set[tuple[int, int]] = set()
    opaque: list[tuple[int, int]] = []
    for node in _plain_walk(tree.root_node):
        if node.type == "test_command":
            opaque.append((node.start_byte, node.end_byte))
        elif node.type in _WORDS:
            spans.add((node.start_byte, node.end_byte))
        if sentence := _doubt_about(node):
            doubts[sentence] = None
    if not doubts and spans != _spans(steps, text, opaque):
        doubts["it can be read in two ways"] = None
    return _clearest(doubts)


def structure_doubts(tree: Tree) -> tuple[str, ...]:
    """Return a sentence for everything that is not plain in a line that the other reader rejected."""
    found = {sentence: None for node in _walk(tree.root_node) if (sentence := _doubt_about(node))}
    return _clearest(found)


def _doubt_about(node: Node) -> str:
    if node.is_missing or node.is_error:
        return _SENTENCES["ERROR"]
    if node.type == "simple_expansion" and node.text == b"$?":
        return ""
    if node.type == "test_command":
        return "" if node.children and node.children[0].type == "[" else "shells differ on [[ ]]"
    allowed = _PLAIN_NODES if node.is_named else _PLAIN_TOKENS
    if node.type in allowed:
        return ""
    return _SENTENCES.get(node.type, f"{_MORE} ({node.type.replace('_', ' ')})")


def _clearest(doubts: dict[str, None]) -> tuple[str, ...]:
    """Keep the grammar's own names only if we have no sentence for them."""
    return tuple(doubt for doubt in doubts if not doubt.startswith(_MORE)) or tuple(doubts)


def _plain_walk(root: Node) -> Iterator[Node]:
    """Yield every node except inside words and tests, which the other reader parses."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.type == "test_command" or node.text == b"$?":
            continue
        children = node.children
        if node.type in _WORDS:
            children = [child for child in children if child.type not in _PLAIN_NODES | _PLAIN_TOKENS]
        stack.extend(children)


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


def _spans(steps: tuple[Step, ...], text: str, opaque: list[tuple[int, int]]) -> set[tuple[int, int]]:
    spans = set()
    offsets = (
        None if text.isascii() else [0, *accumulate(len(char.encode(errors="replace")) for char in text)]
    )
    for step in steps:
        words = (*step.words, *(redirect.target for redirect in step.redirects))
        for word in words:
            start, end = word.start, word.end
            if offsets is not None:
                start, end = offsets[start], offsets[end]
            if not any(first <= start and end <= last for first, last in opaque):
                spans.add((start, end))
    return spans


def loose_steps(tree: Tree, source: bytes, most: int) -> tuple[tuple[Step, ...], frozenset[str]]:
    """Return every command in the tree, at any depth, as well as it can be read, and the texts past `most`.

    Equal commands count once, so that a line with thousands stays fast.
    """
    captures = QueryCursor(_command_query()).captures(tree.root_node)
    seen: set[bytes] = set()
    steps: list[Step] = []
    rest: set[str] = set()
    for node in _in_order(captures.get("command", ())):
        raw = source[node.start_byte : node.end_byte]
        if raw in seen:
            continue
        seen.add(raw)
        if len(steps) < most:
            steps.append(Step(_loose_words(node, source), before=";", after=";"))
        else:
            rest.add(raw.decode(errors="replace"))
    for node in _in_order(captures.get("redirect", ()))[:most]:
        if (redirect := _loose_redirect(node, source)) is not None:
            steps.append(Step((), (redirect,), ";", ";"))
    return tuple(steps), frozenset(rest)


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    """Sort nodes by their place: tree-sitter has no fixed order, and `cd` affects what follows."""
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


def _loose_words(node: Node, source: bytes) -> tuple[Word, ...]:
    skipped = {"file_redirect", "heredoc_redirect", "herestring_redirect", "variable_assignment", "comment"}
    return tuple(_loose_word(child, source) for child in node.children if child.type not in skipped)


_QUOTING = re.compile(r"\\\n|'([^']*)'|\\(.)|\"", re.DOTALL)
_CHANGES = re.compile(r"[$`~*?\[{]|<\(|>\(")


def _loose_word(node: Node, source: bytes) -> Word:
    raw = source[node.start_byte : node.end_byte].decode(errors="replace")
    text = _QUOTING.sub(lambda found: found[1] or found[2] or "", raw)
    is_plain = node.type == "raw_string" or not _CHANGES.search(raw)
    return Word(text, doubt="" if is_plain else "it expands when it runs", is_bare=raw == text)


def _loose_redirect(node: Node, source: bytes) -> Redirect | None:
    operator = next((child.type for child in node.children if not child.is_named), "")
    target = next((child for child in reversed(node.children) if child.is_named), None)
    if target is None or target.type == "file_descriptor":
        return None
    return Redirect(operator, _loose_word(target, source))
