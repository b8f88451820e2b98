"""Settings of the screen."""

from typing import Literal

from coder_tui.config.section import Section

Thinking = Literal["hidden", "summary", "full"]
Approvals = Literal["letters", "chord"]


class UiSection(Section):
    theme: str = "coder-dark"
    motion: bool = True
    thinking: Thinking = "summary"
    approvals: Approvals = "letters"
