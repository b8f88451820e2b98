"""Keeps typing from answering a request: pure decisions about keys and the times they were pressed.

`QuietPeriod` is the simplest guard: no key counts before a moment without keys.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

ARM = 0.4
SOLO = 0.4
CLICK_HOLD = 0.3


class Choice(StrEnum):
    ALLOW = "allow"
    ALWAYS = "always"
    DENY = "deny"
    EXPLAIN = "explain"
    CANCEL = "cancel"
    EDIT = "edit"
    SHOW = "show"
    """Show the request in full width."""
    HUNK = "hunk"
    """Refuse one hunk, or include it again."""
    WHY = "why"
    """Show why the user is asked."""
    REMIND = "remind"
    """Not an answer here: name the key that would be."""


class Step(StrEnum):
    ASK = "ask"
    SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Stay:
    """Nothing happens."""


@dataclass(frozen=True, slots=True)
class Chosen:
    choice: Choice


@dataclass(frozen=True, slots=True)
class Picked:
    """A scope was marked, not yet granted."""

    index: int


@dataclass(frozen=True, slots=True)
class Moved:
    """The mark moves by `by` answers."""

    by: int


@dataclass(frozen=True, slots=True)
class Passed:
    """Not an answer: the key may scroll."""

    key: str


@dataclass(frozen=True, slots=True)
class Demoted:
    """The user was typing: the dialog docks, and `release` returns the characters."""


Verdict = Stay | Chosen | Picked | Moved | Passed | Demoted

_MOVES = {"tab": 1, "right": 1, "shift+tab": -1, "left": -1}


@dataclass(slots=True)
class ApprovalGuard:
    """Guards one open dialog. All times are of one clock; each key has the time at which it was pressed.

    `letters` are the printable answers of this request. Any other letter is typing.
    """

    letters: Mapping[str, Choice]
    scopes: int
    opened_at: float
    chords: Mapping[str, Choice] = field(default_factory=dict)
    """Keys that nobody presses while writing, such as `alt+n`."""
    moves: str = ""
    """Characters that answer nothing but navigate. They act at once, also several in a row."""
    step: Step = Step.ASK
    focused: Choice | None = None
    _armed_at: float = field(init=False)
    _clicks_from: float = field(init=False)
    _kept: str = field(default="", init=False)
    _pending: str = field(default="", init=False)
    _commits_at: float = field(default=math.inf, init=False)
    _moved: str = field(default="", init=False)
    _moved_until: float = field(default=-math.inf, init=False)

    def __post_init__(self) -> None:
        self._armed_at = self.opened_at + ARM
        self._clicks_from = self.opened_at + ARM

    def is_ready(self, at: float) -> bool:
        return at >= self._armed_at

    @property
    def wakes_at(self) -> float:
        """The time at which `wake` is due, unless a key is pressed earlier."""
        return self._commits_at if self._pending else self._armed_at

    def rearm(self, at: float) -> None:
        """Wait again: the dialog was just shown or the terminal regained the focus, so a key may be stray."""
        self._keep_pending()
        self._armed_at = max(self._armed_at, at + ARM)
        self._clicks_from = max(self._clicks_from, at + CLICK_HOLD)

    def enter(self, step: Step) -> None:
        self.step = step
        self.focused = None

    def release(self) -> str:
        """Return the characters that were no answer. Each is returned once."""
        self._keep_pending()
        typed, self._kept = self._kept, ""
        return typed

    def press(self, key: str, character: str | None, at: float) -> Verdict:
        if key in {"escape", "ctrl+c"}:
            return self._escape()
        if key == "backspace":
            return self._erase(at)
        if character is not None and character.isprintable() and not key.startswith("alt+"):
            return self._type(character, at)
        return self._command(key, at)

    def paste(self, text: str) -> Verdict:
        self._keep_pending()
        self._kept += text
        return Demoted()

    def click(self, choice: Choice, at: float) -> Verdict:
        if self._pending or not self.is_ready(at) or at < self._clicks_from:
            self.rearm(at)
            return Stay()
        return Chosen(choice)

    def wake(self, at: float) -> Verdict:
        """Accept a letter as an answer if no other key followed it for long enough."""
        if not self._pending or at < self._commits_at:
            return Stay()
        choice = self.letters[self._pending]
        self._pending = ""
        return Chosen(choice)

    def _escape(self) -> Verdict:
        self._keep_pending()
        if self.step is Step.SCOPE:
            self.enter(Step.ASK)
            return Stay()
        return Chosen(Choice.CANCEL)

    def _erase(self, at: float) -> Verdict:
        if self._pending:
            self._pending = ""
        else:
            self._kept = self._kept[:-1]
        self._hold(at)
        return Stay()

    def _type(self, character: str, at: float) -> Verdict:
        if at >= self._moved_until:
            self._moved = ""
        if self._may_move(character, at):
            # Remembered for a moment: if a sentence follows, this was its beginning.
            self._moved, self._moved_until = self._moved + character, at + ARM
            self._hold(at)
            return Passed(character)
        if self._pending:
            return self._demote(character)
        if not self.is_ready(at):
            # One early answer leaves the dialog open; a second key means the user is typing.
            if character in self._answers() and not self._kept:
                self._kept, self._moved = self._moved + character, ""
                self._hold(at)
                return Stay()
            return self._demote(character)
        if character == " " and self.focused is not None:
            return Chosen(self.focused)
        return self._answer(character, at)

    def _may_move(self, character: str, at: float) -> bool:
        is_free = not self._pending and not self._kept and self.step is Step.ASK
        return character in self.moves and is_free and (self.is_ready(at) or bool(self._moved))

    def _answer(self, character: str, at: float) -> Verdict:
        if character not in self._answers():
            return self._demote(character)
        if self.step is Step.SCOPE:
            return Picked(int(character) - 1)
        self._pending = character
        self._commits_at = at + SOLO
        return Stay()

    def _answers(self) -> frozenset[str]:
        if self.step is Step.SCOPE:
            return frozenset(str(number + 1) for number in range(min(self.scopes, 9)))
        return frozenset(self.letters)

    def _command(self, key: str, at: float) -> Verdict:
        if self._pending or not self.is_ready(at):
            self._keep_pending()
            self._hold(at)
            return Passed(key)
        if key == "ctrl+y":
            return Chosen(Choice.ALLOW)
        if key in self.chords and self.step is Step.ASK:
            return Chosen(self.chords[key])
        if key == "enter" and self.focused is not None:
            return Chosen(self.focused)
        if key == "enter":
            # Enter is no answer here. It was meant for the prompt, and so may be what follows.
            self._hold(at)
            return Stay()
        if key in _MOVES:
            return Moved(_MOVES[key])
        return Passed(key)

    def _demote(self, character: str) -> Verdict:
        self._keep_pending()
        self._kept = f"{self._moved}{self._kept}{character}"
        self._moved = ""
        return Demoted()

    def _keep_pending(self) -> None:
        self._kept += self._pending
        self._pending = ""

    def _hold(self, at: float) -> None:
        self._armed_at = max(self._armed_at, at + ARM)


@dataclass(slots=True)
class QuietPeriod:
    """Ready after a moment without keys. All times are of one clock."""

    opened_at: float
    _armed_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._armed_at = self.opened_at + ARM

    def is_ready(self, at: float) -> bool:
        return at >= self._armed_at

    @property
    def wakes_at(self) -> float:
        return self._armed_at

    def rearm(self, at: float) -> None:
        self._armed_at = max(self._armed_at, at + ARM)
