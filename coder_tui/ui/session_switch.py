"""Switches the screen to another session; the old one stays until the new one is open."""

import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.exit import stop_activity
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.body import BUSY, NOT_YET
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.textual_internals import replace_screen

if TYPE_CHECKING:  # the app holds this
    from coder_tui.agent.session import Session
    from coder_tui.ui.app import CoderApp

IN_PROMPT = "Your message is in the prompt: Ctrl+C puts it away, for /redo or another command."
OPEN_ALREADY = "This session is already open."
_GROUP = "switch"


class SessionSwitch:
    """Keeps the draft, and what is typed during the switch."""

    def __init__(self, app: "CoderApp", launch: Launch) -> None:
        self._app = app
        self._launch = launch

    def start(self, session_id: str = "", notice: str = "", text: str = "") -> None:
        """Start a new session for an empty id; show `notice` in it, then send `text`."""
        screen = self._app.session_screen
        session = screen.widgets.sender.session
        if session is None:
            screen.widgets.hints.show(NOT_YET)
        elif screen.widgets.sender.is_busy:
            screen.widgets.hints.show(BUSY)
        elif session.id == session_id:
            screen.widgets.hints.show(OPEN_ALREADY)
        else:
            self._run_in_order(self._switch(session_id, notice, text))
            return
        self._return(text)

    def show_again(self, text: str, level: NoticeLevel, draft: str) -> None:
        """Show the same session again as it is now; `draft` does not replace another one."""
        # Never resumed: what waits moves to the new screen, which would not know of a turn that began before.
        self._app.session_screen.widgets.sender.pause()
        self._run_in_order(self._again(text, level, draft))

    def _run_in_order(self, work: Coroutine[Any, Any, None]) -> None:
        """Let each switch finish first: halfway, a session has no screen and keys wait."""
        earlier = [each for each in self._app.workers if each.group == _GROUP and not each.is_finished]

        async def after_those() -> None:
            for worker in earlier:
                await worker.wait()
            await work

        self._app.run_worker(after_those(), group=_GROUP)

    async def _again(self, text: str, level: NoticeLevel, draft: str) -> None:
        session = self._app.session_screen.widgets.sender.session
        if session is None:
            return
        await self._app.end_if_fails(self._show(session, is_again=True))
        screen = self._app.session_screen
        if draft and screen.prompt.is_empty:
            screen.prompt.show_draft(draft)
            text = f"{text}\n{named(screen, IN_PROMPT, Context.SESSION)}"
        screen.transcript.add_note(level, text)
        screen.transcript.view.follow()
        screen.widgets.sender.resume()

    async def _switch(self, session_id: str, notice: str, text: str) -> None:
        here = self._app.session_screen.widgets.sender.session
        if here is None or here.id != session_id:
            try:
                session = await self._launch.library().open(session_id)
            except UserError as error:
                self._app.session_screen.widgets.hints.show(str(error))
                self._return(text)
                return
            await self._app.end_if_fails(self._show(session))
        screen = self._app.session_screen
        if notice:
            screen.transcript.add_note(NoticeLevel.INFO, notice)
            screen.transcript.view.follow()
        if text:
            screen.widgets.sender.send(text)

    def _return(self, text: str) -> None:
        """Return to the prompt what could not be sent."""
        if text:
            self._app.session_screen.prompt.put_back((text,))

    async def _show(self, session: "Session", *, is_again: bool = False) -> None:
        app, old = self._app, self._app.session_screen
        app.early_keys.hold()
        old.widgets.sender.detach()
        await stop_activity(old)
        left = old.widgets.sender.session
        old.widgets.drafts.stop()
        while app.screen is not old:
            await app.pop_screen()
        new = SessionScreen(self._launch, time.monotonic, lambda: self)
        app.session_screen = app.app_exit.screen = new
        waiting = old.widgets.sender.hand_over() if is_again else ()
        old.widgets.sender.return_waiting()
        draft = old.prompt.whole_text
        await replace_screen(app, new)
        await new.mount_rest()
        if is_again:
            new.widgets.sender.pause(*waiting)
        new.attach(session, is_again=is_again)
        new.prompt.show_draft(draft)
        new.set_focus(new.prompt)
        if not is_again and left is not None:
            # Saved in the new place first: if the program ends in between, the text must not be lost.
            await new.widgets.drafts.is_restored.wait()
            await new.widgets.drafts.save_now()
            await old.widgets.drafts.forget(left)
        await app.early_keys.release_all()
