"""The one list to choose from: rows in columns, narrowed down by a few typed letters."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from coder_tui.text.fuzzy import FuzzyIndex
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.lists.row_list import RowList

_GAP = 2
_LEAST_LABEL = 24
"""Cells; columns behind the label give way before it gets narrower."""
_LEAST_DETAIL = 12
_FOUND = Style(bold=True, underline=True)


@dataclass(frozen=True, slots=True)
class Item:
    """`key` is what is chosen; `lead` and `details` are columns, of which the last gives way last.

    `note` says more about the marked row, `also` is searched without being shown.
    """

    key: str
    label: str
    lead: str = ""
    details: tuple[str, ...] = ()
    note: str = ""
    group: str = ""
    also: str = ""
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    """An item with the places that were found in its label, or a heading."""

    item: Item | None
    found: tuple[int, ...] = ()
    heading: str = ""


class FuzzyList(RowList):
    """Filtered rows come in the order of their fitness, without headings."""

    DEFAULT_CSS = "FuzzyList { height: 1fr; background: $surface; }"

    def __init__(self, choose: Callable[[], None], *, glyphs: Glyphs = UNICODE) -> None:
        """`choose` is called by Enter, at once: the next key may be meant for what comes then."""
        super().__init__(glyphs=glyphs)
        self._choose = choose
        self._all: tuple[Item, ...] = ()
        self._index = FuzzyIndex(())
        self._rows: list[_Row] = []
        self._marks: list[int] = []
        self._query = ""
        self._empty = ""
        self.keeps_order = False
        """Whether what fits comes in the order in which it was given."""

    @property
    def marked(self) -> Item | None:
        return self._rows[self._marks[self.cursor]].item if self._marks else None

    @property
    def counted(self) -> str:
        """How many there are, and how many of them fit."""
        shown, every = len(self._marks), len(self._all)
        return f"{every}" if shown == every else f"{shown} of {every}"

    @property
    def rows_unfiltered(self) -> int:
        return len(_grouped(self._all))

    def show(self, items: Sequence[Item], marked: str | None = None, *, empty: str = "Nothing here.") -> None:
        """`marked` is the key of the item to begin with; otherwise the mark stays where it is."""
        wanted = marked if marked is not None else (self.marked.key if self.marked else None)
        self._all, self._empty = tuple(items), empty
        self._index = FuzzyIndex([f"{_clean(item.label)} {item.also}" for item in self._all])
        self._fill(wanted)

    def filter(self, query: str) -> None:
        if query != self._query:
            self._query = query
            self._fill(None)

    def action_page(self, way: int) -> None:
        """By rows, headings among them: none may be passed unseen."""
        if self._marks:
            row = self._marks[self.cursor] + way * max(1, self.size.height - 1)
            at = bisect_right(self._marks, row) - 1 if way > 0 else bisect_left(self._marks, row)
            self.move_to(max(at, self.cursor + 1) if way > 0 else min(at, self.cursor - 1))

    def action_page_up(self) -> None:
        """In place of what a scrolled widget does: the mark would stay behind."""
        self.action_page(-1)

    def action_page_down(self) -> None:
        self.action_page(1)

    def action_choose(self) -> None:
        self._choose()

    def _fill(self, wanted: str | None) -> None:
        if self._query.strip():
            found = self._index.search(self._query, len(self._all))
            if self.keeps_order:
                found.sort(key=lambda match: match.index)
            self._rows = [_Row(self._all[match.index], match.positions) for match in found]
        else:
            self._rows = _grouped(self._all)
        self._marks = [at for at, row in enumerate(self._rows) if row.item is not None]
        keys = [item.key for row in self._rows if (item := row.item) is not None]
        self.set_rows(max(1, len(self._rows)), self._marks, keys.index(wanted) if wanted in keys else 0)
        self.post_message(self.Moved())

    def draw(self, row: int, width: int) -> Text:
        if row >= len(self._rows):
            words = f"Nothing fits {safe_line(self._query)}." if self._all else self._empty
            return Text(f" {words}", style=self.palette.dim)
        shown = self._rows[row]
        if shown.item is None:
            return Text(f" {shown.heading}" if shown.heading else "", style=self.palette.heading)
        return self._drawn(shown.item, shown.found, width)

    def _drawn(self, item: Item, found: tuple[int, ...], width: int) -> Text:
        palette, more = self.palette, self.palette.glyphs.more
        lead = max((cell_len(each.lead) for each in self._all), default=0)
        # A label with nothing behind it may have all of the row.
        columns = self._columns(width - (lead + _GAP if lead else 0) - 1) if any(item.details) else []
        behind = sum(each + _GAP for each in columns)
        room = max(1, width - 1 - behind - (lead + _GAP if lead else 0))
        label = cut(_clean(item.label), room, more)
        text = Text(" ", style=palette.base if item.is_ready else palette.dim)
        if lead:
            text.append(_right(item.lead, lead) + " " * _GAP, palette.dim)
        start = len(text)
        text.append(set_cell_size(label, room))
        for at in found:
            if at < len(label):
                text.stylize(_FOUND, start + at, start + at + 1)
        details = item.details[len(item.details) - len(columns) :] if columns else ()
        for at, (detail, size) in enumerate(zip(details, columns, strict=True)):
            is_last = at == len(columns) - 1
            shown = cut(detail, size, more)
            padded = set_cell_size(shown, size) if is_last else _right(shown, size)
            text.append(" " * _GAP + padded, palette.dim)
        return text

    def _columns(self, room: int) -> list[int]:
        """Widths of the columns behind the label that there is room for, the last ones first."""
        count = max((len(item.details) for item in self._all), default=0)
        sizes = [
            max(cell_len(item.details[at]) for item in self._all if at < len(item.details))
            for at in range(count)
        ]
        longest = max((cell_len(item.label) for item in self._all), default=0)
        widest = max(_LEAST_DETAIL, room // 3, room - longest - _GAP)
        sizes = [min(size, widest) for size in sizes]
        label = min(_LEAST_LABEL, longest)
        while sizes and sum(size + _GAP for size in sizes) + label > room:
            sizes.pop(0)
        return sizes


def _grouped(items: Sequence[Item]) -> list[_Row]:
    rows: list[_Row] = []
    group = ""
    for item in items:
        if item.group != group:
            group = item.group
            rows += [_Row(None)] * bool(rows) + [_Row(None, heading=group)]
        rows.append(_Row(item))
    return rows


def _clean(label: str) -> str:
    return safe_line(label)


def _right(text: str, width: int) -> str:
    return " " * max(0, width - cell_len(text)) + text
