"""Files of the folder: name one for the agent, or open it in an editor."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from textual import events, work

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen
from coder_tui.ui.prompt.sources import FileSource

MOST = 200
"""Paths at once: whoever scrolls further types another letter instead."""
PATIENCE = 1.0
"""Seconds that a choice waits for the list to catch up with the typed letters."""


class FilesScreen(PickerScreen):
    """Ends with a path below the folder, which `name` or `edit` got at once: the next key may follow it."""

    BINDINGS = bindings(Context.FILES)
    help_context = Context.FILES
    heading = "Files"
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "name it for the agent"),
        ("Ctrl+G", "open in your editor"),
        ("Esc", "close"),
    )

    def __init__(
        self,
        chrome: Chrome,
        files: FileSource,
        name: Callable[[str], None],
        edit: Callable[[str], None],
        query: str = "",
    ) -> None:
        super().__init__(chrome, query)
        self._files = files
        self._name_it = name
        self._edit = edit
        self._caught_up = asyncio.Event()

    def fill(self) -> None:
        self.list.show((), empty=f"Looking{self.chrome.more}")
        self.narrow(self.line.text)

    async def take(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Key) and event.key in ("enter", "ctrl+g") and self._early is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._caught_up.wait()
        return await super().take(event)

    def narrow(self, query: str) -> None:
        """The index knows all files; the list holds the likeliest and marks the letters in them."""
        self._caught_up.clear()
        self._find(query)

    def count(self) -> None:
        shown = self.list.counted
        self.line.show_tail(f"{shown}+" if shown == str(MOST) else shown)

    def action_edit(self) -> None:
        item = self.list.marked
        if item is not None and item.key.endswith("/"):
            self.say("That is a folder.", "$text-warning")
        elif item is not None:
            self._take(item, self._edit)

    def choose(self, item: Item) -> None:
        self._take(item, self._name_it)

    def _take(self, item: Item, use: Callable[[str], None]) -> None:
        self._files.use(item.key)
        use(item.key)
        self.dismiss(item.key)

    @work(group="files", exclusive=True)
    async def _find(self, query: str) -> None:
        paths = await self._files.paths(query, MOST)
        self.list.filter(query)
        self.list.show([Item(path, path) for path in paths], empty="No files here.")
        self._caught_up.set()
