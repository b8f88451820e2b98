"""Read plain command lines word by word, exactly as every POSIX shell does, and reject everything else.

The grammar behind `syntax.py` was made for editors and splits some words that a shell joins. So this second
reader reads the same text, and any difference between the two is a doubt.
"""

import re
from dataclasses import dataclass, field

from coder_tui.policy.shell.notes import Redirect, Step, StepBuilder, Word, named

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t]+)
  | (?P<joined>\\\n)
  | (?P<operator>&&|\|\||;;|\|&|&>>|&>|<<<|<<|<>|<&|>>|>&|>\||[;&|<>()\n])
  | (?P<single>'[^']*')
  | (?P<double>"(?:[^"\\$`]|\\[\s\S]|\$(?=["\ |/?]))*")
  | (?P<status>\$\?)
  | (?P<escaped>\\[^\n])
  | (?P<plain>[^\s'"\\$`&|;<>()]+)
    """,
    re.VERBOSE,
)
_IN_DOUBLE = re.compile(r"\\([$`\"\\\n])")
_STATUS = re.compile(r"(?<!\\)(?:\\\\)*\$\?")
STATUS_DOUBT = "$? is a number that is known only when it runs"
"""The only expansion that is always a small number."""
_GLOB = re.compile(r"[*?\[]")
_TILDE = re.compile(r"(^|[=:])~")
_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "\n"})
_REDIRECTIONS = frozenset({">", ">>", "<", ">&"})
_DESCRIPTOR = re.compile(r"[0-9]")
KEYWORDS = named(
    "! { } [[ ]] case coproc do done elif else esac fi for foreach function if in repeat select then "
    "until while end always nocorrect noglob -"
)


class NotPlainError(Exception):
    """The text has more than literal words, separators and redirections. The message says what."""


@dataclass(slots=True)
class _Pieces:
    """A word that is being read."""

    start: int
    text: str = ""
    glob: str = ""
    bare: str = ""
    is_bare: bool = True
    has_status: bool = False

    def add_quoted(self, text: str) -> None:
        self.text += text
        self.glob += re.sub(r"([*?\[\\])", r"[\1]", text)
        self.bare += "\0"
        self.is_bare = False

    def add_bare(self, text: str) -> None:
        self.text += text
        self.glob += text
        self.bare += text

    def word(self, end: int) -> Word:
        glob = self.glob if _GLOB.search(self.bare) and self.bare != "[" else ""
        doubt = _doubt_about(self.bare) or (STATUS_DOUBT if self.has_status else "")
        return Word(self.text, self.start, end, doubt, glob, self.is_bare)


def _doubt_about(bare: str) -> str:
    if _TILDE.search(bare):
        return "~ stands for a folder that only the shell knows"
    if "{" in bare and ("," in bare or ".." in bare):
        return "braces become several words in some shells"
    if any(not char.isascii() and not char.isalnum() for char in bare):
        return "unquoted symbols may look like others"
    if bare.startswith("="):
        return "a word that begins with = becomes a program's path in some shells"
    return ""


@dataclass(slots=True)
class _Line:
    steps: list[Step] = field(default_factory=list)
    current: StepBuilder = field(default_factory=StepBuilder)
    pieces: _Pieces | None = None
    awaiting: tuple[str, str] | None = None
    """The operator and descriptor of a redirection whose target has not come yet."""

    def end_word(self, end: int) -> None:
        if self.pieces is None:
            return
        word = self.pieces.word(end)
        self.pieces = None
        if self.awaiting:
            self.current.redirects.append(Redirect(self.awaiting[0], word, self.awaiting[1]))
            self.awaiting = None
        else:
            self.current.words.append(word)

    def end_step(self, operator: str) -> None:
        if self.awaiting:
            raise NotPlainError("a redirection has no target")
        if self.current.is_empty:
            if operator != "\n" or self.current.before in {"&&", "||", "|"}:
                raise NotPlainError(f"nothing comes before {operator!r}")
            return
        self.steps.append(self.current.build(operator))
        self.current = StepBuilder(before=operator)

    def redirect(self, operator: str, start: int) -> None:
        descriptor = ""
        pieces = self.pieces
        if pieces and pieces.is_bare and pieces.text.isdigit() and not self.awaiting:
            if not _DESCRIPTOR.fullmatch(pieces.text):
                raise NotPlainError("shells differ on descriptors above nine")
            descriptor, self.pieces = pieces.text, None
        elif pieces and pieces.text.endswith("}"):
            raise NotPlainError("shells differ on a name in braces before a redirection")
        self.end_word(start)
        if self.awaiting:
            raise NotPlainError("a redirection has no target")
        self.awaiting = (operator, descriptor)


def read_plain(text: str) -> tuple[Step, ...]:
    """Return the steps of a line of literal words. Raises `NotPlainError` for anything else."""
    line, position = _Line(), 0
    while position < len(text):
        if line.pieces is None and text[position] == "#":
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotPlainError(_why(text[position]))
        _add_token(match, line)
        position = match.end()
    _end(line, len(text))
    return tuple(line.steps)


def _end(line: _Line, end: int) -> None:
    line.end_word(end)
    if line.awaiting or (line.current.is_empty and line.current.before in {"&&", "||", "|"}):
        raise NotPlainError("the line is incomplete")
    if not line.current.is_empty:
        line.steps.append(line.current.build(""))


def _add_token(match: re.Match[str], line: _Line) -> None:
    token, kind = match[0], match.lastgroup
    if kind == "blank":
        line.end_word(match.start())
        return
    if kind == "joined":
        return
    if kind == "operator":
        _add_operator(token, match.start(), line)
        return
    pieces = line.pieces = line.pieces or _Pieces(match.start())
    match kind:
        case "single":
            pieces.add_quoted(token[1:-1])
        case "double":
            pieces.has_status = pieces.has_status or _STATUS.search(token) is not None
            pieces.add_quoted(_IN_DOUBLE.sub(lambda found: found[1].strip("\n"), token[1:-1]))
        case "status":
            pieces.has_status = True
            pieces.add_quoted(token)
        case "escaped":
            pieces.add_quoted(token[1:])
        case _:
            pieces.add_bare(token)


def _add_operator(token: str, start: int, line: _Line) -> None:
    if token in _REDIRECTIONS:
        line.redirect(token, start)
    elif token in _SEPARATORS:
        line.end_word(start)
        line.end_step(token)
    else:
        raise NotPlainError(_OPERATORS.get(token, f"{token!r} is more than a plain command"))


_OPERATORS = {
    "(": "parentheses open another shell or define a function",
    ")": "parentheses open another shell or define a function",
    "<<": "a here-document contains its own text",
    "<<<": "a here-string contains its own text",
    "&>": "shells differ on &>",
    "&>>": "shells differ on &>>",
    "|&": "shells differ on |&",
    ">|": ">| overwrites whatever is there",
    "<>": "<> opens a file for reading and writing",
    "<&": "<& redirects descriptors",
}


def _why(char: str) -> str:
    match char:
        case "$":
            return "$ expands to something that is known only when it runs"
        case "`":
            return "backquotes run another command"
        case "'" | '"':
            return "a quote is not closed, or has an expansion inside"
        case "\\":
            return "a backslash ends the line"
        case _:
            return f"the character U+{ord(char):04X} is not plain text"
