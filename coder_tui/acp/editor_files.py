"""What an editor holds of a file and has not saved is the person's: such a file is not changed below it."""

import asyncio
import logging
from pathlib import Path

from acp import Client, RequestError

from coder_tui.protocol.access import TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access

log = logging.getLogger(__name__)
LARGEST = 5_000_000
SECONDS = 5.0
_MOST_FILES = 50


class EditorFiles:
    """For an editor that lets files be read through it: it gives the text of its buffer."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def check(self, access: Access) -> None:
        """Raise when one of the files that the call writes has other text in the editor than on the disk."""
        changed = [
            Path(target.value)
            for target in access.targets
            if target.writes and target.kind is TargetKind.PATH
        ]
        for path in changed[:_MOST_FILES]:
            await self._check(path)

    async def _check(self, path: Path) -> None:
        saved = await asyncio.to_thread(_saved, path)
        held = await self._held(path) if saved is not None else None
        if held is not None and _plain(held) != saved:
            raise ToolError(
                ErrorType.STALE_FILE,
                f"{path.name} has changes in the editor that are not saved.",
                "ask the person to save or drop them, then read the file again.",
                {"path": str(path)},
            )

    async def _held(self, path: Path) -> str | None:
        """None where the editor cannot tell: then the disk is all there is."""
        reading = self._client.read_text_file(session_id=self._session_id, path=str(path))
        try:
            async with asyncio.timeout(SECONDS):
                return (await reading).content
        except (RequestError, TimeoutError) as error:
            log.info("the editor does not tell what it holds of %s: %r", path, error)
            return None


def _saved(path: Path) -> str | None:
    """The text on the disk; None where there is no such file, or no text."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return _plain(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError):
        return None


def _plain(text: str) -> str:
    """Editors keep line ends and a byte order mark apart from the text."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
