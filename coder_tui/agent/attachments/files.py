"""Attach the files that a message mentions by `@`, by the same rules as reading them.

The first message of a session also gets the state of the repository.
"""

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.agent.calls.permissions import Permissions, ProposedCall
from coder_tui.llm.traits import traits_of
from coder_tui.policy.paths import is_within
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.events import Event, Notice, UserMessageAdded
from coder_tui.protocol.messages import Attachment, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.mentions import Mention, find_mentions
from coder_tui.text.redact import Redactor
from coder_tui.tools.base import Access, Tool, ToolContext
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.images import Picture, picture_at, picture_data

MOST_FILES = 20
MOST_TEXT = 20_000
"""Characters that are searched for mentions: longer text was pasted, and mentions nothing on purpose."""
MOST_LINES = 2_000
MOST_CHARACTERS = 50_000
"""Of one file; after that no further page is read."""
NOT_ATTACHED = "(not attached: "
_PAGE = 200


@dataclass(frozen=True, slots=True)
class _Found:
    """A mention of something that exists, with what reading it would touch."""

    mention: Mention
    params: Any
    access: Access
    located: Located


@dataclass(frozen=True, slots=True)
class Attachments:
    """`read` is the tool whose rules apply; `model` names the model that will see the files."""

    read: Tool[Any]
    workspace: Workspace
    permissions: Permissions
    redact: Redactor
    model: Callable[[], str]
    notify: Callable[[NoticeLevel, str], None]

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        """Attach what the text mentions, each once, in order; a mention of nothing is just a word."""
        named: dict[str, _Found] = {}
        for readings in dict.fromkeys(find_mentions(text[:MOST_TEXT])):
            found = await self._first(readings)
            if found is not None:
                named.setdefault(found.mention.label, found)
        if len(named) > MOST_FILES:
            self.notify(NoticeLevel.WARNING, f"Only the first {MOST_FILES} of {len(named)} are attached.")
        return tuple([await self._attached(found) for found in list(named.values())[:MOST_FILES]])

    async def _first(self, readings: tuple[Mention, ...]) -> _Found | None:
        for mention in readings:
            try:
                located = await asyncio.to_thread(self.workspace.locate, mention.path)
                if not located.is_inside and not await asyncio.to_thread(os.path.exists, located.path):
                    continue
                params = self.read.params(path=mention.path)
                access = await self.read.access(params, self._context())
            except ToolError:
                continue
            if access is not None:
                return _Found(mention, params, access, located)
        return None

    async def _attached(self, found: _Found) -> Attachment:
        label = found.mention.label
        try:
            picture = await self._picture(found)
            self._check_place(found, picture)
            await self.permissions.approve(
                ProposedCall(uuid4().hex, self.read, found.params, found.access, is_users=True)
            )
            if picture is not None:
                return await self._image(found, picture)
            return await self._text(found)
        except ToolError as error:
            self.notify(
                NoticeLevel.WARNING, f"@{label} is not attached: {error.message} {error.hint}".strip()
            )
            return Attachment(label, f"{NOT_ATTACHED}{error.message})")

    def _check_place(self, found: _Found, picture: Picture | None) -> None:
        """Allow pictures anywhere, such as on the user's desktop: the user is asked about those."""
        boundaries = self.permissions.policy.boundaries
        if picture is None and not is_within(str(found.located.path), boundaries.roots + boundaries.readable):
            raise ToolError(
                ErrorType.PERMISSION_DENIED,
                "it is outside the workspace.",
                "Add its folder with --add-dir or workspace.extra_roots.",
            )

    async def _text(self, found: _Found) -> Attachment:
        """Read page by page through the tool, so that it records the file as read."""
        mention = found.mention
        offset, end = max(1, mention.first), mention.last or MOST_LINES
        pieces: list[str] = []
        has_more = True
        while has_more and offset <= end and sum(map(len, pieces)) < MOST_CHARACTERS:
            limit = min(_PAGE, end - offset + 1)
            params = self.read.params(path=mention.path, offset=offset, limit=limit)
            result = await self.read.run(params, self._context(found.access))
            if "items" in result.for_model:  # a folder
                shown = result.for_user
                return Attachment(mention.label, shown.text if isinstance(shown, TextBlock) else "")
            pieces.append(str(result.for_model["content"]))
            has_more = bool(result.for_model["has_more"])
            offset = int(result.for_model["end_line"]) + 1
        is_whole = not has_more or (mention.last and offset > end)
        more = "" if is_whole else f"\n(cut here; read goes on with offset {offset})"
        return Attachment(mention.label, self.redact.known("\n".join(pieces)) + more)

    async def _picture(self, found: _Found) -> Picture | None:
        try:
            return await asyncio.to_thread(picture_at, found.located)
        except ToolError:
            return None

    async def _image(self, found: _Found, picture: Picture) -> Attachment:
        label, model = found.mention.label, self.model()
        if not traits_of(model).sees_images:
            raise ToolError(ErrorType.BINARY_FILE, f"it is a picture, and {model} does not see pictures.")
        data = await asyncio.to_thread(picture_data, found.located)
        words = f"{picture.media_type} {picture.size}".rstrip()
        return Attachment(label, words, picture.media_type, base64.b64encode(data).decode())

    def _context(self, access: Access | None = None) -> ToolContext:
        return ToolContext("", uuid4().hex, Path(self.workspace.root), access=access)


def message_events(message: UserMessage) -> Iterator[Event]:
    """Yield the events that show a message and name its attachments."""
    yield UserMessageAdded(message.id, message.text, message.is_typed)
    shown = (each for each in message.attachments if each.label != GIT_STATE)
    kept = [each for each in shown if not each.text.startswith(NOT_ATTACHED)]
    labels = [f"{each.label} ({each.text})" if each.data else each.label for each in kept]
    if labels:
        yield Notice(NoticeLevel.INFO, f"Attached for the model: {', '.join(labels)}")


GIT_STATE = "git state when this message was sent"
MOST_STATE_LINES = 30
STATE_PATIENCE = 2.0
"""Seconds that the first message may wait for it."""


class GitReminder:
    """Adds to the first message of a session, and again if it is resumed. `status` is the git_status tool."""

    def __init__(self, status: Tool[Any], directory: Path) -> None:
        self._status = status
        self._directory = directory
        self._is_sent = False

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        if self._is_sent:
            return ()
        self._is_sent = True
        lines = await _status_lines(self._status, self._directory, STATE_PATIENCE)
        more = [f"(and {len(lines) - MOST_STATE_LINES} more)"] if len(lines) > MOST_STATE_LINES else []
        said = "\n".join([*lines[:MOST_STATE_LINES], *more])
        return (Attachment(GIT_STATE, said),) if said else ()


async def _status_lines(status: Tool[Any], directory: Path, patience: float) -> list[str]:
    """Return no lines without git, without a repository, or for a huge one: the model can still ask."""
    context = ToolContext("", uuid4().hex, directory)
    try:
        async with asyncio.timeout(patience):
            result = await status.run(status.params(short=True), context)
    except (ToolError, TimeoutError):
        return []
    return str(result.for_model.get("content", "")).splitlines()


CHANGES_PATIENCE = 5.0
_BRANCH = "##"

HasChanges = Callable[[], Awaitable[bool]]


def git_changes(status: Tool[Any], directory: Path) -> HasChanges:
    """Return a function that looks for uncommitted changes by the git_status tool, which runs no hooks."""

    async def has_changes() -> bool:
        lines = await _status_lines(status, directory, CHANGES_PATIENCE)
        return any(not line.startswith(_BRANCH) for line in lines)

    return has_changes
