"""Lists to choose one thing from: agents, modes, themes, skills, models, files."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from textual import events, work

from coder_tui.llm.catalog import CatalogEntry
from coder_tui.protocol.access import Mode
from coder_tui.skills.authoring import SkillRow, SkillState, skill_rows
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.skills.skill import Problem
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import Typed
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Library
from coder_tui.ui.lists.picker import KeyPicker, PickerScreen
from coder_tui.ui.lists.row_list import Item
from coder_tui.ui.prompt.completer import FileSource
from coder_tui.ui.session.list_actions import SAVE


class DescribedPicker(PickerScreen):
    """Lists names with descriptions; both may come from untrusted files."""

    def __init__(self, chrome: Chrome, choices: Iterable[tuple[str, str]], current: str) -> None:
        super().__init__(chrome)
        self._choices = tuple(choices)
        self._current = current

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=safe_line(name),
                lead=self.chrome.ready if name == self._current else "",
                details=(safe_line(description),),
            )
            for name, description in self._choices
        ]
        self.list.show(items, self._current)


class AgentsScreen(DescribedPicker):
    heading = "Agent"


_WORDS: dict[Mode, str] = {
    Mode.ASK: "asks before edits and commands",
    Mode.EDITS: "edits without asking, asks before commands",
    Mode.AUTO: "also runs sandboxed commands without asking",
    Mode.PLAN: "only reads, and makes a plan",
}
AGAIN = "Sandboxed commands will run without asking. Press Enter again to switch to auto."


class ModesScreen(DescribedPicker):
    heading = "Mode"

    def __init__(self, chrome: Chrome, current: Mode) -> None:
        super().__init__(chrome, ((mode, _WORDS[mode]) for mode in Mode), current)

    def choose(self, item: Item) -> None:
        turns_auto_on = item.key == Mode.AUTO and self._current != Mode.AUTO
        if not turns_auto_on or self.pressed_twice(item.key, AGAIN):
            self.dismiss(item.key)


class ThemesScreen(PickerScreen):
    """Previews the marked theme; closing the list restores the previous one."""

    BINDINGS = bindings(Context.THEMES)
    help_context = Context.THEMES
    heading = "Theme"
    hints = (("Enter", "use now"), ("Ctrl+Y", "use always"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, names: Sequence[str], current: str, query: str = "") -> None:
        super().__init__(chrome, query)
        self._names = names
        self._before = current

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=name,
                details=(f"{self.chrome.ready} in use" if name == self._before else "",),
                note="Enter uses it until you quit, Ctrl+Y saves it in your settings.",
            )
            for name in self._names
        ]
        self.list.show(items, self._before)

    def moved(self, item: Item | None) -> None:
        if item is not None and item.key != self.app.theme and self.is_attached:
            self.app.theme = item.key

    def action_keep(self) -> None:
        if (item := self.list.marked) is not None:
            self.dismiss(f"{SAVE} {item.key}")

    def action_close(self) -> None:
        if not self.line.text:
            self.app.theme = self._before
        super().action_close()


USABLE = "Available"
NOT_USED = "Not used"
WRONG = "Invalid"
_UNUSED = frozenset({SkillState.DENIED, SkillState.SHADOWED})


class SkillsScreen(PickerScreen):
    """Ends with the name of a skill to use. Names and texts may come from untrusted files."""

    heading = "Skills"
    hints = (("Enter", "use"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, skills: SessionSkills) -> None:
        super().__init__(chrome)
        self._skills = skills

    def fill(self) -> None:
        rows = skill_rows(self._skills)
        used = [self._item(row) for row in rows if row.state not in _UNUSED]
        unused = [self._item(row) for row in rows if row.state in _UNUSED]
        wrong = (_wrong(f"problem-{at}", each) for at, each in enumerate(self._skills.found.problems))
        self.list.show((*used, *unused, *wrong))

    def choose(self, item: Item) -> None:
        if item.is_ready:
            self.dismiss(item.key)
        else:
            self.show_note(f"This skill cannot be used: {item.note}", "$text-warning")

    def _item(self, row: SkillRow) -> Item:
        skill, is_used = row.skill, row.state not in _UNUSED
        is_loaded = row.state is SkillState.LOADED
        return Item(
            key=skill.name,
            label=safe_line(skill.name),
            lead=self.chrome.ready if is_loaded else "",
            details=(str(row.state), str(skill.source)),
            note=safe_line(skill.description if is_used else f"{row.state} {row.note}"),
            group=USABLE if is_used else NOT_USED,
            also=safe_line(skill.description),
            is_ready=is_used,
        )


def _wrong(key: str, problem: Problem) -> Item:
    return Item(
        key=key,
        label=safe_line(problem.place),
        details=(str(problem.severity), ""),
        note=safe_line(problem.message),
        group=WRONG,
        is_ready=False,
    )


NEEDS_KEY = "It needs an API key. Type it here (hidden): Enter saves it in the system keyring, Esc cancels."


class ModelsScreen(KeyPicker):
    """Ends with the name of a model: from the list, or typed in full."""

    heading = "Model for the next turn"

    def __init__(self, chrome: Chrome, library: Library, current: str, query: str = "") -> None:
        super().__init__(chrome, query)
        self._library = library
        self._current = current

    def fill(self) -> None:
        self.list.show((), empty=f"Loading{self.chrome.more}")
        self.run_worker(self._load(), group="models")

    def choose(self, item: Item) -> None:
        if item.is_ready:
            self.dismiss(item.key)
        else:
            why, store = f"{NEEDS_KEY} Or {item.note}.", partial(self._library.keep_key, item.key)
            self.ask_key(item.also, why, store, item.key, "$text-warning")

    def action_choose(self) -> None:
        name = self.line.text.strip()
        if self.list.marked is None and "/" in name:
            self.dismiss(name)
        else:
            super().action_choose()

    def moved(self, item: Item | None) -> None:
        if item is None and "/" in self.line.text:
            self.show_note("Press Enter to use this name.")

    async def _load(self) -> None:
        """Show known models at once, then ask local servers for theirs."""
        for looks_around in (False, True):
            entries = await self._library.models(looks_around=looks_around)
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


MOST = 200
"""Paths in the list: a user who does not find theirs types another letter."""
PATIENCE = 1.0
"""Seconds that Enter waits for the list to catch up with the typed letters."""


class FilesScreen(PickerScreen):
    """Ends with a path. `name` or `edit` gets it before the list closes, since keys may follow at once."""

    BINDINGS = bindings(Context.FILES)
    help_context = Context.FILES
    heading = "Files"
    hints = (("Enter", "mention in the prompt"), ("Ctrl+G", "open in your editor"), ("Esc", "close"))

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
        self.list.show((), empty=f"Searching{self.chrome.more}")
        self.narrow(self.line.text)

    async def catch_up(self, event: Typed) -> None:
        if isinstance(event, events.Key) and event.key in ("enter", "ctrl+g"):
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._caught_up.wait()

    def narrow(self, query: str) -> None:
        """Ask the index, which knows all files, for the best matches."""
        self._caught_up.clear()
        self._find(query)

    def count(self) -> None:
        shown = self.list.counted
        self.line.show_tail(f"{shown}+" if shown == str(MOST) else shown)

    def action_edit(self) -> None:
        item = self.list.marked
        if item is not None and item.key.endswith("/"):
            self.show_note("This is a folder. Choose a file to open.", "$text-warning")
        elif item is not None:
            self._use(item, self._edit)

    def choose(self, item: Item) -> None:
        self._use(item, self._name_it)

    def _use(self, item: Item, use: Callable[[str], None]) -> None:
        if not self._caught_up.is_set():
            self.show_note("Still searching. Press the key again when the list is there.", "$text-warning")
            return
        self._files.use(item.key)
        use(item.key)
        self.dismiss(item.key)

    @work(group="files", exclusive=True)
    async def _find(self, query: str) -> None:
        paths = await self._files.paths(query, MOST)
        self.list.filter(query)
        self.list.show([Item(path, path) for path in paths], empty="There are no files in this folder.")
        self._caught_up.set()
