"""Write into the instructions what every later session should know, once the user approved where and how."""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import cast
from uuid import uuid4

from coder_tui.agent.calls.permissions import Permissions, ProposedCall
from coder_tui.agent.calls.runner import ToolRunner
from coder_tui.agent.event_bus import RequestBroker
from coder_tui.agent.pending import HeldAttachments
from coder_tui.agent.session_state import SessionContext
from coder_tui.config.paths import display_path
from coder_tui.config.trust import TrustedWrites
from coder_tui.protocol.errors import ErrorType, StorageError, ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Option, Question, QuestionRequest
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import Access, ToolContext
from coder_tui.tools.builtin.memory import MemoryParams, MemoryPlace, MemoryTool

TOOL = "memory"
NOWHERE = "Nothing was remembered: no place was chosen."
UNWANTED = "Nothing was remembered: you did not allow it."
HERE, EVERYWHERE = "This project", "All projects"


@dataclass(frozen=True, slots=True)
class InstructionWriter:
    """Writes for the user by the same rules and approvals as for the model."""

    context: SessionContext
    runner: ToolRunner
    permissions: Permissions
    broker: RequestBroker
    vouching: TrustedWrites
    held: HeldAttachments

    async def remember(self, fact: str, place: MemoryPlace | None = None) -> str:
        """Return the file that it was written to; raise `ToolError` if it was not written."""
        tool = self.runner.tool_of(TOOL)
        if not isinstance(tool, MemoryTool):
            raise ToolError(ErrorType.UNKNOWN_TOOL, "There is no memory here.")
        wanted = place or await self._asked(tool)
        return await self._write(tool.for_place(wanted), fact)

    async def _write(self, tool: MemoryTool, fact: str) -> str:
        params = cast(MemoryParams, parse_call(tool, json.dumps({"fact": fact}))[1])
        call_id = f"remember-{uuid4().hex}"
        context = ToolContext(self.context.id, call_id, self.context.directory)
        # Not recorded under a turn: an undo of what the agent did must not remove what the user wrote.
        access = replace(await tool.access(params, context), is_undoable=False)
        try:
            await self.permissions.approve(ProposedCall(call_id, tool, params, access, is_in_turn=False))
        except ToolError as error:
            if error.type is ErrorType.DENIED_BY_USER:
                raise ToolError(ErrorType.CANCELLED, UNWANTED) from error
            raise
        result = await tool.run(params, replace(context, access=access))
        await self._vouch(access)
        if result.changed_paths:
            self.runner.report_changes(result.changed_paths)
        # Instructions are read when a session begins: this one gets it with the next message.
        self.held.hold(Attachment("remembered", f"The user wants you to remember: {fact}"))
        return str(result.for_model["path"])

    async def _vouch(self, access: Access) -> None:
        """Trust what the user wrote and approved, so that it is read without another question."""
        vouch = self.vouching.vouch
        try:
            for text in access.proposed:
                if text.after is not None:
                    await asyncio.to_thread(vouch, text.path, text.before, text.after)
        except StorageError as error:
            self.context.bus.notify(NoticeLevel.WARNING, str(error))

    async def _asked(self, tool: MemoryTool) -> MemoryPlace:
        here = display_path(tool.for_place(MemoryPlace.PROJECT).file())
        own = display_path(tool.for_place(MemoryPlace.USER).file())
        name = tool.for_place(MemoryPlace.PROJECT).file().name
        is_read = tool.reads_project or await asyncio.to_thread(self.vouching.covers, name)
        untrusted = "" if is_read else "; read once you trust this folder"
        options = (Option(HERE, f"{here}{untrusted}"), Option(EVERYWHERE, f"{own}: your own instructions"))
        if not is_read:
            options = (options[1], options[0])
        question = Question("Where should this be remembered?", options, header="Remember")
        request_id = uuid4().hex
        asked = QuestionRequest(request_id, f"remember-{request_id}", (question,), tool=TOOL)
        reply = await self.broker.ask(asked)
        picked = reply.answers[0].picked if reply.answers else ()
        if HERE in picked:
            return MemoryPlace.PROJECT
        if EVERYWHERE in picked:
            return MemoryPlace.USER
        raise ToolError(ErrorType.CANCELLED, NOWHERE)
