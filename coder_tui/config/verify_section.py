"""Settings of the check that runs after turns that changed something."""

from pydantic import Field

from coder_tui.config.section import Section


class VerifySection(Section):
    """An empty `command` leaves it to what the person chose for the folder; `enabled` off runs none."""

    enabled: bool = True
    command: str = ""
    max_rounds: int = Field(default=3, ge=0)
    timeout_sec: float = Field(default=300, gt=0, le=600)
