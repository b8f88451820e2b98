"""How long to wait for a language server, learnt from how it answered so far."""

from collections import deque

FIRST_RESULT = 8.0
SHORTEST, LONGEST = 1.0, 5.0
VERSIONED_QUIET, UNVERSIONED_QUIET = 0.15, 0.3
_REMEMBERED = 20
_MULTIPLE = 4.0
_ENOUGH_SINGLE = 2


class Pace:
    """Of one server in one folder."""

    def __init__(self) -> None:
        self._durations: deque[float] = deque(maxlen=_REMEMBERED)
        self._single = 0
        self._has_repeated = False
        self.names_versions = False
        """Whether it says which text a word is about."""
        self.pushes_beside = False
        """Whether it publishes some findings and hands out others on request."""

    def took(self, seconds: float) -> None:
        """A result came this long after the text was sent."""
        self._durations.append(seconds)

    @property
    def budget(self) -> float:
        """How long an edit waits: four times what is usual, within bounds; a first result may take longer."""
        if not self._durations:
            return FIRST_RESULT
        return min(max(_MULTIPLE * self.usual, SHORTEST), LONGEST)

    @property
    def usual(self) -> float:
        """Seconds after which nearly all results were there."""
        if not self._durations:
            return SHORTEST
        ordered = sorted(self._durations)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]

    def published(self, times: int) -> None:
        """A version that is over was published so many times."""
        if times == 1:
            self._single += 1
        elif times > 1:
            self._has_repeated = True

    def quiet(self, *, is_versioned: bool, is_overlapping: bool) -> float:
        """How long nothing more must come before a published result counts as whole.

        `is_overlapping` says that an earlier text is still to be answered: without versions nobody knows
        which of the two a result is about.
        """
        publishes_once = self._single >= _ENOUGH_SINGLE and not self._has_repeated
        if publishes_once and (is_versioned or not is_overlapping):
            return 0.0
        return VERSIONED_QUIET if is_versioned else UNVERSIONED_QUIET
