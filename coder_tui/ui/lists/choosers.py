"""The agents that can lead a session, and what each is for.

The modes, and what each lets run without a question.

Themes, each shown as the mark reaches it.

The skills there are: what each is for, where it comes from, and what is wrong with any.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from coder_tui.protocol.access import Mode
from coder_tui.skills.authoring import SkillRow, SkillState, skill_rows
from coder_tui.skills.session_skills import SkillShelf
from coder_tui.skills.skill import Problem
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen
from coder_tui.ui.session.list_actions import SAVE


class AgentsScreen(PickerScreen):
    """`agents` are names with descriptions; both may come from a stranger's file."""

    heading: ClassVar[str] = "Agent"

    def __init__(self, chrome: Chrome, agents: Iterable[tuple[str, str]], current: str) -> None:
        super().__init__(chrome)
        self._agents = tuple(agents)
        self._current = current

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=safe_line(name),
                lead=self.chrome.ready if name == self._current else "",
                details=(safe_line(description),),
            )
            for name, description in self._agents
        ]
        self.list.show(items, self._current)

    def choose(self, item: Item) -> None:
        self.dismiss(item.key)


_WORDS: dict[Mode, str] = {
    Mode.ASK: "asks before edits and commands",
    Mode.EDITS: "edits without asking, asks before commands",
    Mode.AUTO: "also runs commands that the sandbox confines",
    Mode.PLAN: "reads only, and makes a plan",
}
AGAIN = "Confined commands will run unasked. Press Enter again to switch auto on."


class ModesScreen(PickerScreen):
    heading: ClassVar[str] = "Mode"

    def __init__(self, chrome: Chrome, current: Mode) -> None:
        super().__init__(chrome)
        self._current = current

    def fill(self) -> None:
        items = [
            Item(
                key=mode,
                label=mode,
                lead=self.chrome.ready if mode is self._current else "",
                details=(_WORDS[mode],),
            )
            for mode in Mode
        ]
        self.list.show(items, self._current)

    def choose(self, item: Item) -> None:
        if (
            item.key == Mode.AUTO
            and self._current is not Mode.AUTO
            and not self.pressed_twice(item.key, AGAIN)
        ):
            return
        self.dismiss(item.key)


class ThemesScreen(PickerScreen):
    """The theme that was there before comes back, unless another one is chosen."""

    BINDINGS = bindings(Context.THEMES)
    help_context = Context.THEMES
    heading = "Theme"
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "use it now"),
        ("Ctrl+Y", "use it always"),
        ("Esc", "close"),
        ("Up Down", "move"),
    )

    def __init__(self, chrome: Chrome, names: Sequence[str], current: str, query: str = "") -> None:
        super().__init__(chrome, query)
        self._names = names
        self._before = current
        self._is_shown = False

    def fill(self) -> None:
        items = [
            Item(
                key=name,
                label=name,
                details=(f"{self.chrome.ready} in use" if name == self._before else "",),
                note="Enter keeps it for this run, Ctrl+Y writes it into your settings.",
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


USABLE = "To call"
NOT_USED = "Not used"
WRONG = "Not as it should be"
_UNUSED = frozenset({SkillState.DENIED, SkillState.SHADOWED})


class SkillsScreen(PickerScreen):
    """Ends with the name of a skill to call. Names and texts may come from a stranger's file."""

    heading: ClassVar[str] = "Skills"
    hints: ClassVar[tuple[Hint, ...]] = (("Enter", "call it"), ("Esc", "close"), ("Up Down", "move"))

    def __init__(self, chrome: Chrome, shelf: SkillShelf) -> None:
        super().__init__(chrome)
        self._shelf = shelf

    def fill(self) -> None:
        rows = skill_rows(self._shelf)
        used = [self._item(row) for row in rows if row.state not in _UNUSED]
        unused = [self._item(row) for row in rows if row.state in _UNUSED]
        self.list.show((*used, *unused, *self._problems()))

    def choose(self, item: Item) -> None:
        if item.is_ready:
            self.dismiss(item.key)
        else:
            self.say(f"It cannot be called: {item.note}", "$text-warning")

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

    def _problems(self) -> Iterator[Item]:
        for number, problem in enumerate(self._shelf.found.problems):
            yield _wrong(f"problem-{number}", problem)


def _wrong(key: str, problem: Problem) -> Item:
    return Item(
        key=key,
        label=safe_line(problem.place),
        details=(str(problem.severity), ""),
        note=safe_line(problem.message),
        group=WRONG,
        is_ready=False,
    )
