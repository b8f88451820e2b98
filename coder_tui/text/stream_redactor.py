"""Redaction for text that arrives in pieces: what may be the beginning of a secret waits for the rest."""

from collections.abc import Callable

from coder_tui.text.redact import Redactor

_LONGEST_LINE = 8 * 1024
_KEPT = 1024
_LONGEST_BLOCK = 20 * 1024
_BLOCK = "-----BEGIN"
_BLOCK_END = "-----END"


class KnownStream:
    """Hides this process's own secrets; holds back only the beginning of one, so that a screen stays live."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._longest = max(map(len, redact.forms), default=1) - 1
        self._starts = frozenset(form[0] for form in redact.forms)
        self._held = ""

    def feed(self, chunk: str) -> str:
        text = self._held + chunk
        end = self._before_secrets(text, self._begun(text))
        self._held = text[end:]
        return self._redact.known(text[:end])

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return self._redact.known(rest)

    def _begun(self, text: str) -> int:
        """Where a secret may have begun that is not complete; the end where none has."""
        for place in range(max(0, len(text) - self._longest), len(text)):
            if text[place] in self._starts:
                tail = text[place:]
                if any(len(form) > len(tail) and form.startswith(tail) for form in self._redact.forms):
                    return place
        return len(text)

    def _before_secrets(self, text: str, end: int) -> int:
        """A cut at `end` must not go through a complete secret whose last characters begin another."""
        while end < len(text):
            spans = (
                text.find(form, max(0, end - len(form) + 1), end + len(form) - 1)
                for form in self._redact.forms
            )
            start = min((place for place in spans if 0 <= place < end), default=end)
            if start == end:
                break
            end = start
        return end


class LineStream:
    """Hides known secrets and shapes: works on whole lines and whole key blocks, in bounded memory."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._held = ""

    def feed(self, chunk: str) -> str:
        self._held += chunk
        if "\n" not in chunk and len(self._held) <= _LONGEST_LINE:
            return ""
        return self._release(self._end_of_whole())

    def finish(self) -> str:
        return self._release(len(self._held))

    def _release(self, end: int) -> str:
        ready, self._held = self._held[:end], self._held[end:]
        return self._redact(ready) if ready else ""

    def _end_of_whole(self) -> int:
        """Where what can be looked at as a whole ends: a line, a key block, a part of a line without end."""
        end = self._held.rfind("\n") + 1
        block = self._held.rfind(_BLOCK)
        if block >= 0 and self._held.find(_BLOCK_END, block, end) < 0 and len(self._held) < _LONGEST_BLOCK:
            return self._held.rfind("\n", 0, block) + 1
        if len(self._held) - end > _LONGEST_LINE:
            blank = self._held.rfind(" ", end, len(self._held) - 1)
            end = blank + 1 if blank > len(self._held) - _KEPT else len(self._held) - _KEPT
        return end
