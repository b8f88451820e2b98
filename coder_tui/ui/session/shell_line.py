"""`!command` in the prompt: runs it beside the conversation; Esc stops it.

What the person began beside the conversation, and may end before its time.
"""

from collections.abc import Callable

from textual.screen import Screen
from textual.worker import Worker

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.session.sender import Conversation
from coder_tui.ui.transcript.transcript import Transcript


class Running:
    def __init__(self) -> None:
        self._workers: list[Worker[None]] = []

    def add(self, worker: Worker[None]) -> None:
        self._workers = [each for each in self._workers if not each.is_finished]
        self._workers.append(worker)

    def stop(self) -> bool:
        """End the newest one that runs; False when none does."""
        while self._workers:
            worker = self._workers.pop()
            if not worker.is_finished:
                worker.cancel()
                return True
        return False


SIGN = "!"
SHARED = "!!"
NOT_YET = "The session is still being opened; the command stays in the prompt."
GOES_ALONG = "What it prints goes to the model with your next message."


class ShellLine:
    """Serves one session screen; `put_back` returns lines that could not be used, `say` shows a sentence."""

    def __init__(
        self,
        screen: Screen[None],
        transcript: Transcript,
        conversation: Conversation,
        put_back: Callable[[tuple[str, ...]], None],
        say: Callable[[str], None],
    ) -> None:
        self._screen = screen
        self._transcript = transcript
        self._conversation = conversation
        self._put_back = put_back
        self._say = say
        self._running = Running()

    def take(self, text: str) -> bool:
        """Whether the line was a command for the shell."""
        command = text.lstrip().removeprefix(SHARED).removeprefix(SIGN).strip()
        if not text.lstrip().startswith(SIGN) or not command:
            return False
        session = self._conversation.session
        if session is None:
            self._transcript.add_note(NoticeLevel.INFO, NOT_YET)
            self._put_back((text,))
            return True
        is_shared = text.lstrip().startswith(SHARED)
        self._transcript.follow()
        self._say(GOES_ALONG if is_shared else f"Only you see what it prints; {SHARED} sends it along.")
        work = session.shell.run(command, is_shared=is_shared)
        self._running.add(self._screen.run_worker(work, group="shell", exit_on_error=True))
        return True

    def stop(self) -> bool:
        """End the newest command that runs; False when none does."""
        return self._running.stop()
