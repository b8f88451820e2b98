"""The pieces of a command line (words, redirections, steps) and the notes about one command."""

import posixpath
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from coder_tui.policy.paths import widened
from coder_tui.protocol.findings import Finding, FindingKind


@dataclass(frozen=True, slots=True)
class Word:
    """One word after unquoting. If `doubt` is empty, the program gets exactly `text`."""

    text: str
    start: int = -1
    end: int = -1
    doubt: str = ""
    """Why the shell would change it: an expansion, a tilde, a brace."""
    glob: str = ""
    """The pattern, if the shell would look for file names. Its quoted parts are escaped."""
    is_bare: bool = True
    """Whether it has no quotes, so that it may be a shell keyword."""

    @property
    def is_flag(self) -> bool:
        return len(self.text) > 1 and self.text.startswith("-")

    @property
    def may_become_a_flag(self) -> bool:
        """Whether the pattern could match a file with a name like `-o`, which would be a flag."""
        return self.glob.startswith(("*", "?", "["))


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str
    target: Word
    descriptor: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command with its redirections and the operators around it."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    before: str = ""
    after: str = ""

    @property
    def is_in_pipeline(self) -> bool:
        return self.before == "|" or self.after == "|"


@dataclass(slots=True)
class StepBuilder:
    """Collects one step while a line is read."""

    before: str = ""
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.words and not self.redirects

    def build(self, after: str) -> Step:
        return Step(tuple(self.words), tuple(self.redirects), self.before, after)


def literal(*texts: str) -> tuple[Word, ...]:
    """Return words that another program passes on unchanged."""
    return tuple(Word(text) for text in texts)


def named(text: str) -> frozenset[str]:
    """Split names in one string, so that long tables stay readable."""
    return frozenset(text.split())


STANDARD_STREAMS = frozenset({"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_GLOB_MARKS = "*?["
_PROTECTED = (".git", ".coder-tui", ".env", ".envrc")


@dataclass(frozen=True, slots=True)
class Touch:
    """A path that a command reads or writes. `is_own` if writing it is the command's purpose."""

    path: str
    writes: bool = False
    is_own: bool = False
    glob: str = ""
    """The part of the path from the first pattern on, if there is one."""
    follows: bool = True
    """Whether a link is followed. `rm` and `mv` act on the link itself."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Where a command runs: every folder it may be in, the workspace and the home folder."""

    directories: tuple[str, ...]
    roots: tuple[str, ...] = ()
    home: str = ""


@dataclass(slots=True)
class CommandNotes:
    """What is found about one command while its words are judged."""

    context: CommandContext
    touches: list[Touch] = field(default_factory=list)
    findings: dict[Finding, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    wrapped: list[tuple[Word, ...]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    """Command lines that it would pass to another shell."""
    other_texts: list[str] = field(default_factory=list)
    """Other ways to write the same command. Rules that ask or deny also apply to these."""
    plain_text: str = ""
    """The same without flags that change nothing. Rules that allow also apply to it."""
    is_read_only: bool = True
    has_open_targets: bool = False
    """Whether it changes something that is known only when it runs."""
    has_more_operands: bool = False
    """Whether unknown operands are added when it runs (by `xargs`)."""

    def doubt(self, reason: str) -> None:
        self.doubts[reason] = None
        self.is_read_only = False

    def read(self, word: Word, reason: str = "") -> None:
        self._touch(word, FindingKind.READS, reason, is_own=False)

    def read_patterns(self, words: tuple[Word, ...]) -> None:
        """Note patterns as reads: the shell replaces them by file names, whatever the program does."""
        for word in words:
            if word.glob and not word.is_flag:
                self.read(word)

    def write(self, word: Word, reason: str = "", *, is_own: bool = False) -> None:
        self.is_read_only = False
        self._touch(word, FindingKind.WRITES, reason, is_own=is_own)

    def delete(self, word: Word, reason: str = "", *, follows: bool = True) -> None:
        self.is_read_only = False
        self._touch(word, FindingKind.DELETES, reason, is_own=True, follows=follows)

    def find(self, kind: FindingKind, target: str = "", reason: str = "") -> None:
        """Note an effect beyond paths. Anything but reading means that it changes something."""
        self.findings[Finding(kind, target, reason)] = None
        if kind is not FindingKind.READS:
            self.is_read_only = False

    def network(self, host: str = "", reason: str = "") -> None:
        self.find(FindingKind.NETWORK, host, reason)

    def runs(self, program: str, reason: str = "") -> None:
        self.find(FindingKind.RUNS_CODE, program, reason)

    def unknown(self, program: str, reason: str = "") -> None:
        self.find(FindingKind.UNKNOWN, program, reason)

    def _touch(
        self, word: Word, kind: FindingKind, reason: str, *, is_own: bool, follows: bool = True
    ) -> None:
        writes = kind is not FindingKind.READS
        if word.doubt:
            self.doubt(word.doubt)
            self.has_open_targets = self.has_open_targets or writes
            if not (home := self._in_home(word)):
                self.findings[Finding(kind, word.text, reason or "known only when it runs")] = None
                return
            word = Word(home)
        if not word.text or word.text in STANDARD_STREAMS:
            return
        path, glob = (word.text, "") if not word.glob else _without_glob(word.glob)
        if any(fnmatchcase("..", widened(part)) for part in glob.split("/") if part.startswith(".")):
            self.doubt(f"{word.glob} may stand for the folder above")
        if writes and glob and any(fnmatchcase(name, glob.split("/")[0]) for name in _PROTECTED):
            self.doubt(f"{word.glob} may stand for protected files")
        for directory in self.context.directories:
            absolute = joined(directory, path)
            self.touches.append(Touch(absolute, writes, is_own, glob, follows))
            shown = f"{absolute.rstrip('/')}/{glob}" if glob else posixpath.normpath(absolute)
            self.findings[Finding(kind, shown, reason)] = None
        if not self.context.directories:
            self.doubt("the folder it runs in is unknown")

    def _in_home(self, word: Word) -> str:
        """Return where `~/x` most likely leads. It remains a doubt."""
        is_plain = word.text.startswith("~/") and not any(mark in word.text for mark in "$`*?[{")
        return f"{self.context.home}{word.text[1:]}" if is_plain and self.context.home else ""


def joined(directory: str, path: str) -> str:
    """Join without normalizing: after a symbolic link, `..` is not the folder that the text suggests."""
    return path if path.startswith("/") else f"{directory.rstrip('/')}/{path}"


def _without_glob(pattern: str) -> tuple[str, str]:
    """Split a path into the folder before the first pattern and the rest."""
    parts = pattern.split("/")
    first = next(index for index, part in enumerate(parts) if any(mark in part for mark in _GLOB_MARKS))
    folder = "/".join(parts[:first])
    if pattern.startswith("/") and not folder:
        folder = "/"
    return folder or ".", "/".join(parts[first:])
