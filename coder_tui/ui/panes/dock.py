"""The panes next to the conversation: how wide they are, and which are visible for the room and content."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.css.scalar import Scalar
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from coder_tui.protocol.todos import TodoItem
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.panes.names import PaneName, Room, room_for
from coder_tui.ui.panes.pane import Pane
from coder_tui.ui.panes.todo import TodoPane

if TYPE_CHECKING:
    from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus
    from coder_tui.ui.panes.changes import ChangesPane
    from coder_tui.ui.panes.problems import ProblemsPane


_SHARE = {PaneName.CHANGES: 100, PaneName.TODOS: 33, PaneName.PROBLEMS: 40}
"""Percent of the rows that a pane gets at most; one pane takes the rest."""
_FEWEST_ROWS = 3


@dataclass(frozen=True, slots=True)
class PaneState:
    """`choice` is whether the user wants the pane, None if they did not choose."""

    has_content: bool = False
    wants_showing: bool = False
    choice: bool | None = None

    @property
    def is_candidate(self) -> bool:
        return self.has_content and (self.wants_showing if self.choice is None else self.choice)


def arranged(room: Room, panes: Mapping[PaneName, PaneState], front: PaneName | None) -> tuple[PaneName, ...]:
    """Return the visible panes; `front` is the one that was chosen last."""
    if room is Room.NARROW:
        return (front,) if front is not None and panes[front].has_content else ()
    candidates = tuple(name for name in PaneName if panes[name].is_candidate)
    if room is Room.WIDE or not candidates:
        return candidates
    return (front,) if front in candidates else candidates[:1]


class Dock(Container):
    """Holds the panes; in a narrow terminal the one in front covers the conversation."""

    DEFAULT_CSS = """
    Dock {
        width: 40%; height: 1fr; display: none; layout: vertical; background: $background;
        border-left: solid $border-blurred;
    }
    """

    @dataclass
    class Placed(Message):
        """Visible panes or counts have changed; a pane that was hidden may have had the focus."""

        has_lost_focus: bool

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="dock")
        self._chrome = chrome
        self.todos = TodoPane(chrome)
        self.panes: dict[PaneName, Pane] = {PaneName.TODOS: self.todos}
        self._choices: dict[PaneName, bool] = {}
        self.room = Room.MEDIUM
        self.front: PaneName | None = None
        self.is_zoomed = False
        self.servers: dict[str, ServerStatus] = {}
        """The status of language servers by name."""

    def compose(self) -> ComposeResult:
        yield self.todos

    @property
    def shown(self) -> tuple[PaneName, ...]:
        return tuple(name for name, pane in self.panes.items() if pane.display)

    @property
    def covers(self) -> bool:
        """Whether the conversation is behind it."""
        return self.display and (self.room is Room.NARROW or self.is_zoomed)

    def count(self, name: PaneName) -> str:
        return self.panes[name].count if name in self.panes else ""

    @cached_property
    def changes(self) -> "ChangesPane":
        # Imported late: the first paint draws no diffs.
        from coder_tui.ui.panes.changes import ChangesPane

        pane = self.panes[PaneName.CHANGES] = ChangesPane(self._chrome)
        self.mount(pane, before=0)
        return pane

    @cached_property
    def problems(self) -> "ProblemsPane":
        from coder_tui.ui.panes.problems import ProblemsPane

        pane = self.panes[PaneName.PROBLEMS] = ProblemsPane(self._chrome)
        self.mount(pane)
        return pane

    def show_todos(self, items: tuple[TodoItem, ...]) -> None:
        self.todos.set_items(items)
        self.place()

    def show_problems(self, path: str, diagnostics: "tuple[Diagnostic, ...]") -> None:
        if diagnostics or PaneName.PROBLEMS in self.panes:
            self.problems.set_file(path, diagnostics)
            self.place()

    def show_awaited(self, paths: tuple[str, ...]) -> None:
        """Show files whose new text is not checked yet."""
        if paths or PaneName.PROBLEMS in self.panes:
            self.problems.set_awaited(paths)
            self.place()

    def show_server(self, name: str, status: "ServerStatus") -> None:
        self.servers[name] = status

    def set_room(self, size: Size) -> None:
        """Adapt to the size of the terminal."""
        room = room_for(size)
        if room is Room.NARROW and self.room is not Room.NARROW and not self.has_pane_focus:
            self.front = None  # the pane has no focus, so the conversation comes first
        self.is_zoomed = self.is_zoomed and room is self.room
        self.room = room
        self.place()

    @property
    def has_pane_focus(self) -> bool:
        return self.is_attached and any(pane.has_focus_within for pane in self.panes.values())

    def toggle(self, name: PaneName) -> Widget | None:
        """Show a pane, or hide it if it has the focus; returns the widget to focus, None if hidden."""
        pane = self.panes[name]
        if pane.display and pane.has_focus_within:
            self.put_away(name)
            return None
        self.front, self._choices[name], self.is_zoomed = name, True, False
        self.place()
        return pane.target

    def put_away(self, name: PaneName) -> None:
        """Hide a pane until the user asks for it."""
        if self.room is Room.NARROW:
            self.front = None
        else:
            self._choices[name] = False
        self.is_zoomed = False
        self.place()

    def show_chat(self) -> None:
        """Show the conversation if a pane covers it."""
        self.is_zoomed = False
        if self.room is Room.NARROW:
            self.front = None
        self.place()

    def zoom(self, name: PaneName) -> None:
        """Give one pane all the room."""
        self.front, self.is_zoomed = name, True
        self.place()

    def place(self) -> None:
        """Show or hide panes; sets only what differs, since each change lays out the screen again."""
        shown = self._settle()
        loses_focus = any(pane.has_focus_within and name not in shown for name, pane in self.panes.items())
        if loses_focus:
            self.screen.set_focus(None)  # otherwise Textual moves it to a neighbor
        for name, pane in self.panes.items():
            if pane.display != (name in shown):
                pane.display = name in shown
        if self.display != bool(shown):
            self.display = bool(shown)
        self.set_class(self.covers, "-covers")
        self._share_rows()
        self.post_message(self.Placed(has_lost_focus=loses_focus))

    def _settle(self) -> tuple[PaneName, ...]:
        """Return the visible panes; none may cover the conversation or replace another one on its own."""
        has_front = self.front is not None and bool(self.count(self.front))
        self.is_zoomed = self.is_zoomed and has_front
        if not has_front and self.room is Room.NARROW:
            self.front = None
        shown = arranged(self.room, self._states(), self.front)
        if self.room is Room.MEDIUM and shown:
            self.front = shown[0]
        return (self.front,) if self.is_zoomed and self.front is not None else shown

    def on_resize(self) -> None:
        self._share_rows()

    def on_descendant_focus(self) -> None:
        self._share_rows()

    def on_descendant_blur(self) -> None:
        self._share_rows()

    def _share_rows(self) -> None:
        """Size the panes: as high as their content, up to a share, and one pane fills the rest."""
        filler = _filler(self.shown)
        for name, pane in self.panes.items():
            share = max(_FEWEST_ROWS, self.size.height * _SHARE[name] // 100)
            rows = min(share, pane.height_wanted(self.content_size.width))
            height = Scalar.parse("1fr") if name is filler else Scalar.from_number(rows)
            if pane.styles.height != height:
                pane.styles.height = height

    def _states(self) -> dict[PaneName, PaneState]:
        states = dict.fromkeys(PaneName, PaneState())
        for name, pane in self.panes.items():
            states[name] = PaneState(bool(pane.count), pane.wants_showing, self._choices.get(name))
        return states


def _filler(shown: tuple[PaneName, ...]) -> PaneName | None:
    """Return the pane that fills the rows that the others leave."""
    return next(
        (name for name in (PaneName.CHANGES, PaneName.PROBLEMS, PaneName.TODOS) if name in shown), None
    )
