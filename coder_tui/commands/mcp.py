"""Prompts of MCP servers as commands: `/server:prompt` calls one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coder_tui.commands.base import Command, Intent, Run, Say, Source, Submit
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.mcp.prompts import OfferedPrompt


def with_prompts(commands: Iterable[Command], prompts: "Iterable[OfferedPrompt]") -> tuple[Command, ...]:
    """The commands, then one for each prompt whose name is still free."""
    table = {command.name: command for command in commands}
    for prompt in prompts:
        table.setdefault(prompt.command, _command(prompt))
    return tuple(table.values())


def _command(prompt: "OfferedPrompt") -> Command:
    words = safe_line(prompt.info.description or prompt.info.name)
    return Command(prompt.command, words, _caller(prompt), safe_line(prompt.usage), source=Source.MCP)


def _caller(prompt: "OfferedPrompt") -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        from coder_tui.mcp.prompts import PromptArgumentsError  # the menu is needed before

        try:
            prompt.filled(argument)
        except PromptArgumentsError as error:
            return Say(f"{error}", NoticeLevel.WARNING)
        # The message itself calls the prompt; what the server says goes along.
        return Submit(f"/{prompt.command} {argument}".rstrip())

    return run
