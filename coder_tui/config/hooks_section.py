"""Settings of hooks: commands that run by themselves when something happens."""

from typing import Literal

from pydantic import Field, field_validator

from coder_tui.config.section import Section
from coder_tui.text.name_pattern import name_pattern

EVERY = ("", "*")
MOST_SECONDS = 600


class HookCommand(Section):
    """`timeout` is in seconds. `sandbox = false` is for the person's own: a project cannot leave it.

    `on_failure` is what becomes of that which a hook stands before and has no word on; without it a call is
    asked about, and all else goes on.
    """

    type: Literal["command"] = "command"
    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    sandbox: bool = True
    on_failure: Literal["ask", "deny", "allow"] | None = None


class HookGroup(Section):
    """`matcher` is a regular expression over the names of tools; empty or `*` is every one."""

    matcher: str = ""
    hooks: tuple[HookCommand, ...] = ()

    @field_validator("matcher")
    @classmethod
    def _is_expression(cls, matcher: str) -> str:
        if matcher not in EVERY:
            name_pattern(matcher)
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

    @field_validator(
        "PostToolUse",
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
        "SessionStart",
        "SessionEnd",
        "PreCompact",
        "Notification",
    )
    @classmethod
    def _asks_nobody(cls, groups: tuple[HookGroup, ...]) -> tuple[HookGroup, ...]:
        if any(hook.on_failure == "ask" for group in groups for hook in group.hooks):
            raise ValueError('cannot have on_failure = "ask": only calls can be asked about')
        return groups
