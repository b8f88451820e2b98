"""Reads an editor's prompt: text, slash commands, mentioned files, and attached text and pictures.

`EditorFiles` protects unsaved changes in the editor: such a file is not changed on the disk.
"""

import asyncio
import base64
import binascii
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never
from urllib.parse import unquote, urlsplit

from acp import Client, RequestError, schema
from acp.helpers import ContentBlock, update_available_commands

from coder_tui.agent.session import Session
from coder_tui.commands import base as intents
from coder_tui.commands.base import Called, Command, Commands, Source
from coder_tui.commands.builtin import builtin_commands, with_custom, with_prompts, with_skills
from coder_tui.protocol.access import TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError, UsageError
from coder_tui.protocol.messages import Attachment
from coder_tui.text.mentions import mention
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.base import Access
from coder_tui.workspace.files.confine import relative_name

LONGEST = 200_000
"""Most characters of an attached text, such as an unsaved file of the editor."""
LARGEST_PICTURE = 20_000_000
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    attachments: tuple[Attachment, ...]


def read_prompt(blocks: Iterable[ContentBlock], directory: Path) -> Prompt:
    """Read a prompt. Raises `UsageError` for content that cannot be sent to a model."""
    words: list[str] = []
    along: list[Attachment] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock():
                words.append(block.text)
            case schema.ResourceContentBlock():
                words.append(_named(block.uri, directory))
            case schema.EmbeddedResourceContentBlock():
                attachment = _resource(block.resource, directory)
                words.append(f"[{attachment.label}]")
                along.append(attachment)
            case schema.ImageContentBlock():
                along.append(_picture(block, len(along) + 1))
            case schema.AudioContentBlock():
                raise UsageError("audio is not supported; send text or a picture")
    text = "".join(words).strip()
    if not text and not along:
        raise UsageError("the prompt is empty")
    return Prompt(text or "Look at what is attached.", tuple(along))


def _named(uri: str, directory: Path) -> str:
    """Turn a file address into a mention, which is read by the usual rules. Keep other addresses."""
    path = _path(uri, directory)
    return uri if path is None else f" {mention(path)} "


def _path(uri: str, directory: Path) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = Path(unquote(parts.path))
    return relative_name(path, directory)


def _resource(
    resource: schema.TextResourceContents | schema.BlobResourceContents, directory: Path
) -> Attachment:
    label = _path(resource.uri, directory) or resource.uri
    match resource:
        case schema.TextResourceContents(text=text):
            cut = "" if len(text) <= LONGEST else f"\n(cut off here; {len(text) - LONGEST:,} more characters)"
            return Attachment(label, text[:LONGEST] + cut)
        case schema.BlobResourceContents():
            return Attachment(label, f"({resource.mime_type or 'binary'}, not shown)")


def _picture(block: schema.ImageContentBlock, number: int) -> Attachment:
    if block.mime_type not in PICTURES:
        raise UsageError(f"pictures of type {block.mime_type} are not supported; send PNG, JPEG, GIF or WebP")
    try:
        size = len(base64.b64decode(block.data, validate=True))
    except binascii.Error as error:
        raise UsageError("the data of a picture is not valid base64") from error
    if size > LARGEST_PICTURE:
        raise UsageError(f"a picture is too large: {size:,} bytes; the limit is {LARGEST_PICTURE:,}")
    return Attachment(f"picture {number}", block.mime_type, block.mime_type, block.data)


log = logging.getLogger(__name__)
LARGEST = 5_000_000
SECONDS = 5.0
_MOST_FILES = 50


class EditorFiles:
    """Reads files through the editor, which returns the text of its buffer."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def check(self, access: Access) -> None:
        """Raise if a file that the call writes has unsaved changes in the editor."""
        changed = [
            Path(target.value)
            for target in access.targets
            if target.writes and target.kind is TargetKind.PATH
        ]
        for path in changed[:_MOST_FILES]:
            await self._check(path)

    async def _check(self, path: Path) -> None:
        saved = await asyncio.to_thread(_disk_text, path)
        edited = await self._editor_text(path) if saved is not None else None
        if edited is not None and _normalized(edited) != saved:
            raise ToolError(
                ErrorType.STALE_FILE,
                f"{path.name} has unsaved changes in the editor.",
                "ask the user to save or discard them, then read the file again.",
                {"path": str(path)},
            )

    async def _editor_text(self, path: Path) -> str | None:
        """Return the text in the editor, or None if the editor does not provide it."""
        reading = self._client.read_text_file(session_id=self._session_id, path=str(path))
        try:
            async with asyncio.timeout(SECONDS):
                return (await reading).content
        except (RequestError, TimeoutError) as error:
            log.info("the editor did not provide its text of %s: %r", path, error)
            return None


def _disk_text(path: Path) -> str | None:
    """Return the text on the disk, or None if there is no such file or it is not text."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return _normalized(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError):
        return None


def _normalized(text: str) -> str:
    """Normalize line endings and the byte order mark, which editors keep apart from the text."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


# Commands that only open a screen are left out.
_OF_THE_EDITOR = frozenset({"mode", "new", "quit", "copy", "fork"})
"""The editor has its own way to do these."""


def commands_of(session: Session) -> tuple[Command, ...]:
    table = with_custom(with_skills(builtin_commands(), session.report.skills), session.report.commands)
    table = with_prompts(table, session.mcp.prompts)
    return tuple(command for command in table if _is_useful(command))


def _is_useful(command: Command) -> bool:
    return command.source is not Source.BUILTIN or (
        command.opens is None and command.name not in _OF_THE_EDITOR
    )


def available_commands(session: Session) -> schema.AvailableCommandsUpdate:
    return update_available_commands(
        schema.AvailableCommand(
            name=command.name,
            description=safe_line(command.summary),
            input=_input(command.argument) if command.argument else None,
        )
        for command in commands_of(session)
    )


def _input(hint: str) -> schema.AvailableCommandInput:
    return schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint=safe_line(hint)))


async def run_command(session: Session, text: str, say: Callable[[str], None]) -> str | None:
    """Run the command in `text`. Returns what to send to the model, or None if nothing is left to do."""
    found = Commands(commands_of(session)).read(text)
    if not isinstance(found, Called):
        return text
    return _carry_out(await found.command.run(session, found.argument), session, say)


def _carry_out(intent: intents.Intent, session: Session, say: Callable[[str], None]) -> str | None:
    match intent:
        case intents.Submit(text):
            return text
        case intents.Say(text) | intents.ShowAgain(text) | intents.Copy(text):
            say(text)
        case intents.SetMode(mode):
            session.set_mode(mode)
        case intents.OpenScreen(name, _):
            say(f"The {name} screen is not available in an editor.")
        case intents.StartSession() | intents.Leave():
            say("Use your editor for that.")
        case _:
            assert_never(intent)
    return None
