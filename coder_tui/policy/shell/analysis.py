"""Turn a command line into parts, targets, findings and doubts.

Two readers must agree on the words (`reader.py`, `syntax.py`); the catalog judges each program. `cd` is
followed as far as possible. A text that cannot be parsed is split roughly, so that rules that deny still see
its commands.
"""

import os
import posixpath
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.policy.command import CommandPart, ShellCommand
from coder_tui.policy.paths import is_within
from coder_tui.policy.shell.call import Call, read_contents
from coder_tui.policy.shell.catalog import judge
from coder_tui.policy.shell.disk import is_link, matches, resolved
from coder_tui.policy.shell.notes import (
    STANDARD_STREAMS,
    CommandContext,
    CommandNotes,
    Redirect,
    Step,
    Touch,
    Word,
    joined,
)
from coder_tui.policy.shell.programs.wrappers import ASSIGNMENT, HARMLESS_WITH_ANYTHING, TRANSPARENT, WRAPPERS
from coder_tui.policy.shell.reader import KEYWORDS, NotPlainError, read_plain
from coder_tui.policy.shell.syntax import doubts_about, loose_steps, odd_characters, parse, structure_doubts
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.findings import Finding, FindingKind

MOST_FOLDERS = 8


@dataclass(slots=True)
class DirectoryTracker:
    """Tracks the folders that a step may run in.

    A `cd` may fail, and after `;` or `||` it is unknown whether it did. Then every folder so far counts.
    """

    directories: tuple[str, ...]
    seen: dict[str, None] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = dict.fromkeys(self.directories)

    def enter(self, step: Step) -> None:
        if step.before not in {"&&", "|", ""}:
            self.directories = tuple(self.seen)

    def change(self, step: Step, notes: CommandNotes) -> None:
        words = [word for word in step.words[1:] if word.text != "--"]
        if len(words) != 1 or not words[0].text or words[0].text.startswith(("-", "+")):
            notes.doubt("it is not clear which folder cd leads to")
            return
        word = words[0]
        if word.glob:
            notes.doubt("a pattern after cd may become any folder")
        notes.read(word, "cd goes there")
        # The shell drops the part before `..`, whether it is a link or not.
        whole = tuple(joined(directory, word.text) for directory in self.directories)
        there = tuple(posixpath.normpath(path) for path in whole)
        if ".." in word.text.split("/") and any(map(_is_ambiguous, whole)):
            notes.doubt("shells differ on the folder above a link")
        self.seen.update(dict.fromkeys(there))
        stays = step.is_in_pipeline or step.after == "&"
        self.directories = tuple(self.seen) if stays else there
        if len(self.seen) > MOST_FOLDERS:
            notes.doubt("it changes the folder too often to follow")
            self.seen = dict.fromkeys(tuple(self.seen)[:MOST_FOLDERS])


def _is_ambiguous(path: str) -> bool:
    """Return whether shells disagree. If the named folder is missing, bash goes where the kernel would."""
    return resolved(path) != resolved(posixpath.normpath(path))


MOST_LEADING = 12
_SEPARATORS = re.compile(r"[;&|\n(){}`]+|\$\(")
_UNQUOTED = re.compile(r"\\\n|['\"\\]")
_LEADING = re.compile(r"-\S*|[0-9.]+[smhd]?")


def fallback_split(text: str) -> set[str]:
    """Return every piece between separators, also without leading wrappers, keywords and assignments."""
    found: set[str] = set()
    for piece in {piece.strip() for piece in _SEPARATORS.split(_UNQUOTED.sub("", text))}:
        _add(piece, found)
    return found - {""}


def _add(piece: str, found: set[str]) -> None:
    found.add(piece)
    for _ in range(MOST_LEADING):
        first, _, rest = piece.partition(" ")
        name = first.rpartition("/")[2].lower()
        if name != first:
            found.add(f"{name} {rest}".strip())
        is_leading = (
            name in KEYWORDS or name in WRAPPERS or ASSIGNMENT.match(first) or _LEADING.fullmatch(first)
        )
        if not is_leading or not rest:
            return
        piece = rest.strip()
        found.add(piece)


_DESCRIPTOR = re.compile(r"[0-9]|-")
_NETWORK = re.compile(r"/+dev/+(tcp|udp)/+([^/]*)")
_SPECIAL = ("/dev/", "/proc/", "/sys/")
_READING = frozenset({"<"})


def note_redirect(redirect: Redirect, notes: CommandNotes) -> None:
    target, operator = redirect.target, redirect.operator
    if operator in {">&", "<&"} and _DESCRIPTOR.fullmatch(target.text) and target.is_bare:
        return
    if match := _NETWORK.match(target.text):
        notes.network(match[2], f"{operator} {target.text}")
        notes.doubt("a redirection opens a connection")
        return
    if target.glob:
        notes.doubt("a pattern after a redirection may become any file")
    if target.text == "-":
        # As an argument it means a stream; here it is a file of that name.
        target = replace(target, text="./-")
    if target.text in STANDARD_STREAMS and not target.doubt:
        return
    if target.text.startswith(_SPECIAL):
        notes.doubt(f"{target.text} is a device or belongs to the kernel")
    if operator in _READING:
        read_contents([target], notes)
        return
    if operator not in {">", ">>"}:
        notes.doubt(f"{operator} is not a plain redirection")
    notes.write(target, f"{operator} sends output there")


MOST_CHARACTERS = 8_000
"""A longer line is never allowed by a rule. Rules that deny still see all of it."""
MOST_WORDS = 1_000
MOST_PIECES = 400
MOST_PARTS = 500
MOST_DEPTH = 8
_OPENING = re.compile(r"[;&|\n(){}`<>\[!]|\$|\b(?:if|for|while|until|case|do|then|in|select)\b")


def analyze_command(
    command: str, directory: str, *, home: str = "", roots: tuple[str, ...] = ()
) -> ShellCommand:
    """Report what `command` would do in `directory`. Runs nothing; follows links to their targets."""
    context = CommandContext((directory,), roots or (directory,), home or str(Path.home()))
    return CommandAnalyzer(context).analyze(command)


@dataclass(slots=True)
class CommandAnalyzer:
    context: CommandContext
    parts: dict[CommandPart, None] = field(default_factory=dict)
    touches: dict[Touch, None] = field(default_factory=dict)
    findings: dict[Finding, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    unjudged: set[str] = field(default_factory=set)
    has_open_targets: bool = False
    judged: int = 0

    def analyze(self, text: str) -> ShellCommand:
        hidden = odd_characters(text)
        self._doubt(*hidden)
        self._read(text, depth=0)
        resolved_roots = (root for given in self.context.roots if (root := resolved(given)))
        targets = _Targets((*self.context.roots, *resolved_roots))
        for touch in self.touches:
            targets.add(touch)
        if not targets.is_certain:
            self._doubt("it is unclear where one of its paths leads")
        if not self.parts:
            self._doubt("no command was found in it")
        if not self.findings:
            self.findings[
                Finding(FindingKind.UNKNOWN if self.doubts else FindingKind.READS, "", _quiet(self))
            ] = None
        return ShellCommand(
            text,
            tuple(self.parts),
            tuple(targets.found),
            tuple(self.findings),
            tuple(self.doubts),
            frozenset(os.path.normpath(touch.path) for touch in self.touches if touch.is_own),
            frozenset(targets.linked_out),
            tuple(self.unjudged),
            has_hidden_characters=bool(hidden),
            has_open_targets=self.has_open_targets,
        )

    def _doubt(self, *reasons: str) -> None:
        self.doubts.update(dict.fromkeys(reasons))

    def _read(self, text: str, depth: int) -> None:
        if depth > MOST_DEPTH:
            self._doubt("commands are nested too deeply")
            self._split_roughly(text)
            return
        if len(text) > MOST_CHARACTERS or len(text.split()) > MOST_WORDS or _pieces(text) > MOST_PIECES:
            # The grammar needs quadratic time and memory for deep nesting and long pipelines.
            self._doubt("it is too long to be judged")
            self._split_roughly(text)
            return
        self._walk(self._steps(text), depth)

    def _steps(self, text: str) -> tuple[Step, ...]:
        source = text.encode(errors="replace")
        tree = parse(source)
        exact: tuple[Step, ...] = ()
        try:
            exact = read_plain(text)
        except NotPlainError as error:
            self._doubt(*(structure_doubts(tree) or (str(error),)))
        else:
            if not (doubts := doubts_about(tree, exact, text)):
                return exact
            self._doubt(*doubts)
        if tree.root_node.has_error:
            self._split_roughly(text)
        steps, rest = loose_steps(tree, source, MOST_PARTS)
        self.unjudged |= rest
        return (*exact, *steps)

    def _split_roughly(self, text: str) -> None:
        self.unjudged |= fallback_split(text)

    def _walk(self, steps: tuple[Step, ...], depth: int) -> None:
        tracker = DirectoryTracker(self.context.directories)
        for step in steps:
            tracker.enter(step)
            context = replace(self.context, directories=tracker.directories)
            notes = CommandNotes(context)
            for redirect in step.redirects:
                note_redirect(redirect, notes)
            self._keep(notes)
            self._doubt(*notes.doubts)
            if not step.words:
                self._doubt("a redirection without a command empties its target")
                continue
            if step.words[0].text == "cd":
                self._change_directory(step, tracker, context)
            else:
                self._judge(step.words, context, depth)

    def _change_directory(self, step: Step, tracker: DirectoryTracker, context: CommandContext) -> None:
        notes = CommandNotes(context)
        tracker.change(step, notes)
        self._keep(notes)
        self._add_part(step.words, notes)

    def _judge(
        self, words: tuple[Word, ...], context: CommandContext, depth: int, *, more: bool = False
    ) -> None:
        self.judged += 1
        if depth > MOST_DEPTH or self.judged > MOST_PARTS:
            self._doubt("commands are nested too deeply")
            self.unjudged.add(" ".join(word.text for word in words))
            return
        if not words:
            self._doubt("a command is missing")
            return
        notes = CommandNotes(context, has_more_operands=more)
        if reason := _name_doubt(words[0]):
            notes.doubt(reason)
            notes.has_open_targets = bool(words[0].doubt or words[0].glob)
        if words[0].text in KEYWORDS or ASSIGNMENT.match(words[0].text):
            # Not a program, but the next word may be one.
            notes.wrapped += [words[1:]] if words[1:] else []
        else:
            judge(Call(words), notes)
            notes.read_patterns(words[1:])
        if more and words[0].text not in HARMLESS_WITH_ANYTHING:
            notes.doubt(f"it is unknown what {words[0].text} will be given")
        self._keep(notes)
        self._add_part(words, notes)
        for wrapped in notes.wrapped:
            self._judge(wrapped, context, depth + 1, more=notes.has_more_operands)
        for script in notes.scripts:
            self._read(script, depth + 1)

    def _keep(self, notes: CommandNotes) -> None:
        self.touches.update(dict.fromkeys(notes.touches))
        self.findings.update(notes.findings)
        self.has_open_targets = self.has_open_targets or notes.has_open_targets

    def _add_part(self, words: tuple[Word, ...], notes: CommandNotes) -> None:
        part = CommandPart(
            tuple(word.text for word in words),
            tuple(notes.doubts),
            notes.is_read_only,
            tuple(dict.fromkeys(notes.other_texts)),
            plain_text=notes.plain_text,
            is_transparent=words[0].text in TRANSPARENT,
        )
        self.parts[part] = None


def _pieces(text: str) -> int:
    return len(_OPENING.findall(text))


def _name_doubt(word: Word) -> str:
    if word.doubt or word.glob:
        return word.doubt or "a pattern in place of a program may become any program"
    if not word.text or not word.text.isascii() or not word.text.isprintable() or " " in word.text:
        return "the name of the program is not plain text"
    if word.text in KEYWORDS:
        return f"{word.text} is a keyword of the shell"
    if ASSIGNMENT.match(word.text):
        return "it sets a variable, which can change what programs do"
    return ""


def _quiet(analysis: CommandAnalyzer) -> str:
    return "only what is piped or given to it" if not analysis.doubts else "it was not understood"


@dataclass(slots=True)
class _Targets:
    """Collects each path as written and, if links are involved, as the kernel resolves it."""

    roots: tuple[str, ...]
    found: dict[Target, None] = field(default_factory=dict)
    linked_out: set[str] = field(default_factory=set)
    folders: dict[str, str | None] = field(default_factory=dict)
    is_certain: bool = True

    def add(self, touch: Touch) -> None:
        names = matches(touch.path, touch.glob) if touch.glob else ()
        if names is None:
            self.is_certain = False
        for path in (touch.path, *(names or ())):
            real = self._real(path, follows=touch.follows)
            if real is None:
                self.is_certain = False
                continue
            self.found[Target(TargetKind.PATH, real, touch.writes)] = None
            if touch.writes and self._leads_out(path, real):
                self.linked_out.add(real)
        self.found[Target(TargetKind.PATH, os.path.normpath(touch.path), touch.writes)] = None

    def _leads_out(self, path: str, real: str) -> bool:
        return is_within(os.path.normpath(path), self.roots) and not is_within(real, self.roots)

    def _real(self, path: str, *, follows: bool) -> str | None:
        follows = follows or path.endswith("/")
        folder, _, name = (path.rstrip("/") or "/").rpartition("/")
        if name in {"", ".", ".."}:
            return resolved(path)
        if folder not in self.folders:
            self.folders[folder] = resolved(folder or "/")
        parent = self.folders[folder]
        if parent is None:
            return None
        found = f"{parent.rstrip('/')}/{name}"
        return resolved(found) if follows and is_link(found) else found
