"""Keeps typing from filling in a form: keys that come in a burst are a sentence, and are given back."""

import math
from dataclasses import dataclass, field

from coder_tui.ui.requests.key_guard import ARM, SOLO, Demoted, Passed, Stay


@dataclass(frozen=True, slots=True)
class Applied:
    """The key means something in the form."""

    key: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The burst is over, and it was meant."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What the burst did is taken back."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    pass


FormVerdict = Stay | Applied | Settled | Undone | Passed | Demoted | Cancelled

LETTERS = frozenset("123456789jkhl ")
_SENDS = frozenset({"enter", "ctrl+y"})
_STEPS = frozenset({"up", "down", "left", "right", "tab", "shift+tab"})


@dataclass(slots=True)
class QuestionGuard:
    """For one open form. All times are of one clock, keys bring the time they were pressed at.

    Letters fill the form in at once, but for a while they can be taken back: until then `release` has them.
    A single one and Enter is an answer; Enter after more of them is the end of a sentence.
    """

    opened_at: float
    _armed_at: float = field(init=False)
    _sends_from: float = field(default=-math.inf, init=False)
    _burst: str = field(default="", init=False)
    _kept: str = field(default="", init=False)
    _settles_at: float = field(default=math.inf, init=False)
    _has_enter: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._armed_at = self.opened_at + ARM

    def is_ready(self, at: float) -> bool:
        return self._is_open(at) and at >= self._sends_from

    @property
    def has_burst(self) -> bool:
        return bool(self._burst)

    @property
    def wakes_at(self) -> float:
        return self._settles_at if self._burst else max(self._armed_at, self._sends_from)

    def rearm(self, at: float) -> None:
        """The form was just shown: the next key may be meant for what was before."""
        self._armed_at = max(self._armed_at, at + ARM)

    def hold_enter(self, at: float) -> None:
        """Another page came up: an Enter that is still held down is not meant for it; other keys are."""
        self._sends_from = max(self._sends_from, at + ARM)

    def settle(self) -> None:
        """What was typed so far was meant: no sentence goes on in a field."""
        self._burst = ""

    def release(self) -> str:
        """What was typed without being meant for the form; handed out once."""
        typed, self._kept, self._burst = self._kept + self._burst, "", ""
        return typed

    def press(self, key: str, character: str | None, at: float) -> FormVerdict:
        if key in {"escape", "ctrl+c"}:
            self._burst = ""
            return Cancelled()
        if key == "backspace":
            return self._erase(at)
        if character is not None and character.isprintable():
            return self._type(character, at)
        if not self._is_open(at):
            self.rearm(at)
            return Passed(key)
        if key in _SENDS and at < self._sends_from:
            self.hold_enter(at)
            return Stay()
        if key == "enter":
            return self._enter(at)
        if key in _STEPS or (key == "ctrl+y" and not self._burst):
            return Applied(key)
        return Passed(key)

    def paste(self, text: str) -> FormVerdict:
        self._kept += self._burst + text
        self._burst = ""
        return Demoted()

    def wake(self, at: float, key: str = "") -> FormVerdict:
        """A burst that was followed by silence was meant, and so was one before a key that nobody types."""
        if not self._burst or (at < self._settles_at and key not in _STEPS):
            return Stay()
        self._burst = ""
        return Applied("enter") if self._has_enter else Settled()

    def _is_open(self, at: float) -> bool:
        return at >= self._armed_at

    def _type(self, character: str, at: float) -> FormVerdict:
        is_letter = character in LETTERS
        if not self._is_open(at):
            # One early letter leaves the form where it is; a second key is a sentence.
            if is_letter and not self._kept and not self._burst:
                self._kept = character
                self.rearm(at)
                return Stay()
            return self._demote(character)
        if not is_letter or (self._burst and self._has_enter):
            return self._demote(character)
        self._burst += character
        self._has_enter = False
        self._settles_at = at + SOLO
        return Applied("space" if character == " " else character)

    def _enter(self, at: float) -> FormVerdict:
        if not self._burst:
            return Applied("enter")
        if len(self._burst) == 1:
            self._has_enter = True
        self._settles_at = at + SOLO
        return Stay()

    def _erase(self, at: float) -> FormVerdict:
        if self._burst:
            self._burst = ""
            return Undone()
        self._kept = self._kept[:-1]
        self.rearm(at)
        return Stay()

    def _demote(self, character: str) -> FormVerdict:
        self._kept += self._burst + character
        self._burst = ""
        return Demoted()
