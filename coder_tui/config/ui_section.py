"""Settings of the screen."""

from typing import Literal

from pydantic import Field

from coder_tui.config.section import Section

Thinking = Literal["hidden", "summary", "full"]
Approvals = Literal["letters", "chord"]


class UiSection(Section):
    """`keys` gives actions, by their ids, other keys; the screen checks them against its table."""

    theme: str = "coder-dark"
    motion: bool = True
    thinking: Thinking = "summary"
    approvals: Approvals = "letters"
    keys: dict[str, str] = Field(default_factory=dict)
