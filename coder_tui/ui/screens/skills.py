"""The skills there are: what each is for, where it comes from, and what is wrong with any."""

from collections.abc import Iterator
from typing import ClassVar

from coder_tui.skills.report import SkillRow, SkillState, skill_rows
from coder_tui.skills.shelf import SkillShelf
from coder_tui.skills.skill import Problem
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item

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
