"""Puts the readers and the catalogue together: a line becomes parts, targets, findings and doubts."""

import os
import re
from dataclasses import dataclass, field, replace

from coder_tui.policy.command import CommandPart, ShellCommand
from coder_tui.policy.paths import is_within
from coder_tui.policy.shell.call import Call
from coder_tui.policy.shell.catalogue import judge
from coder_tui.policy.shell.characters import odd_characters
from coder_tui.policy.shell.directory import DirectoryTracker
from coder_tui.policy.shell.globbing import matches
from coder_tui.policy.shell.links import is_link, resolved
from coder_tui.policy.shell.notes import Notes, Place, Touch
from coder_tui.policy.shell.programs.wrappers import ASSIGNMENT, HARMLESS_WITH_ANYTHING, TRANSPARENT
from coder_tui.policy.shell.reader import KEYWORDS, NotPlainError, read_plain
from coder_tui.policy.shell.redirects import note_redirect
from coder_tui.policy.shell.rough import rough_commands
from coder_tui.policy.shell.syntax import doubts_about, loose_steps, parse, structure_doubts
from coder_tui.policy.shell.words import Step, Word
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.findings import Finding, FindingKind

MOST_CHARACTERS = 8_000
"""A line longer than this is never allowed by a rule; rules that refuse still see all of it."""
MOST_WORDS = 1_000
MOST_PIECES = 400
MOST_PARTS = 500
MOST_DEPTH = 8
_OPENING = re.compile(r"[;&|\n(){}`<>\[!]|\$|\b(?:if|for|while|until|case|do|then|in|select)\b")


@dataclass(slots=True)
class Analysis:
    place: Place
    parts: dict[CommandPart, None] = field(default_factory=dict)
    touches: dict[Touch, None] = field(default_factory=dict)
    findings: dict[Finding, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    unjudged: set[str] = field(default_factory=set)
    has_open_targets: bool = False
    judged: int = 0

    def of(self, text: str) -> ShellCommand:
        hidden = odd_characters(text)
        self._doubt(*hidden)
        self._read(text, depth=0)
        really = (root for given in self.place.roots if (root := resolved(given)))
        targets = _Targets((*self.place.roots, *really))
        for touch in self.touches:
            targets.add(touch)
        if not targets.is_certain:
            self._doubt("it cannot be told where one of its paths leads")
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
            # The grammar takes the square of deep nesting and of long pipelines, in time and in memory.
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
        self.unjudged |= rough_commands(text)

    def _walk(self, steps: tuple[Step, ...], depth: int) -> None:
        tracker = DirectoryTracker(self.place.directories)
        for step in steps:
            tracker.enter(step)
            place = replace(self.place, directories=tracker.directories)
            notes = Notes(place)
            for redirect in step.redirects:
                note_redirect(redirect, notes)
            self._keep(notes)
            self._doubt(*notes.doubts)
            if not step.words:
                self._doubt("a redirection without a command empties its target")
                continue
            if step.words[0].text == "cd":
                self._change_directory(step, tracker, place)
            else:
                self._judge(step.words, place, depth)

    def _change_directory(self, step: Step, tracker: DirectoryTracker, place: Place) -> None:
        notes = Notes(place)
        tracker.change(step, notes)
        self._keep(notes)
        self._add_part(step.words, notes)

    def _judge(self, words: tuple[Word, ...], place: Place, depth: int, *, more: bool = False) -> None:
        self.judged += 1
        if depth > MOST_DEPTH or self.judged > MOST_PARTS:
            self._doubt("commands are nested too deeply")
            self.unjudged.add(" ".join(word.text for word in words))
            return
        if not words:
            self._doubt("a command is missing where one belongs")
            return
        notes = Notes(place, has_more_operands=more)
        if reason := _name_doubt(words[0]):
            notes.doubt(reason)
            notes.has_open_targets = bool(words[0].doubt or words[0].glob)
        if words[0].text in KEYWORDS or ASSIGNMENT.match(words[0].text):
            # Not a program: what follows may be one.
            notes.wrapped += [words[1:]] if words[1:] else []
        else:
            judge(Call(words), notes)
            notes.read_patterns(words[1:])
        if more and words[0].text not in HARMLESS_WITH_ANYTHING:
            notes.doubt(f"nobody knows what {words[0].text} will be given")
        self._keep(notes)
        self._add_part(words, notes)
        for wrapped in notes.wrapped:
            self._judge(wrapped, place, depth + 1, more=notes.has_more_operands)
        for script in notes.scripts:
            self._read(script, depth + 1)

    def _keep(self, notes: Notes) -> None:
        self.touches.update(dict.fromkeys(notes.touches))
        self.findings.update(notes.findings)
        self.has_open_targets = self.has_open_targets or notes.has_open_targets

    def _add_part(self, words: tuple[Word, ...], notes: Notes) -> None:
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


def _quiet(analysis: Analysis) -> str:
    return "only what is piped or given to it" if not analysis.doubts else "it was not understood"


@dataclass(slots=True)
class _Targets:
    """Each path as it is written and, where a link stands in between, as the kernel would find it."""

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
