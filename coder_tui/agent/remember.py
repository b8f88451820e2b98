"""Writes down what the person wants every later session to know, once they saw where and how."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import ErrorType, StorageError, ToolError
from coder_tui.protocol.events import FilesChanged, Notice
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionRequest
from coder_tui.tools.arguments import understand
from coder_tui.tools.base import Access, ToolContext
from coder_tui.tools.builtin.memory import MemoryParams, MemoryPlace, MemoryTool

if TYPE_CHECKING:
    from coder_tui.agent.session import SessionParts


TOOL = "memory"
NOWHERE = "Nothing was written down: no place was chosen."
UNWANTED = "Nothing was written down: you did not allow it."
HERE, EVERYWHERE = "This project", "All projects"


class Remembering:
    """The person's own wish goes the way of the model's: the same rules, the same approval."""

    def __init__(self, parts: "SessionParts") -> None:
        self._parts = parts

    async def remember(self, fact: str, place: MemoryPlace | None = None) -> str:
        """Returns where it stands now; `ToolError` says why it stands nowhere."""
        tool = self._parts.services.runner.tool_of(TOOL)
        if not isinstance(tool, MemoryTool):
            raise ToolError(ErrorType.UNKNOWN_TOOL, "There is no memory here.")
        wanted = place or await self._asked(tool)
        return await self._write(tool.at(wanted), fact)

    async def _write(self, tool: MemoryTool, fact: str) -> str:
        params = cast(MemoryParams, understand(tool, json.dumps({"fact": fact}))[1])
        info, desk = self._parts.info, self._parts.desk
        call_id = f"remember-{uuid4().hex}"
        context = ToolContext(info.id, call_id, Path(info.directory))
        # Not kept under a turn: an undo of what the agent did must not take the person's own words away.
        access = replace(await tool.access(params, context), is_undoable=False)
        try:
            await desk.clear(call_id, tool, params, access, is_repeat=False, is_in_turn=False)
        except ToolError as error:
            if error.type is ErrorType.DENIED_BY_USER:
                raise ToolError(ErrorType.CANCELLED, UNWANTED) from error
            raise
        result = await tool.run(params, replace(context, access=access))
        await self._vouch(access)
        if result.changed_paths:
            self._parts.bus.publish(FilesChanged(result.changed_paths))
        # Instructions are read when a session begins: this one hears of it by the next message.
        self._parts.services.held.hold(Attachment("remembered", f"The person wants you to remember: {fact}"))
        return str(result.for_model["path"])

    async def _vouch(self, access: Access) -> None:
        """What the person wrote and approved needs no other yes of theirs to be read."""
        vouch = self._parts.vouching.vouch
        try:
            for text in access.proposed:
                if text.after is not None:
                    await asyncio.to_thread(vouch, text.path, text.before, text.after)
        except StorageError as error:
            self._parts.bus.publish(Notice(NoticeLevel.WARNING, str(error)))

    async def _asked(self, tool: MemoryTool) -> MemoryPlace:
        here = display_path(tool.at(MemoryPlace.PROJECT).file())
        own = display_path(tool.at(MemoryPlace.USER).file())
        name = tool.at(MemoryPlace.PROJECT).file().name
        is_read = tool.reads_project or await asyncio.to_thread(self._parts.vouching.covers, name)
        untrusted = "" if is_read else "; read once you trust this folder"
        options = (Option(HERE, f"{here}{untrusted}"), Option(EVERYWHERE, f"{own}: your own instructions"))
        if not is_read:
            options = (options[1], options[0])
        question = Question("Where shall this be remembered?", options, header="Remember")
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"remember-{request_id}", (question,), tool=TOOL)
        reply = await self._parts.broker.ask(asked)
        picked = reply.answers[0].picked if reply.answers else ()
        if HERE in picked:
            return MemoryPlace.PROJECT
        if EVERYWHERE in picked:
            return MemoryPlace.USER
        raise ToolError(ErrorType.CANCELLED, NOWHERE)
