"""Puts the readers and the catalogue together: a line becomes parts, targets, findings and doubts."""

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.policy.command import CommandPart, ShellCommand
from coder_tui.policy.shell.call import Call
from coder_tui.policy.shell.catalogue import judge
from coder_tui.policy.shell.characters import odd_characters
from coder_tui.policy.shell.directory import DirectoryTracker
from coder_tui.policy.shell.notes import Notes, Place, Touch
from coder_tui.policy.shell.programs.wrappers import ASSIGNMENT, TRANSPARENT
from coder_tui.policy.shell.reader import KEYWORDS, NotPlainError, read_plain
from coder_tui.policy.shell.redirects import note_redirect
from coder_tui.policy.shell.syntax import doubts_about, loose_steps, parse, structure_doubts
from coder_tui.policy.shell.words import Step, Word
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.findings import Finding, FindingKind

MOST_CHARACTERS = 8_000
"""A line longer than this is never allowed by a rule; rules that refuse still see all of it."""
MOST_PIECES = 400
MOST_PARTS = 500
MOST_DEPTH = 8
_OPENING = re.compile(r"[;&|\n(){}`<>\[!]|\$|\b(?:if|for|while|until|case|do|then|in|select)\b")
_SEPARATORS = re.compile(r"[;&|\n(){}`]+|\$\(")
_QUOTES = str.maketrans("", "", "'\"\\")


@dataclass(slots=True)
class Analysis:
    place: Place
    parts: list[CommandPart] = field(default_factory=list)
    touches: dict[Touch, None] = field(default_factory=dict)
    findings: dict[Finding, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    unjudged: set[str] = field(default_factory=set)
    has_open_targets: bool = False

    def of(self, text: str) -> ShellCommand:
        hidden = odd_characters(text)
        self._doubt(*hidden)
        self._read(text, depth=0)
        if not self.parts:
            self._doubt("no command was found in it")
        if not self.findings:
            self.findings[
                Finding(FindingKind.UNKNOWN if self.doubts else FindingKind.READS, "", _quiet(self))
            ] = None
        return ShellCommand(
            text,
            tuple(self.parts),
            _targets(self.touches),
            tuple(self.findings),
            tuple(self.doubts),
            frozenset(os.path.normpath(touch.path) for touch in self.touches if touch.is_own),
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
        if len(text) > MOST_CHARACTERS or len(_OPENING.findall(text)) > MOST_PIECES:
            # The grammar takes the square of deep nesting and of long pipelines, in time and in memory.
            self._doubt("it is too long to be judged")
            self._split_roughly(text)
            return
        self._walk(self._steps(text), depth)

    def _steps(self, text: str) -> tuple[Step, ...]:
        source = text.encode(errors="replace")
        tree = parse(source)
        try:
            steps = read_plain(text)
        except NotPlainError as error:
            self._doubt(*(structure_doubts(tree) or (str(error),)))
        else:
            if not (doubts := doubts_about(tree, steps, text)):
                return steps
            self._doubt(*doubts)
        if tree.root_node.has_error:
            self._split_roughly(text)
        steps, rest = loose_steps(tree, source, MOST_PARTS)
        self.unjudged |= rest
        return steps

    def _split_roughly(self, text: str) -> None:
        pieces = {piece.strip() for piece in _SEPARATORS.split(text.translate(_QUOTES))}
        self.unjudged |= pieces - {""}

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
        if depth > MOST_DEPTH or len(self.parts) >= MOST_PARTS:
            self._doubt("commands are nested too deeply")
            self.unjudged.add(" ".join(word.text for word in words))
            return
        notes = Notes(place, has_more_operands=more)
        if reason := _name_doubt(words[0]):
            notes.doubt(reason)
        judge(Call(words), notes)
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
        self.parts.append(
            CommandPart(
                tuple(word.text for word in words),
                tuple(notes.doubts),
                notes.is_read_only,
                tuple(dict.fromkeys(notes.other_texts)),
                is_transparent=words[0].text in TRANSPARENT,
            )
        )


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
    return "only what it is told" if not analysis.doubts else "it was not understood"


def _targets(touches: dict[Touch, None]) -> tuple[Target, ...]:
    """Each path as it is written and, where a link stands in between, as the kernel would find it."""
    targets: dict[Target, None] = {}
    folders: dict[str, str] = {}
    for touch in touches:
        if "\0" in touch.path:
            continue
        targets[Target(TargetKind.PATH, os.path.normpath(touch.path), touch.writes)] = None
        targets[Target(TargetKind.PATH, _real(touch.path, folders), touch.writes)] = None
    return tuple(targets)


def _real(path: str, folders: dict[str, str]) -> str:
    folder, name = os.path.split(path.rstrip("/") or "/")
    if name in {"", ".", ".."}:
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    found = f"{folders[folder].rstrip('/')}/{name}"
    return os.path.realpath(found) if Path(found).is_symlink() else found
