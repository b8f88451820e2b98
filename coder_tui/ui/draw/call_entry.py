"""A tool call in the transcript: a heading with its state, and its result below."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from coder_tui.protocol.access import BY_USER, ToolKind
from coder_tui.protocol.display import DiffBlock, DisplayBlock, SubagentsBlock, TerminalBlock, TextBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.blocks import bounded, draw_block, draw_tree, source_of
from coder_tui.ui.draw.entries import GUTTER, Entry, View, more_row
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.streamed import rows_of
from coder_tui.ui.draw.strips import cut_text, plain_rows, plain_strip, prefix_rows, to_strip, wrapped

LIVE_ROWS = 5
FIRST_ROWS = 3
LAST_ROWS = 10
ERROR_ROWS = 3
MOST_DIFF_LINES = 200
SHORT_REASON = 30
# The texts of `protocol.errors`. Sessions stored by version 0.1 have another word for the user.
_REFUSED = re.compile(r"\Athe \w+ refused this call")
_STOPPED = re.compile(r"the \w+ stopped this call")
REST = "the rest is not shown here: open the block to read it"
_ERROR = re.compile(
    r"\b(error|exception|traceback|failed|failure|fatal|panic|panicked|cannot|undefined|not found)\b"
    r"|\bE\s{3}|Error\b",
    re.IGNORECASE,
)
"""What most tools print if something went wrong."""


class CallState(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    STOPPED = "stopped"

    @property
    def is_live(self) -> bool:
        return self in {CallState.RUNNING, CallState.WAITING}


def state_of(outcome: Outcome) -> CallState:
    match outcome:
        case Outcome.OK:
            return CallState.OK
        case Outcome.FAILED:
            return CallState.FAILED
        case Outcome.DENIED:
            return CallState.DENIED
        case Outcome.CANCELLED:
            return CallState.STOPPED
        case _:
            assert_never(outcome)


@dataclass(frozen=True, slots=True)
class CallEntry(Entry):
    """`tool`, `summary` and `output` are safe text; `display` is untrusted."""

    tool: str
    summary: str
    kind: ToolKind = ToolKind.OTHER
    state: CallState = CallState.RUNNING
    display: DisplayBlock | None = None
    duration_ms: int = 0
    seconds: int = 0
    output: str = ""
    proposal: DisplayBlock | None = None
    """What was refused; shown again when the entry is expanded."""
    call_id: str = ""

    @property
    def source(self) -> str:
        body = "" if self.display is None else source_of(self.display)
        head = f"{self.tool} {self.summary}".rstrip()
        return "\n".join(part for part in (head, self._proposed, body) if part)

    def is_open(self, view: View) -> bool:
        if view.is_open is not None:
            return view.is_open
        return self.state is CallState.OK and isinstance(self.display, DiffBlock)

    def estimate(self, width: int, view: View) -> int:
        if isinstance(self.display, SubagentsBlock) and not view.is_open:
            return 1 + len(self.display.children)
        if self.display is None or self.state.is_live:
            return 1 + min(LIVE_ROWS, self.output.count("\n"))
        if self._is_said_by_heading and not view.is_open:
            return 1
        rows = rows_of(source_of(self.display), width - GUTTER)
        if view.is_open:
            return 1 + rows + (rows_of(self._proposed, width - GUTTER) if self._proposed else 0)
        if self.is_open(view):
            return 1 + min(rows, MOST_DIFF_LINES)
        return 1 if self._folds else 1 + min(rows, FIRST_ROWS + LAST_ROWS)

    def draw(self, width: int, palette: Palette, view: View) -> list[Strip]:
        room = width - GUTTER
        edge = plain_strip(f"{palette.glyphs.edge} ", GUTTER, self._glyph_and_style(palette)[1])
        body = prefix_rows(edge, self._body(room, palette, view))
        return [*self._heading(width, palette, view, has_body=bool(body)), *body]

    def _heading(self, width: int, palette: Palette, view: View, *, has_body: bool) -> list[Strip]:
        glyph, ink = self._glyph_and_style(palette)
        right = self._note(palette, has_body=has_body)
        struck = Style(strike=True) if self.state is CallState.DENIED else Style()
        left = Text.assemble(
            (f"{glyph} ", ink), (self.tool, palette.strong), "  ", (self.summary, struck), end=""
        )
        room = width - cell_len(right) - 1 if right else width
        if view.is_open and left.cell_len > room:  # expanded, nothing is cut off
            rows = [to_strip(row, width, palette.base) for row in wrapped(left, width)]
            if right:
                rows.append(plain_strip(" " * max(0, width - cell_len(right)) + right, width, palette.dim))
            return rows
        cut_text(left, max(1, room), palette.glyphs.more)
        left.append(" " * (width - left.cell_len - cell_len(right)))
        left.append(right, ink if self.state is not CallState.OK else palette.dim)
        return [to_strip(left, width, palette.base)]

    def _note(self, palette: Palette, *, has_body: bool) -> str:
        """Describe the state, for the right end of the heading."""
        match self.state:
            case CallState.RUNNING:
                return f"running {self.seconds}s" if self.seconds else "running"
            case CallState.WAITING:
                return f"waiting for you   {palette.answer_key} answer"
            case CallState.OK:
                return "  ".join(
                    filter(None, (self._folded(palette, has_body), self._exit(), self._duration()))
                )
            case CallState.FAILED:
                return "  ".join(filter(None, (self._exit() or "failed", self._duration())))
            case CallState.DENIED:
                return f'denied: "{self._reason}"' if self._reason else "denied"
            case CallState.STOPPED:
                return f"{self._stopped}  {self._duration()}".rstrip()
            case _:
                assert_never(self.state)

    @property
    def _reason(self) -> str:
        """The user's reason for refusing, if it is short enough for the heading."""
        text = self.display.text if isinstance(self.display, TextBlock) else ""
        words = _REFUSED.sub("", text, count=1).removeprefix(": ")
        return safe_line(words) if words != text and len(words) <= SHORT_REASON else ""

    @property
    def _stopped(self) -> str:
        """Say who stopped the call: the user, or for example a crash."""
        is_by_user = isinstance(self.display, TextBlock) and _STOPPED.match(self.display.text) is not None
        return "stopped by you" if is_by_user else "stopped"

    @property
    def _is_said_by_heading(self) -> bool:
        """Whether the heading says everything about a refusal."""
        is_bare = isinstance(self.display, TextBlock) and _REFUSED.fullmatch(self.display.text) is not None
        return self.state is CallState.DENIED and (is_bare or bool(self._reason))

    def _folded(self, palette: Palette, has_body: bool) -> str:
        if has_body or self.display is None:
            return ""
        text = source_of(self.display).strip("\n")
        lines = text.count("\n") + 1 if text else 0
        return f"{palette.glyphs.folded} {lines} {'line' if lines == 1 else 'lines'}" if lines else ""

    def _exit(self) -> str:
        if isinstance(self.display, TerminalBlock) and self.display.exit_code is not None:
            return f"exit {self.display.exit_code}"
        return ""

    def _duration(self) -> str:
        if self.duration_ms < 50:
            return ""
        seconds = self.duration_ms / 1000
        if seconds < 10:
            return f"{seconds:.1f}s"
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"

    def _body(self, width: int, palette: Palette, view: View) -> Sequence[Strip]:
        if isinstance(self.display, SubagentsBlock) and (self.state.is_live or not view.is_open):
            return draw_tree(self.display, width, palette)
        if self.display is None or self.state.is_live:
            return self._live_rows(width, palette)
        is_folded = view.is_open is False or (view.is_open is None and self._folds)
        if is_folded:
            return []
        if self.state is CallState.OK and isinstance(self.display, DiffBlock) and not view.is_open:
            return _first_of_diff(self.display, width, palette)
        display = bounded(self.display)
        if isinstance(display, TerminalBlock):
            display = replace(display, exit_code=None)  # the heading says it
        rows = [*self._live_rows(width, palette), *draw_block(display, width, palette)]
        if isinstance(display, DiffBlock) and display is not self.display:
            rows.append(plain_strip(f"{palette.glyphs.more} {REST}", width, palette.dim))
        if view.is_open:
            proposal = draw_block(bounded(self.proposal), width, palette) if self.proposal else []
            return [*proposal, *rows]
        return _shortened(rows, width, palette)

    @property
    def _proposed(self) -> str:
        if isinstance(self.proposal, TerminalBlock):
            return self.proposal.command
        return "" if self.proposal is None else source_of(self.proposal)

    @property
    def _folds(self) -> bool:
        is_read_anyway = isinstance(self.display, DiffBlock) or self.tool == BY_USER
        return self._is_said_by_heading or (self.state is CallState.OK and not is_read_anyway)

    def _live_rows(self, width: int, palette: Palette) -> list[Strip]:
        if not self.output:
            return []
        lines = self.output.rstrip("\n").rsplit("\n", LIVE_ROWS)[-LIVE_ROWS:]
        return list(plain_rows(lines, width, palette.dim, palette.glyphs.more))[-LIVE_ROWS:]

    def _glyph_and_style(self, palette: Palette) -> tuple[str, Style]:
        glyphs = palette.glyphs
        match self.state:
            case CallState.RUNNING:
                return glyphs.running, palette.running
            case CallState.WAITING:
                return glyphs.waiting, palette.warning
            case CallState.OK:
                return glyphs.ok, palette.ok
            case CallState.FAILED:
                return glyphs.failed, palette.failed
            case CallState.DENIED:
                return glyphs.denied, palette.warning
            case CallState.STOPPED:
                return glyphs.stopped, palette.warning
            case _:
                assert_never(self.state)


def finished_call(event: ToolFinished) -> CallEntry:
    return CallEntry(
        safe_line(event.tool),
        safe_line(event.summary),
        state=state_of(event.outcome),
        display=event.display,
        duration_ms=event.duration_ms,
        call_id=event.call_id,
    )


def _shortened(rows: list[Strip], width: int, palette: Palette) -> list[Strip]:
    """Return the first and last rows, and the first error between them."""
    end = len(rows) - LAST_ROWS
    if end - FIRST_ROWS <= 1:
        return rows
    error = next((row for row in range(FIRST_ROWS, end) if _ERROR.search(rows[row].text)), end)
    shown = [*rows[:FIRST_ROWS]]
    if error > FIRST_ROWS:
        shown.append(more_row(error - FIRST_ROWS, width, palette))
    after = min(end, error + ERROR_ROWS)
    shown += rows[error:after]
    if after < end:
        shown.append(more_row(end - after, width, palette))
    return [*shown, *rows[end:]]


def _first_of_diff(block: DiffBlock, width: int, palette: Palette) -> list[Strip]:
    """Draw only the first lines: an edit may be ten thousand lines long."""
    lines = block.diff.split("\n", MOST_DIFF_LINES)
    if len(lines) <= MOST_DIFF_LINES:
        return draw_block(block, width, palette)
    shown = replace(block, diff="\n".join(lines[:-1]))
    hidden = lines[-1].rstrip("\n").count("\n") + 1
    return [*draw_block(shown, width, palette), more_row(hidden, width, palette)]
