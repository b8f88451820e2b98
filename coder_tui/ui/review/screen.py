"""Review by hunk: keep, reject or comment; then what was rejected is undone and the agent is told."""

from collections.abc import Callable

from textual import events

from coder_tui.agent.session import Session
from coder_tui.diffs.model import Change
from coder_tui.protocol.errors import UserError
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import deliver
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.review.model import Key, ReviewedFile, ReviewModel
from coder_tui.ui.review.page import ReviewPage
from coder_tui.ui.session.lookup import look_up

NOTHING_TO_SEND = "Nothing to send: reject a hunk (n) or comment on one (c) first."
ONE_LINE = "This hunk is a single line already."

OpenPlace = Callable[[str, int, int], None]
"""Shows a place of a file in the person's editor."""


class ReviewScreen(ReviewPage):
    """Turns keys into decisions. They stay in the model when it closes, so that nothing is lost."""

    BINDINGS = bindings(Context.REVIEW)

    def __init__(self, session: Session, model: ReviewModel, chrome: Chrome, open_place: OpenPlace) -> None:
        super().__init__(session, model, chrome)
        self._open_place = open_place

    async def write(self, event: events.Key | events.Paste) -> None:
        key = event.key if isinstance(event, events.Key) else ""
        if key in {"escape", "ctrl+c"}:
            self._end_comment()
        elif key == "enter" and self.comment.is_empty:
            self.commented("")
        else:
            await deliver(self, self.comment, event)

    def commented(self, words: str) -> None:
        if self.model.current is not None:
            self.model.say(self.model.current, words)
        self._end_comment()

    def _end_comment(self) -> None:
        self.remove_class("-writing")
        self.comment_keys.hide()
        self.keys.show_hints()
        self.set_focus(self.diff)
        self.refresh_all()

    def action_decide(self, verdict: bool) -> None:
        if self.model.current is not None:
            self._decide(verdict, (self.model.current,))

    def action_decide_file(self, verdict: bool) -> None:
        if self.model.file is not None:
            self._decide(verdict, self.model.file.keys)

    def _decide(self, verdict: bool, keys: tuple[Key, ...]) -> None:
        file = self.model.file
        reason = "" if verdict or file is None else self.model.reason_not_to_reject(file)
        if not reason:
            self.model.decide(verdict, keys)
            self.model.step_open(1)
        self.refresh_all(reason)

    def action_turn_over(self) -> None:
        """Kept, rejected, undecided, in turn; the mark stays."""
        key, file = self.model.current, self.model.file
        if key is None or file is None:
            return
        can_reject = not self.model.reason_not_to_reject(file)
        following = {None: True, True: False if can_reject else None, False: None}
        self.model.decide(following[self.model.decision(key)], (key,))
        self.refresh_all()

    def action_comment(self) -> None:
        if self.model.current is None:
            return
        self.comment.show_draft(self.model.comment(self.model.current))
        self.add_class("-writing")
        self.keys.hide()
        self.comment_keys.show_hints()
        self.set_focus(self.comment)

    def action_split(self) -> None:
        self.refresh_all("" if self.model.split() else ONE_LINE)

    def action_lines(self) -> None:
        self.refresh_all("" if self.model.split(to_lines=True) else ONE_LINE)

    def action_undo(self) -> None:
        self.refresh_all("" if self.model.undo() else "There is no decision to take back.")

    def action_undecided(self, step: int) -> None:
        self.refresh_all("" if self.model.step_open(step) else "All is decided: Enter sends it.")

    def action_scope(self) -> None:
        self.model.is_turn_only = not self.model.is_turn_only
        self.run_worker(self.load(), group="load", exclusive=True)

    def action_line(self, step: int) -> None:
        self.diff.scroll_relative(y=step, animate=False)

    def action_half(self, way: int) -> None:
        self.diff.scroll_relative(y=way * max(1, self.diff.size.height // 2), animate=False)

    def action_edit(self) -> None:
        if self.model.file is not None:
            self._open_place(str(self.model.file.path), _line_of(self.model.file, self.model.current), 1)

    def on_diff_view_names_asked(self, event: DiffView.NamesAsked) -> None:
        open_place, say = self._open_place, self.refresh_all
        looking = look_up(self, self.session.lookup, self._chrome, event, open_place, say)
        self.run_worker(looking, group="names", exclusive=True)

    def action_leave(self) -> None:
        self.dismiss("")

    def action_put_away(self) -> None:
        self.dismiss(None)

    def action_send(self) -> None:
        if not self.model.outcome():
            self.refresh_all(NOTHING_TO_SEND)
        elif not self.is_sending:
            self.is_sending = True
            self.run_worker(self._send(), group="send")

    async def _send(self) -> None:
        """What went stale is said and left alone; the rest goes out with the next Enter."""
        try:
            rejecting = [each.file for each in self.model.outcome() if each.rejected]
            if stale := await self.session.review.stale(rejecting):
                self.model.mark_stale(self.model.stale | stale)
                names = ", ".join(sorted(path.name for path in stale))
                self.refresh_all(f"{names} changed on disk since and stays as it is. Enter sends the rest.")
                return
            message = await self.session.review.settle(self.model.outcome())
        except UserError as error:
            self.refresh_all(str(error))
            return
        finally:
            self.is_sending = False
        self.model.forget_sent()
        self.dismiss(message)


def _line_of(file: ReviewedFile, key: Key | None) -> int:
    """Where a hunk begins in the file as it is now."""
    hunk = next((each for each in file.comparison.hunks if key is not None and each.id == key[1]), None)
    if hunk is None:
        return 1
    section = file.comparison.sections[hunk.start]
    return section.new + 1 if isinstance(section, Change) else 1
