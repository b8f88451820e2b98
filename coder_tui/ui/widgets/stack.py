"""How the parts of a dialog share its height, settled in one layout."""

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from coder_tui.ui.widgets.row_list import RowList
from coder_tui.ui.widgets.seen_scroll import SeenScroll


class Stack(Layout):
    """Every part has the height it needs; what scrolls gives way, so that nothing shows for a moment only."""

    name = "stack"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        heights = [_needed(child, size) for child in children]
        missing = max(0, sum(heights) - size.height) if size.height else 0
        placements = []
        y = 0
        for child, height in zip(children, heights, strict=True):
            given = max(1, height - missing) if isinstance(child, SeenScroll | RowList) else height
            region = Region(0, y, size.width, given)
            placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
            y += given
        return placements


def _needed(child: Widget, size: Size) -> int:
    gutter = child.gutter
    width = max(0, size.width - gutter.width)
    height = child.get_content_height(size, child.app.size, width) + gutter.height
    most = child.styles.max_height
    return height if most is None else min(height, int(most.value))
