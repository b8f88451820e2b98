"""Settings of the commands that bring further tools."""

from pydantic import Field

from coder_tui.config.section import Section


class ToolsSection(Section):
    """`discovery_command` prints tools as JSON; `call_command` gets the name of one and its arguments."""

    discovery_command: str = ""
    call_command: str = ""
    discovery_timeout_sec: float = Field(default=30.0, gt=0, le=600)
    call_timeout_sec: float = Field(default=120.0, gt=0, le=3600)
