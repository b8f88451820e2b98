"""Settings of language servers, by name: a known one is changed, any other added."""

from typing import Any

from pydantic import Field, field_validator

from coder_tui.config.section import Section

EVERY_SERVER = "*"
"""The name that stands for all of them."""


class LspServerSection(Section):
    """`command` in words, or as one text without quoting; what is left out stays as it is known."""

    enabled: bool | None = None
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    language_id: str = ""
    root_markers: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    initialization: dict[str, Any] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    network: bool = False

    @field_validator("command", mode="before")
    @classmethod
    def _in_words(cls, value: object) -> object:
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("extensions")
    @classmethod
    def _with_dots(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f".{suffix.lstrip('.')}" for suffix in value)


LspTable = dict[str, LspServerSection]
