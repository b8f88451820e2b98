"""Keys and news of the session that concern the panes beside the conversation.

Opens the review of the changes, keeps what was decided between two visits, and sends what came of it.
"""

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.panes.names import PaneName, Room
from coder_tui.ui.session.base import Furnished

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.diff.view import DiffView
    from coder_tui.ui.panes.changes import ChangesFeed, ShownChange
    from coder_tui.ui.panes.dock import Dock
    from coder_tui.ui.panes.pane import PaneTabs
    from coder_tui.ui.panes.problems import ProblemsPane
    from coder_tui.ui.review.model import ReviewModel


NOT_YET = "The session is still being opened."


class ReviewActions(Furnished):
    """Part of a screen: another part makes the widgets."""

    review: "ReviewModel | None" = None

    def action_review(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.review.model import ReviewModel
        from coder_tui.ui.review.screen import ReviewScreen

        if self.review is None:
            self.review = ReviewModel()
        screen = ReviewScreen(session, self.review, self.chrome, self.reader.open_place)
        self.app.push_screen(screen, self._reviewed)

    def _reviewed(self, message: str | None) -> None:
        if self.review is not None and PaneName.CHANGES in self.dock.panes:
            files = self.review.files
            self.dock.changes.show_decisions({file.path: self.review.decisions_of(file) for file in files})
        if message:
            self.dock.show_chat()
            self.transcript.follow()
            self.conversation.send(message)
        elif message is None and PaneName.CHANGES in self.dock.panes:
            self.dock.put_away(PaneName.CHANGES)
        if message or message is None:
            self.set_focus(self.prompt)


_NOTHING = {
    PaneName.CHANGES: "Nothing was changed yet.",
    PaneName.TODOS: "There is no todo list yet.",
    PaneName.PROBLEMS: "No problems are known.",
}


class PaneActions(ReviewActions):
    """Half of a screen: the other half makes the widgets."""

    changes_feed: "ChangesFeed | None" = None

    def titled(self, title: str) -> None:
        """What the session is about stands over the conversation where panes have titles, too."""
        words = f" {self.chrome.dash} {safe_line(title)}" if title else ""
        self.query_one("#chat").border_title = Content(f" chat{words} ")

    def follow_changes(self, session: "Session") -> None:
        from coder_tui.ui.panes.changes import ChangesFeed

        self.changes_feed = ChangesFeed(session, self._show_changes, self.hints.show)
        self.files_changed()

    def files_changed(self) -> None:
        """Something may have changed: look again."""
        if self.changes_feed is not None:
            self.run_worker(self.changes_feed.read(), group="changes")

    def _show_changes(self, changes: "tuple[ShownChange, ...]") -> None:
        feed = self.changes_feed
        if feed is not None and (changes or PaneName.CHANGES in self.dock.panes):
            self.dock.changes.show(changes, is_turn_only=feed.is_turn_only)
            self.dock.place()

    def on_changes_list_scope_asked(self) -> None:
        if self.changes_feed is not None:
            self.changes_feed.is_turn_only = not self.changes_feed.is_turn_only
            self.files_changed()

    def on_changes_pane_opened(self) -> None:
        self.dock.zoom(PaneName.CHANGES)
        self.set_focus(self.dock.changes.diff)

    def on_diff_view_names_asked(self, event: "DiffView.NamesAsked") -> None:
        from coder_tui.ui.session.lookup import look_up

        if (session := self.conversation.session) is not None:
            reader, say = self.reader.open_place, self.hints.show
            looking = look_up(self, session.lookup, self.chrome, event, reader, say)
            self.run_worker(looking, group="names", exclusive=True)

    def on_problems_pane_opened(self, event: "ProblemsPane.Opened") -> None:
        found = event.diagnostic
        self.reader.open_place(found.path, found.line, found.character)

    def on_problems_list_read_asked(self) -> None:
        from coder_tui.ui.panes.problems import whole_words

        if (found := self.dock.problems.marked) is not None:
            title = safe_line(f"{found.path}:{found.line}:{found.character} {found.code}")
            self.reader.read_text(title, whole_words(found))

    def on_problems_pane_fix_asked(self, event: "ProblemsPane.FixAsked") -> None:
        from coder_tui.ui.panes.problems import fix_message

        self.conversation.send(fix_message(event.diagnostic))
        self.hints.show("The agent was asked to fix it.")

    def on_pane_left(self) -> None:
        self.dock.show_chat()
        self.set_focus(self.prompt)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """What has the keys is what is seen."""
        if self.is_furnished and event.widget is self.transcript and self.dock.covers:
            self.dock.show_chat()

    def on_pane_tabs_picked(self, event: "PaneTabs.Picked") -> None:
        if event.pane is None:
            self.on_pane_left()
        else:
            self._ask_for(event.pane)

    def on_dock_placed(self, event: "Dock.Placed") -> None:
        """Counts stand in one place: on the pane, in the row of tabs, or in the status."""
        dock, is_narrow = self.dock, self.dock.room is Room.NARROW
        counts = {name: dock.count(name) for name in PaneName}
        rest = {name: "" if is_narrow or name in dock.shown else count for name, count in counts.items()}
        self.status.show(
            todos=rest[PaneName.TODOS], files=rest[PaneName.CHANGES], problems=rest[PaneName.PROBLEMS]
        )
        tabs = tuple((name, count) for name, count in counts.items() if count) if is_narrow else ()
        self.tabs.show(tabs, dock.front if dock.display else None)
        self.set_class(dock.display and not dock.covers and dock.room is Room.WIDE, "-docked")
        if event.has_lost_focus and self.focused is None:
            self.set_focus(self.prompt)

    def action_changes(self) -> None:
        pane = self.dock.panes.get(PaneName.CHANGES)
        if pane is not None and pane.display and pane.has_focus_within:
            self.action_review()
        else:
            self._ask_for(PaneName.CHANGES)

    def action_todo(self) -> None:
        self._ask_for(PaneName.TODOS)

    def action_problems(self) -> None:
        self._ask_for(PaneName.PROBLEMS)

    def action_problem(self, step: int) -> None:
        """To the list of problems first; from there to the next one, wherever the keys were meant before."""
        if PaneName.PROBLEMS in self.dock.panes and self.dock.problems.has_focus_within:
            self.dock.problems.move(step)
        else:
            self._ask_for(PaneName.PROBLEMS)

    def _ask_for(self, name: PaneName) -> None:
        if self.dock.count(name):
            self.set_focus(self.dock.toggle(name) or self.prompt)
        else:
            self.hints.show(_NOTHING[name] + (self._servers_words() if name is PaneName.PROBLEMS else ""))

    def _servers_words(self) -> str:
        """That none is known may be because nobody looked."""
        if not self.dock.servers:
            return " No file was checked yet."
        words = {"starting": "is starting", "crashed": "fails"}
        return "".join(
            f" {safe_line(name)} {words[status]}."
            for name, status in self.dock.servers.items()
            if status in words
        )
