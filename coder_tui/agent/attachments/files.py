"""Brings along what a message names by `@`, for the model: by the rules that hold for reading it."""

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.agent.attachments.git_state import GIT_STATE
from coder_tui.agent.calls.permissions import PermissionDesk
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
"""Characters in which names are looked for: what is longer was pasted, and names nothing on purpose."""
MOST_LINES = 2_000
MOST_CHARACTERS = 50_000
"""Of one file; after so many no further page of it is read."""
NOT_ATTACHED = "(not attached: "
_PAGE = 200


@dataclass(frozen=True, slots=True)
class _Found:
    """A mention that names something, with what reading it would touch."""

    mention: Mention
    params: Any
    access: Access
    located: Located


class Attachments:
    """`read` is the tool whose rules hold; `model` tells who will see it, `notify` reaches the person."""

    def __init__(
        self,
        read: Tool[Any],
        workspace: Workspace,
        desk: PermissionDesk,
        redact: Redactor,
        model: Callable[[], str],
        notify: Callable[[NoticeLevel, str], None],
    ) -> None:
        self._read = read
        self._workspace = workspace
        self._desk = desk
        self._redact = redact
        self._model = model
        self._notify = notify

    async def of(self, text: str) -> tuple[Attachment, ...]:
        """What the text names, each once, in its order; a name that leads nowhere is just a word."""
        named: dict[str, _Found] = {}
        for readings in dict.fromkeys(find_mentions(text[:MOST_TEXT])):
            found = await self._first(readings)
            if found is not None:
                named.setdefault(found.mention.label, found)
        if len(named) > MOST_FILES:
            self._notify(NoticeLevel.WARNING, f"Only the first {MOST_FILES} of {len(named)} are attached.")
        return tuple([await self._attached(found) for found in list(named.values())[:MOST_FILES]])

    async def _first(self, readings: tuple[Mention, ...]) -> _Found | None:
        for mention in readings:
            try:
                located = await asyncio.to_thread(self._workspace.locate, mention.path)
                if not located.is_inside and not await asyncio.to_thread(os.path.exists, located.path):
                    continue
                params = self._read.params(path=mention.path)
                access = await self._read.access(params, self._context())
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
            await self._desk.clear(
                uuid4().hex, self._read, found.params, found.access, is_repeat=False, is_persons=True
            )
            if picture is not None:
                return await self._image(found, picture)
            return await self._text(found)
        except ToolError as error:
            self._notify(
                NoticeLevel.WARNING, f"@{label} is not attached: {error.message} {error.hint}".strip()
            )
            return Attachment(label, f"{NOT_ATTACHED}{error.message})")

    def _check_place(self, found: _Found, picture: Picture | None) -> None:
        """A picture may lie anywhere, on the person's desktop for instance: then it is asked about."""
        boundaries = self._desk.policy.boundaries
        if picture is None and not is_within(str(found.located.path), boundaries.roots + boundaries.readable):
            raise ToolError(
                ErrorType.PERMISSION_DENIED,
                "it lies outside of the workspace.",
                "Add its folder by --add-dir or workspace.extra_roots.",
            )

    async def _text(self, found: _Found) -> Attachment:
        """Page by page through the tool: what it notes of a file that was read holds here too."""
        mention = found.mention
        offset, end = max(1, mention.first), mention.last or MOST_LINES
        pieces: list[str] = []
        has_more = True
        while has_more and offset <= end and sum(map(len, pieces)) < MOST_CHARACTERS:
            limit = min(_PAGE, end - offset + 1)
            params = self._read.params(path=mention.path, offset=offset, limit=limit)
            result = await self._read.run(params, self._context(found.access))
            if "items" in result.for_model:  # a folder
                return Attachment(mention.label, _shown(result.for_user))
            pieces.append(str(result.for_model["content"]))
            has_more = bool(result.for_model["has_more"])
            offset = int(result.for_model["end_line"]) + 1
        is_whole = not has_more or (mention.last and offset > end)
        more = "" if is_whole else f"\n(cut here; read goes on with offset {offset})"
        return Attachment(mention.label, self._redact.known("\n".join(pieces)) + more)

    async def _picture(self, found: _Found) -> Picture | None:
        try:
            return await asyncio.to_thread(picture_at, found.located)
        except ToolError:
            return None

    async def _image(self, found: _Found, picture: Picture) -> Attachment:
        label, model = found.mention.label, self._model()
        if not traits_of(model).sees_images:
            raise ToolError(ErrorType.BINARY_FILE, f"it is a picture, and {model} does not see pictures.")
        data = await asyncio.to_thread(picture_data, found.located)
        words = f"{picture.media_type} {picture.size}".rstrip()
        return Attachment(label, words, picture.media_type, base64.b64encode(data).decode())

    def _context(self, access: Access | None = None) -> ToolContext:
        return ToolContext("", uuid4().hex, Path(self._workspace.root), access=access)


def _shown(block: object) -> str:
    return block.text if isinstance(block, TextBlock) else ""


def told(message: UserMessage) -> Iterator[Event]:
    """A message as it is shown: with a word on what went along with it."""
    yield UserMessageAdded(message.id, message.text, message.is_typed)
    shown = (each for each in message.attachments if each.label != GIT_STATE)
    kept = [each for each in shown if not each.text.startswith(NOT_ATTACHED)]
    labels = [f"{each.label} ({each.text})" if each.data else each.label for each in kept]
    if labels:
        yield Notice(NoticeLevel.INFO, f"Attached for the model: {', '.join(labels)}")


Attach = Callable[[str], Awaitable[tuple[Attachment, ...]]]


def both(first: Attach, second: Attach) -> Attach:
    """What either finds in a message, in this order."""

    async def attach(text: str) -> tuple[Attachment, ...]:
        return (*await first(text), *await second(text))

    return attach


async def no_attachments(text: str) -> tuple[Attachment, ...]:
    """For a session whose messages are taken as they are."""
    return ()
