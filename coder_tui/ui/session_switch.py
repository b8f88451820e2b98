"""Puts another session on the screen; the old one is left once the new one is open."""

import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.exit import quieten
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.textual_internals import replace_screen

if TYPE_CHECKING:  # the app holds this
    from coder_tui.agent.session import Session
    from coder_tui.ui.app import CoderApp

NOT_YET = "The session is still being opened."
BUSY = "The agent is working; stop it first (Esc)."
IN_PROMPT = "Your message is in the prompt: Ctrl+C puts it away, for /redo or another command."
OPEN_ALREADY = "This session is open already."
_GROUP = "switch"


class SessionSwitch:
    """The draft comes along, and so does what is typed meanwhile."""

    def __init__(self, app: "CoderApp", launch: Launch) -> None:
        self._app = app
        self._launch = launch

    def start(self, session_id: str, told: str = "", text: str = "") -> None:
        """An empty id begins a new session; `told` is said in it, then `text` is sent."""
        screen = self._app.session_screen
        session = screen.conversation.session
        if session is None:
            screen.hints.show(NOT_YET)
        elif screen.conversation.is_busy:
            screen.hints.show(BUSY)
        elif session.id == session_id:
            screen.hints.show(OPEN_ALREADY)
        else:
            self._in_turn(self._switch(session_id, told, text))
            return
        self._return(text)

    def show_again(self, text: str, level: NoticeLevel, draft: str) -> None:
        """The same session, as it stands now; `draft` does not take the place of another one."""
        # For good: what waits goes along to the new screen, which would not know of a turn begun before.
        self._app.session_screen.conversation.hold()
        self._in_turn(self._again(text, level, draft))

    def _in_turn(self, work: Coroutine[Any, Any, None]) -> None:
        """None is cut off by the next: halfway there are a session without a screen and keys that wait."""
        earlier = [each for each in self._app.workers if each.group == _GROUP and not each.is_finished]

        async def after_those() -> None:
            for worker in earlier:
                await worker.wait()
            await work

        self._app.run_worker(after_those(), group=_GROUP)

    async def _again(self, text: str, level: NoticeLevel, draft: str) -> None:
        session = self._app.session_screen.conversation.session
        if session is None:
            return
        await self._app.end_if_fails(self._show(session, is_again=True))
        screen = self._app.session_screen
        if draft and screen.prompt.is_empty:
            screen.prompt.show_draft(draft)
            text = f"{text}\n{named(screen, IN_PROMPT, Context.SESSION)}"
        screen.transcript.add_note(level, text)
        screen.transcript.follow()
        screen.conversation.go_on()

    async def _switch(self, session_id: str, told: str, text: str) -> None:
        here = self._app.session_screen.conversation.session
        if here is None or here.id != session_id:
            try:
                session = await self._launch.shelf().open(session_id)
            except UserError as error:
                self._app.session_screen.hints.show(str(error))
                self._return(text)
                return
            await self._app.end_if_fails(self._show(session))
        screen = self._app.session_screen
        if told:
            screen.transcript.add_note(NoticeLevel.INFO, told)
            screen.transcript.follow()
        if text:
            screen.conversation.send(text)

    def _return(self, text: str) -> None:
        """What could not be sent stays the person's."""
        if text:
            self._app.session_screen.prompt.put_back((text,))

    async def _show(self, session: "Session", *, is_again: bool = False) -> None:
        app, old = self._app, self._app.session_screen
        app.early_keys.hold()
        old.conversation.detach()
        await quieten(old)
        left = old.conversation.session
        old.furniture.unsent.stop()
        while app.screen is not old:
            await app.pop_screen()
        new = SessionScreen(self._launch, time.monotonic)
        app.session_screen = app.departure.screen = new
        waiting = old.conversation.move() if is_again else ()
        old.conversation.take_back()
        draft = old.prompt.whole_text
        await replace_screen(app, new)
        await new.furnish()
        if is_again:
            new.conversation.hold(*waiting)
        new.attach(session, is_again=is_again)
        new.prompt.show_draft(draft)
        new.set_focus(new.prompt)
        if not is_again and left is not None:
            # First where they are now: an end in between must not find the words nowhere.
            await new.furniture.unsent.is_restored.wait()
            await new.furniture.unsent.keep_now()
            await old.furniture.unsent.forget(left)
        await app.early_keys.let_all()
