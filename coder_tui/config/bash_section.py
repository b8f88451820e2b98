"""Settings of the shell tool."""

from typing import Literal

from pydantic import Field

from coder_tui.config.section import Section


class BashSection(Section):
    shell: str = Field(default="/bin/sh", min_length=1)
    timeout_ms: int = Field(default=120_000, ge=1, le=600_000)
    output_limit_bytes: int = Field(default=30_000, ge=1)
    sandbox: Literal["auto", "required", "off"] = "auto"
    pass_environment: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
