"""What is known of a model: its window, its price, its senses."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Tokens, and dollars per million tokens; None where nobody knows."""

    context_window: int | None = None
    max_output: int | None = None
    input_cost: float | None = None
    output_cost: float | None = None
    supports_vision: bool | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None
