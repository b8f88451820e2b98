"""Pastes by key: a picture as a chip, else text, from the clipboard of the desktop."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from coder_tui.llm.traits import traits_of
from coder_tui.ui.clipboard_reader import ClipboardReader
from coder_tui.ui.external_editor import is_alive
from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.workspace.images import look_at

NOTHING = "Nothing to paste was found; the paste key of your terminal may know more."


class Pasting:
    """`folder` keeps pictures until the program ends; `model` would look at them."""

    def __init__(
        self,
        prompt: Prompt,
        clipboard: ClipboardReader,
        folder: Path | None,
        model: str,
        say: Callable[[str], None],
    ) -> None:
        self._prompt = prompt
        self._clipboard = clipboard
        self._folder = folder
        self._model = model
        self._say = say

    async def paste(self) -> None:
        data = await self._clipboard.picture()
        if look_at(data) is not None and self._folder is not None:
            await self._put_picture(data, self._folder)
        elif text := await self._clipboard.text() or self._prompt.app.clipboard:
            self._prompt.paste(text)
        else:
            self._say(NOTHING)

    async def _put_picture(self, data: bytes, folder: Path) -> None:
        try:
            path = await asyncio.to_thread(_saved, data, folder)
        except OSError as error:
            self._say(f"The picture could not be kept: {error.strerror}.")
            return
        self._prompt.paste_picture(path)
        if self._model and not traits_of(self._model).sees_images:
            self._say(f"{self._model} does not see pictures.")


def _saved(data: bytes, folder: Path) -> Path:
    """In a folder for this process; those of processes that are gone are removed."""
    for left in folder.parent.glob("*"):
        if left.name.isdigit() and not is_alive(int(left.name)):
            remove_pictures(left)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"pasted-{1 + sum(1 for _ in folder.iterdir())}.png"
    path.write_bytes(data)
    return path


def remove_pictures(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
