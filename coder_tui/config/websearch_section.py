"""Settings of the search service."""

from pydantic import Field

from coder_tui.config.section import Section


class WebsearchSection(Section):
    base_url: str = Field(default="https://api.exa.ai", pattern=r"^https?://[^/\s@]+(/\S*)?$")
