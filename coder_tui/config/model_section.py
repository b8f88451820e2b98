"""Settings of the model and the way to it."""

from typing import Annotated, Literal

from pydantic import Field

from coder_tui.config.section import Section

Effort = Literal["", "minimal", "low", "medium", "high"]


class ModelSection(Section):
    """Empty text means that nothing was chosen: the provider's default holds."""

    name: str = ""
    small: str = ""
    api_base: str = ""
    effort: Effort = ""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    idle_timeout_sec: float = Field(default=120, gt=0)
    max_retries: int = Field(default=5, ge=0)
    proxy: str = ""
    ca_bundle: str = ""
