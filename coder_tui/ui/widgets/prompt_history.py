"""What was sent before, to walk through from the prompt without losing what stands in it."""

from collections.abc import Callable, Iterable


def keep_in_memory(text: str) -> None:
    """For a history that ends with the program."""


class PromptHistory:
    """Older entries first, each once. While walking, each edit stays at its place until something is sent."""

    def __init__(self, entries: Iterable[str], append: Callable[[str], object]) -> None:
        """`append` is told each new entry, to keep it beyond this run."""
        self._append = append
        self._entries: list[str] = []
        self._edits: dict[int, str] = {}
        self._place = 0
        self.seed(entries)

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def seed(self, entries: Iterable[str]) -> None:
        """Put earlier entries before those there are; who walks among these stays where they are."""
        before = len(self._entries)
        known = [*entries, *self._entries]
        self._entries = list(dict.fromkeys(reversed([entry for entry in known if entry.strip()])))[::-1]
        added = len(self._entries) - before
        self._place += added
        self._edits = {place + added: text for place, text in self._edits.items()}

    def add(self, text: str) -> None:
        if not text.strip():
            return
        self._entries = [entry for entry in self._entries if entry != text]
        self._entries.append(text)
        self._rest()
        self._append(text)

    def older(self, text: str) -> str | None:
        """The entry before; `text` is what stands in the prompt now."""
        return self._move(text, -1)

    def newer(self, text: str) -> str | None:
        return self._move(text, 1)

    def _move(self, text: str, by: int) -> str | None:
        place = self._place + by
        if not 0 <= place <= len(self._entries):
            return None
        self._edits[self._place] = text
        self._place = place
        original = self._entries[place] if place < len(self._entries) else ""
        return self._edits.get(place, original)

    def _rest(self) -> None:
        self._place = len(self._entries)
        self._edits.clear()
