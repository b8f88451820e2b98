"""Models to go on with: how much each can hold, what it costs, and what it lacks."""

from coder_tui.llm.catalog import CatalogEntry
from coder_tui.protocol.errors import UserError
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Shelf
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import PickerScreen

NEEDS_KEY = "It needs a key. Type it here, unseen: Enter keeps it in the system keyring, Esc goes back."


class ModelsScreen(PickerScreen):
    """Ends with a model's name: one of the list, or one that was typed in full; `told` is of a typed key."""

    heading = "Model for the next turn"

    def __init__(self, chrome: Chrome, shelf: Shelf, current: str, query: str = "") -> None:
        super().__init__(chrome, query)
        self._shelf = shelf
        self._current = current
        self.told = ""

    def fill(self) -> None:
        self.list.show((), empty=f"Looking{self.chrome.more}")
        self.run_worker(self._load(), group="models")

    def choose(self, item: Item) -> None:
        if item.is_ready:
            self.dismiss(item.key)
        else:
            self._ask_key(item, f"{NEEDS_KEY} Or {item.note}.")

    def _ask_key(self, item: Item, why: str) -> None:
        self.ask(f"key for {item.also}:", "", lambda key: self._keep(item, key), is_secret=True)
        self.say(why, "$text-warning")

    def _keep(self, item: Item, key: str) -> None:
        self.say(f"Keeping the key for {item.also}{self.chrome.more}")
        self.run_worker(self._kept(item, key), group="key", exclusive=True)

    async def _kept(self, item: Item, key: str) -> None:
        try:
            self.told = await self._shelf.keep_key(item.key, key)
        except UserError as error:
            self._ask_key(item, f"{error}.")
        else:
            self.dismiss(item.key)

    def action_choose(self) -> None:
        name = self.line.text.strip()
        if self.list.marked is None and "/" in name:
            self.dismiss(name)
        else:
            super().action_choose()

    def moved(self, item: Item | None) -> None:
        if item is None and "/" in self.line.text:
            self.say("Enter takes this name as it is.")

    async def _load(self) -> None:
        """What is known is there at once; local servers are asked then."""
        for looks_around in (False, True):
            entries = await self._shelf.models(looks_around=looks_around)
            marked = self._current if self.list.marked is None else None
            self.list.show([self._item(entry) for entry in entries], marked, empty="No models are known.")

    def _item(self, entry: CatalogEntry) -> Item:
        is_current = entry.id == self._current
        ready = f"{self.chrome.ok} ready" if entry.available else f"{self.chrome.failed} no key"
        return Item(
            key=entry.id,
            label=entry.id,
            details=(
                " ".join(entry.tags),
                "" if entry.context is None else _tokens(entry.context),
                _price(entry),
                f"{self.chrome.ready} in use" if is_current else ready,
            ),
            note=entry.missing or _words(entry),
            also=entry.provider,
            is_ready=entry.available,
        )


def _tokens(count: int) -> str:
    return f"{count / 1_000_000:.3g}M" if count >= 1_000_000 else f"{count // 1000}k"


def _price(entry: CatalogEntry) -> str:
    if entry.cost_in is None or entry.cost_out is None:
        return "local" if "local" in entry.tags else ""
    return f"${entry.cost_in:g}/{entry.cost_out:g}"


def _words(entry: CatalogEntry) -> str:
    price = ""
    if entry.cost_in is not None and entry.cost_out is not None:
        price = f"  ${entry.cost_in:g} in, ${entry.cost_out:g} out per million tokens"
    window = f"  {entry.context:,} tokens" if entry.context else ""
    return f"{entry.id}  {entry.provider}{window}{price}"
