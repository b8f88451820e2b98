"""Commands in the background: how each stands, what it printed, and an end to it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen

if TYPE_CHECKING:
    from coder_tui.agent.user_shell import JobDesk
    from coder_tui.shell.jobs import JobState


NONE = "Nothing runs in the background."


class JobsScreen(PickerScreen):
    """Stays open while one is read or stopped; `read` shows what a job printed on a page of its own."""

    BINDINGS = bindings(Context.JOBS)
    help_context = Context.JOBS
    heading = "Background jobs"
    types_at_once = False
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "read its output"),
        ("x x", "stop it"),
        ("/", "filter"),
        ("Esc", "close"),
    )

    def __init__(self, chrome: Chrome, desk: "JobDesk", read: Callable[[str, str], None]) -> None:
        super().__init__(chrome)
        self._desk = desk
        self._read = read
        self._deaf: Callable[[], None] = lambda: None

    def on_unmount(self) -> None:
        self._deaf()

    def fill(self) -> None:
        self._deaf = self._desk.watch(self.reload)
        self.reload()

    def reload(self) -> None:
        """Newest first."""
        self.list.show([self._item(state) for state in reversed(self._desk.states())], empty=NONE)

    def choose(self, item: Item) -> None:
        output = self._desk.output(item.key)
        self._read(f"{item.key}  {item.label}", output or "It printed nothing yet.")

    def action_stop(self) -> None:
        item = self.list.marked
        if item is None:
            return
        if not item.is_ready:
            self.say("It has ended already.")
        elif self.pressed_twice(item.key, f"Press x again to stop {item.key}."):
            self.say(f"Stopping {item.key}{self.chrome.more}")
            self.run_worker(self._stop(item.key), group="jobs")

    async def _stop(self, job_id: str) -> None:
        try:
            await self._desk.stop(job_id)
        except UserError as error:
            self.say(str(error), "$text-error")

    def _item(self, state: "JobState") -> Item:
        if state.is_running:
            words = f"{self.chrome.running} running"
        elif state.exit_code == 0:
            words = f"{self.chrome.ok} exit 0"
        else:
            words = f"{self.chrome.failed} exit {state.exit_code}"
        return Item(
            key=state.id,
            label=safe_line(state.command),
            lead=state.id,
            details=(how_long(state.seconds), words),
            note=safe_line(state.command),
            is_ready=state.is_running,
        )


def how_long(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
