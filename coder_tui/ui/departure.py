"""The ways out: by key, by signal, by a terminal that is gone; the session is closed first in each."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.text import Text

from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.crash import SurvivingApp
from coder_tui.ui.hangup import EXIT_CODE, end_at_once, watch_for_hangup
from coder_tui.ui.launch import Launch
from coder_tui.ui.screens.session import SessionScreen

if TYPE_CHECKING:  # the first paint does not need the agent
    from coder_tui.agent.session import Session


NOT_KEPT = "The demo keeps nothing: its session and its project are gone."


class Departure:
    """Leaves once, whoever asks for it."""

    def __init__(self, app: SurvivingApp, screen: SessionScreen, launch: Launch) -> None:
        self._app = app
        self.screen = screen
        self._clean_up = launch.clean_up
        self._keeps_transcript = launch.keeps_transcript
        self.transcript = ""
        """The session as text, where it was asked for."""
        self._is_leaving = False

    def watch(self) -> None:
        """Leave when a signal says so."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        if self._app.is_headless:
            loop.add_signal_handler(signal.SIGHUP, self._terminated)
        else:
            watch_for_hangup(lambda: self._start(self._leave_unseen()), self._clean_up)

    def _terminated(self) -> None:
        self._start(self.leave(EXIT_CODE))

    async def leave(self, code: int) -> None:
        if self._is_leaving:
            return
        self._is_leaving = True
        await self._app.end_if_fails(self._close(code))

    async def _close(self, code: int) -> None:
        await quieten(self.screen)
        try:
            farewell = await self._farewell()
            if self._keeps_transcript and self._session is not None:
                # Before the last words, which would scroll away above it.
                self.transcript = f"{await self._session.record.markdown()}\n{farewell or ''}".rstrip()
                farewell = None
            if (session := self._session) is not None:
                await session.close()
        except UserError as error:
            self._app.exit(error.exit_code, error.exit_code, last_words(error))
        else:
            self._app.exit(code, code, farewell)

    async def _leave_unseen(self) -> None:
        if self.screen.is_furnished:
            await self.screen.furniture.unsent.keep_now()
        if (session := self._session) is not None:
            with suppress(UserError):  # nobody is left to read what went wrong
                await session.close()
        end_at_once(self._clean_up)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._app.run_worker(work, group="leave")

    @property
    def _session(self) -> "Session | None":
        return self.screen.conversation.session if self.screen.is_furnished else None

    async def _farewell(self) -> Text | None:
        """What the session was, and the way back to it; nothing where there is nothing to come back to."""
        session, router = self._session, self.screen.router
        if session is None or router is None or not router.title:
            return None
        if not session.is_kept:
            return None if session.forks.is_unused else Text(NOT_KEPT)
        # Comparing files is not needed before the first paint.
        from coder_tui.agent.farewell import farewell

        cost, files = self.screen.status.status.cost, await session.changed_files()
        check = session.verifier.newest
        return Text(await farewell(router.title, files, session.directory, check, cost, session.id))


async def quieten(screen: SessionScreen) -> None:
    """Nothing of a screen that is about to go may run on: no editor, no search, no title."""
    if not screen.is_furnished:
        return
    await screen.furniture.unsent.keep_now()
    await screen.presenter.stop_editing()
    await screen.reader.stop()
    await screen.composing.stop()
    screen.attention.stop()


def last_words(error: UserError) -> Text:
    return Text(f"coder-tui: {safe_text(str(error))}")
