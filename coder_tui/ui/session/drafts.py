"""Writes down what is typed while it is typed: no closed terminal and no kill must take it away."""

import asyncio
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.timer import Timer

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, QueueChanged, TurnFailed, TurnFinished, UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.drafts import Place, Unsent, UnsentFiles
from coder_tui.ui.launch import Launch
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.session.sender import Conversation
from coder_tui.ui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


PAUSE = 1.0
"""Seconds between two writings, however fast somebody types."""
BACK = "What you had typed and not sent is back in the prompt."


class UnsentWords:
    """Of one screen. Before `begin` nothing is kept, after `stop` nothing any more."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        conversation: Conversation,
        transcript: Transcript,
        launch: Launch,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._conversation = conversation
        self._transcript = transcript
        self._launch = launch
        self._files = UnsentFiles(launch.unsent) if launch.unsent is not None else None
        self._session: Session | None = None
        self._is_begun = False
        self.is_restored = asyncio.Event()
        self._kept = Unsent()
        self._writing = asyncio.Lock()
        self._timer: Timer | None = None
        self._has_complained = False

    def begin(self, session: "Session", *, is_again: bool, is_begun: bool) -> None:
        """Keep what is typed from now on, and bring back what was left unless it is shown `is_again`.

        `is_begun` tells whether the session has messages.
        """
        self._is_begun = is_begun
        if is_again:
            self._follow(session)
        else:
            self._screen.run_worker(self._restore(session), group="recall")

    async def _restore(self, session: "Session") -> None:
        try:
            if self._files is not None and session.is_kept:
                await self._bring_back(self._files, self._place(session))
        except (OSError, UserError) as error:
            self._complain(error)
        finally:
            self.is_restored.set()
        self._follow(session)

    def _follow(self, session: "Session") -> None:
        self._session = session
        self.look()

    async def _bring_back(self, files: UnsentFiles, place: Place) -> None:
        elsewhere = await self._launch.shelf().open_elsewhere()
        self._kept = left = await asyncio.to_thread(files.take, place, elsewhere)
        if not left.is_empty:
            self._prompt.put_back((*left.waiting, left.draft) if left.draft else left.waiting)
            self._transcript.add_note(NoticeLevel.INFO, BACK)

    def look(self) -> None:
        """Something may have been typed, sent or taken up; that is seen when it is time to write."""
        if self._files is not None and self._session is not None and self._timer is None:
            self._timer = self._screen.set_timer(PAUSE, self._due)

    def hear(self, event: Event) -> None:
        if isinstance(event, UserMessageAdded):
            self._is_begun = True
            self.look()
        elif isinstance(event, QueueChanged | TurnFinished | TurnFailed):
            self.look()

    async def keep_now(self) -> None:
        """Write down what there is, for instance because the program is about to end."""
        async with self._writing:
            now = self._now()
            session = self._session
            if self._files is None or session is None or not session.is_kept or now == self._kept:
                return
            try:
                await asyncio.to_thread(self._files.save, self._place(session), now)
            except OSError as error:
                self._complain(error)
            self._kept = now

    def stop(self) -> None:
        """Another screen keeps what is typed."""
        self._session = None

    async def forget(self, session: "Session") -> None:
        """The words went along to another session."""
        if self._files is not None:
            await asyncio.to_thread(self._files.forget, session.id)

    def _due(self) -> None:
        self._timer = None
        self._screen.run_worker(self.keep_now(), group="unsent")

    def _now(self) -> Unsent:
        return Unsent(self._conversation.unsent, self._prompt.draft)

    def _place(self, session: "Session") -> Place:
        return Place(session.id, session.directory, self._is_begun)

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            self._has_complained = True
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            words = f"What you type is not kept until it is sent: {why}."
            self._transcript.add_note(NoticeLevel.WARNING, words)
