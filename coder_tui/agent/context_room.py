"""How much of a model's window is for what, in tokens."""

from dataclasses import dataclass

PRUNE_AT = 0.70
SUMMARISE_AT = 0.85
UNKNOWN_WINDOW = 32_000
"""Taken where nobody knows the model's window: what is left then fits nearly all of them."""
_LEAST_FREE = 1_000


@dataclass(frozen=True, slots=True)
class Room:
    """`fixed` is what every request carries: instructions and tools. Shares are of what they leave."""

    window: int
    fixed: int = 0

    @property
    def free(self) -> int:
        return max(round(self.window * SUMMARISE_AT) - self.fixed, _LEAST_FREE)

    @property
    def tail(self) -> int:
        """Of the newest messages, as they are."""
        return min(self.free * 27 // 100, 15_000)

    @property
    def words(self) -> int:
        """Of the person's own words, pins among them, beside a summary: a quarter of a large window."""
        return self.free * 30 // 100

    @property
    def summary(self) -> int:
        return self.free * 12 // 100

    @property
    def skills(self) -> int:
        return self.free * 10 // 100

    @property
    def list(self) -> int:
        """Of each list beside a summary: todos, changed files, problems."""
        return self.free * 3 // 100

    @property
    def note(self) -> int:
        """Of all that stands for the older messages."""
        return self.words + self.summary + self.skills + 3 * self.list

    @property
    def material(self) -> int:
        """Of what is shown to whoever writes a summary; the rest is for what they write."""
        return self.window * 70 // 100

    @property
    def protected(self) -> int:
        """Of the newest results, which are not left out."""
        return min(self.window // 5, 40_000)

    @property
    def worthwhile(self) -> int:
        """Leaving out less than this would only cost the provider's cache."""
        return min(self.window // 10, 20_000)
