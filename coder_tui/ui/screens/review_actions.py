"""Opens the review of the changes, keeps what was decided between two visits, and sends what came of it."""

from typing import TYPE_CHECKING

from coder_tui.ui.panes import PaneName
from coder_tui.ui.screens.furnished import Furnished

if TYPE_CHECKING:  # what draws diffs is not needed before the first paint
    from coder_tui.ui.review_model import ReviewModel

NOT_YET = "The session is still being opened."


class ReviewActions(Furnished):
    """Part of a screen: another part makes the widgets."""

    review: "ReviewModel | None" = None

    def action_review(self) -> None:
        session = self.conversation.session
        if session is None:
            self.hints.show(NOT_YET)
            return
        from coder_tui.ui.review_model import ReviewModel
        from coder_tui.ui.screens.review import ReviewScreen

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
