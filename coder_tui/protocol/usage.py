"""Tokens and money of model calls."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call (or a sum of calls) consumed; `cost` is in dollars, None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def words(self) -> str:
        """In a line: money, tokens, and what of them came from a cache or went into reasoning."""
        price = "price unknown" if self.cost is None else f"${self.cost:.4f}"
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        reasoned = f" ({self.reasoning_tokens:,} reasoned)" if self.reasoning_tokens else ""
        return f"{price}, {self.input_tokens:,} tokens in{cached}, {self.output_tokens:,} out{reasoned}"

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(known) if known else None,
        )
