"""Settings of where a turn stops by itself."""

from typing import Annotated

from pydantic import Field

from coder_tui.config.section import Section


class LimitsSection(Section):
    """None means no limit."""

    max_steps: int = Field(default=200, ge=1)
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_minutes: Annotated[float, Field(gt=0)] | None = None
    repeated_calls: int = Field(default=3, ge=2)
