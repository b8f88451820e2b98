"""A display block in a dialog: whole, wrapped, and aware of whether its end was seen."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message

from coder_tui.protocol.display import DisplayBlock
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.widgets.block_view import BlockView


class Preview(VerticalScroll, can_focus=False):
    """Scrolls a block and says once that its last row has been on the screen."""

    DEFAULT_CSS = """
    Preview {
        height: auto; max-height: 60vh; background: $surface; padding: 0 1; scrollbar-size-vertical: 1;
    }
    """

    class EndShown(Message):
        """There is nothing of the block that the person could not have seen."""

    def __init__(self, block: DisplayBlock, chrome: Chrome) -> None:
        super().__init__(id="preview")
        self._view = BlockView(block, glyphs=chrome)
        self._is_end_shown = False

    def compose(self) -> ComposeResult:
        yield self._view

    def on_mount(self) -> None:
        self.watch(self, "scroll_y", self._look, init=False)
        self.watch(self, "virtual_size", self._look, init=False)

    def on_resize(self) -> None:
        self.call_after_refresh(self._look)

    def turn(self, key: str) -> bool:
        """Scroll by a key; False when the key does not scroll."""
        match key:
            case "up":
                self.scroll_up(animate=False)
            case "down":
                self.scroll_down(animate=False)
            case "pageup":
                self.scroll_page_up(animate=False)
            case "pagedown":
                self.scroll_page_down(animate=False)
            case "home":
                self.scroll_home(animate=False)
            case "end":
                self.scroll_end(animate=False)
            case _:
                return False
        return True

    def _look(self) -> None:
        is_laid_out = self.size.height > 0 and self.virtual_size.height >= self._view.size.height > 0
        if not self._is_end_shown and is_laid_out and self.scroll_y >= self.max_scroll_y:
            self._is_end_shown = True
            self.post_message(self.EndShown())
