"""Settings of hooks: commands that run by themselves when something happens."""

import re
from typing import Literal

from pydantic import Field, field_validator

from coder_tui.config.section import Section

EVERY = ("", "*")
MOST_SECONDS = 600


class HookCommand(Section):
    """`timeout` is in seconds. `sandbox = false` is for the person's own: a project cannot leave it."""

    type: Literal["command"] = "command"
    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    sandbox: bool = True


class HookGroup(Section):
    """`matcher` is a regular expression over the names of tools; empty or `*` is every one."""

    matcher: str = ""
    hooks: tuple[HookCommand, ...] = ()

    @field_validator("matcher")
    @classmethod
    def _is_expression(cls, matcher: str) -> str:
        if matcher not in EVERY:
            try:
                re.compile(matcher)
            except re.error as error:
                raise ValueError(f"is no regular expression: {error}") from error
        return matcher


class HooksSection(Section):
    """By event, in the names that other programs use for them, too."""

    PreToolUse: tuple[HookGroup, ...] = ()
    PostToolUse: tuple[HookGroup, ...] = ()
    UserPromptSubmit: tuple[HookGroup, ...] = ()
    Stop: tuple[HookGroup, ...] = ()
    SubagentStop: tuple[HookGroup, ...] = ()
    SessionStart: tuple[HookGroup, ...] = ()
    SessionEnd: tuple[HookGroup, ...] = ()
    PreCompact: tuple[HookGroup, ...] = ()
    Notification: tuple[HookGroup, ...] = ()
