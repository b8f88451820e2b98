"""The middle of the session screen: the conversation, and the panes next to it."""

from typing import TYPE_CHECKING

from textual import events
from textual.containers import Container
from textual.content import Content

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.panes.names import PaneName, Room

if TYPE_CHECKING:  # half of the way to the first paint was importing these, and it shows none of them
    from coder_tui.agent.session import Session
    from coder_tui.ui.diff.view import DiffView
    from coder_tui.ui.panes.changes import ChangesFeed, ShownChange
    from coder_tui.ui.panes.dock import Dock
    from coder_tui.ui.panes.problems import ProblemsList
    from coder_tui.ui.review.model import ReviewModel
    from coder_tui.ui.session.parts import SessionWidgets
    from coder_tui.ui.session.screen import SessionScreen
    from coder_tui.ui.transcript.scroll import FollowingScroll


NOT_YET = "The session is still being opened."
BUSY = "The agent is working; stop it first (Esc)."
_NOTHING = {
    PaneName.CHANGES: "Nothing was changed yet.",
    PaneName.TODOS: "There is no todo list yet.",
    PaneName.PROBLEMS: "No problems are known.",
}


class SessionBody(Container):
    """Handles what its panes and the transcript report, and opens the panes.

    Handlers go by their names: decorated ones would need the classes of all messages at the first paint.
    """

    def __init__(self, owner: "SessionScreen") -> None:
        super().__init__(id="body")
        self._owner = owner
        self._changes_feed: ChangesFeed | None = None
        self.review: ReviewModel | None = None
        """What was decided in the review, kept between two visits."""

    @property
    def _widgets(self) -> "SessionWidgets":
        return self._owner.widgets

    def show_title(self, title: str) -> None:
        """Show what the session is about over the conversation, as panes have titles."""
        suffix = f" {self._owner.chrome.dash} {safe_line(title)}" if title else ""
        self.query_one("#chat").border_title = Content(f" chat{suffix} ")

    def follow_changes(self, session: "Session") -> None:
        from coder_tui.ui.panes.changes import ChangesFeed

        self._changes_feed = ChangesFeed(session, self._show_changes, self._widgets.hints.show)
        self.refresh_changes()

    def refresh_changes(self) -> None:
        """Read the changes again, because files may have changed."""
        if self._changes_feed is not None:
            self._owner.run_worker(self._changes_feed.read(), group="changes")

    def _show_changes(self, changes: "tuple[ShownChange, ...]") -> None:
        feed, dock = self._changes_feed, self._widgets.dock
        if feed is not None and (changes or PaneName.CHANGES in dock.panes):
            dock.changes.show(changes, is_turn_only=feed.is_turn_only)
            dock.place()

    def open_pane(self, name: PaneName) -> None:
        """Go to a pane; if the focus is there already, hide it."""
        dock = self._widgets.dock
        if dock.count(name):
            self._owner.set_focus(dock.toggle(name) or self._owner.prompt)
        else:
            states = self._describe_servers() if name is PaneName.PROBLEMS else ""
            self._widgets.hints.show(_NOTHING[name] + states)

    def open_changes(self) -> None:
        """Go to the changes; if the focus is there already, review them."""
        pane = self._widgets.dock.panes.get(PaneName.CHANGES)
        if pane is not None and pane.display and pane.has_focus_within:
            self.open_review()
        else:
            self.open_pane(PaneName.CHANGES)

    def open_problem(self, step: int) -> None:
        """Go to the list of problems; if the focus is there already, to the next or previous one."""
        dock = self._widgets.dock
        if PaneName.PROBLEMS in dock.panes and dock.problems.has_focus_within:
            dock.problems.move(step)
        else:
            self.open_pane(PaneName.PROBLEMS)

    def open_review(self) -> None:
        session = self._widgets.sender.session
        if session is None:
            self._widgets.hints.show(NOT_YET)
            return
        from coder_tui.ui.review.model import ReviewModel
        from coder_tui.ui.review.screen import ReviewScreen

        if self.review is None:
            self.review = ReviewModel()
        opener = self._widgets.reader.open_place
        screen = ReviewScreen(session, self.review, self._owner.chrome, opener)
        self.app.push_screen(screen, self._finish_review)

    def _finish_review(self, message: str | None) -> None:
        dock = self._widgets.dock
        if self.review is not None and PaneName.CHANGES in dock.panes:
            files = self.review.files
            dock.changes.show_decisions({file.path: self.review.decisions_of(file) for file in files})
        if message:
            dock.show_chat()
            self._widgets.transcript.view.follow()
            self._widgets.sender.send(message)
        elif message is None and PaneName.CHANGES in dock.panes:
            dock.put_away(PaneName.CHANGES)
        if message or message is None:
            self._owner.set_focus(self._owner.prompt)

    def _describe_servers(self) -> str:
        """Explain an empty list: perhaps no server has checked anything."""
        servers = self._widgets.dock.servers
        if not servers:
            return " No file was checked yet."
        states = {"starting": "is starting", "crashed": "fails"}
        return "".join(
            f" {safe_line(name)} {states[status]}." for name, status in servers.items() if status in states
        )

    def on_changes_list_scope_asked(self) -> None:
        if self._changes_feed is not None:
            self._changes_feed.is_turn_only = not self._changes_feed.is_turn_only
            self.refresh_changes()

    def on_changes_pane_opened(self) -> None:
        self._widgets.dock.zoom(PaneName.CHANGES)
        self._owner.set_focus(self._widgets.dock.changes.diff)

    def on_diff_view_names_asked(self, event: "DiffView.NamesAsked") -> None:
        from coder_tui.ui.session.lookup import look_up

        if (session := self._widgets.sender.session) is not None:
            opener, show = self._widgets.reader.open_place, self._widgets.hints.show
            lookup = look_up(self._owner, session.lookup, self._owner.chrome, event, opener, show)
            self._owner.run_worker(lookup, group="names", exclusive=True)

    def on_problems_pane_opened(self) -> None:
        if (found := self._widgets.dock.problems.marked) is not None:
            self._widgets.reader.open_place(found.path, found.line, found.character)

    def on_problems_list_read_asked(self) -> None:
        from coder_tui.ui.panes.problems import whole_words

        if (found := self._widgets.dock.problems.marked) is not None:
            title = safe_line(f"{found.path}:{found.line}:{found.character} {found.code}")
            self._widgets.reader.read_text(title, whole_words(found))

    def on_problems_list_fix_asked(self, event: "ProblemsList.FixAsked") -> None:
        from coder_tui.ui.panes.problems import fix_message

        self._widgets.sender.send(fix_message(event.diagnostic))
        self._widgets.hints.show("The agent was asked to fix it.")

    def on_pane_left(self) -> None:
        self._widgets.dock.show_chat()
        self._owner.set_focus(self._owner.prompt)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Uncover the transcript when it gets the focus."""
        if self._owner.is_fully_mounted:
            dock = self._widgets.dock
            if event.widget is self._widgets.transcript.view and dock.covers:
                dock.show_chat()

    def on_dock_placed(self, event: "Dock.Placed") -> None:
        """Show each count in one place: on the pane, in the row of tabs, or in the status bar."""
        dock = self._widgets.dock
        is_narrow = dock.room is Room.NARROW
        counts = {name: dock.count(name) for name in PaneName}
        rest = {name: "" if is_narrow or name in dock.shown else count for name, count in counts.items()}
        self._owner.status.show(
            todos=rest[PaneName.TODOS], files=rest[PaneName.CHANGES], problems=rest[PaneName.PROBLEMS]
        )
        tabs = tuple((name, count) for name, count in counts.items() if count) if is_narrow else ()
        self._widgets.tabs.show(tabs, dock.front if dock.display else None)
        self._owner.set_class(dock.display and not dock.covers and dock.room is Room.WIDE, "-docked")
        if event.has_lost_focus and self._owner.focused is None:
            self._owner.set_focus(self._owner.prompt)

    def on_transcript_new_below(self, event: "FollowingScroll.NewBelow") -> None:
        self._widgets.pill.show(event.count)

    def on_new_below_pill_pressed(self) -> None:
        self.show_newest()

    def show_newest(self) -> None:
        """Go to the prompt and the newest line."""
        self._widgets.dock.show_chat()
        self._widgets.transcript.view.follow()
        self._owner.set_focus(self._owner.prompt)
