"""Every key of the program in one table: bindings, help and the palette are made from it."""

from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding, BindingType


class Context(StrEnum):
    """Where a key holds; the value is the heading in the help."""

    GLOBAL = "Anywhere"
    SESSION = "Session"
    COMPOSER = "Prompt"
    TRANSCRIPT = "Browsing (Tab out of the prompt)"
    PANE = "Panes beside the conversation"
    LIST = "Lists"
    CHANGES = "Changes"
    PROBLEMS = "Problems"
    PAGER = "Reading a block"
    DIFF = "Diff"
    REVIEW = "Review"
    APPROVAL = "Approval"
    QUESTIONS = "Questions"
    PLAN = "Plan"
    WAITING = "Waiting requests"
    TRUST = "Trust"
    PICKER = "Choosing from a list"
    SESSIONS = "List of sessions"
    SUBAGENTS = "List of sub-agents"
    THEMES = "List of themes"
    FILES = "List of files"
    JOBS = "List of background jobs"
    LSP = "List of language servers"
    MCP = "List of MCP servers"
    FIRST_RUN = "Welcome"
    REPLAY = "Replay"
    HELP = "Help"


@dataclass(frozen=True, slots=True)
class KeyAction:
    """One action: `id` is what a person remaps, `keys` a comma-separated list, `action` what Textual runs.

    Rows without an action describe keys that a widget reads itself. A priority key overtakes what was typed
    just before it, so none that looks at the draft may be one.
    """

    id: str
    context: Context
    keys: str
    action: str
    title: str
    is_priority: bool = False
    in_palette: bool = True
    in_help: bool = True


def _row(
    id: str,
    context: Context,
    keys: str,
    action: str,
    title: str,
    *,
    priority: bool = False,
    palette: bool = True,
    help: bool = True,
) -> KeyAction:
    return KeyAction(id, context, keys, action, title, priority, palette, help)


_G, _S, _C, _T, _R = Context.GLOBAL, Context.SESSION, Context.COMPOSER, Context.TRANSCRIPT, Context.PAGER
_D, _V, _A, _P, _H = Context.DIFF, Context.REVIEW, Context.APPROVAL, Context.TRUST, Context.HELP
_N, _L, _E, _K = Context.PANE, Context.LIST, Context.PROBLEMS, Context.PICKER
_Q, _O, _W, _Y = Context.QUESTIONS, Context.PLAN, Context.WAITING, Context.REPLAY

KEYS: tuple[KeyAction, ...] = (
    _row("app.palette", _G, "ctrl+p", "app.command_palette", "Command palette", palette=False),
    _row("app.help", _G, "f1", "app.help", "Help"),
    _row("app.repaint", _G, "ctrl+l", "app.repaint", "Repaint the screen", priority=True),
    _row("app.suspend", _G, "ctrl+z", "app.suspend_process", "Suspend to the shell", priority=True),
    _row("app.quit", _G, "", "app.quit", "Quit"),
    _row("session.interrupt", _S, "escape", "screen.escape", "Stop the agent, or go to the prompt"),
    _row("session.cancel", _S, "ctrl+c", "screen.cancel", "Copy, stash the draft, stop, quit"),
    _row("session.answer", _S, "f8,alt+r", "screen.answer", "Answer the waiting request", priority=True),
    _row("session.chat", _S, "f2", "screen.chat", "Go to the prompt and the newest line"),
    _row("session.changes", _S, "f3", "screen.changes", "Changes: go there, again to review"),
    _row("session.review", _S, "", "screen.review", "Review the changes by hunk"),
    _row("session.todo", _S, "f4", "screen.todo", "Todo list: go there, again to hide"),
    _row("session.problems", _S, "f5", "screen.problems", "Problems: go there, again to hide"),
    _row("session.next_problem", _S, "alt+n", "screen.problem(1)", "Next problem"),
    _row("session.previous_problem", _S, "alt+p", "screen.problem(-1)", "Previous problem"),
    _row("session.mode", _S, "shift+tab", "screen.mode", "Next mode: ask, edits, plan"),
    _row("session.fold", _S, "ctrl+o", "screen.fold", "Expand or collapse all calls", priority=True),
    _row("session.thinking", _S, "alt+t", "screen.thinking", "Thinking: none, summary, full", priority=True),
    _row("session.sessions", _S, "", "screen.sessions", "Earlier sessions"),
    _row("session.new", _S, "", "app.start_session", "New session"),
    _row("session.models", _S, "", "screen.models", "Choose the model"),
    _row("session.modes", _S, "", "screen.modes", "Choose the mode"),
    _row("session.agents", _S, "", "screen.agents", "Choose who works"),
    _row("session.skills", _S, "", "screen.skills", "Skills: call one, or see what is wrong"),
    _row("session.themes", _S, "", "screen.themes", "Choose the theme, with a preview"),
    _row("session.subagents", _S, "alt+s", "screen.subagents", "Sub-agents: read or stop one", priority=True),
    _row("session.files", _S, "f6", "screen.files", "Files: name one, or open it in $EDITOR"),
    _row("session.mcp", _S, "", "screen.mcp", "MCP servers: states, restart, log in, switch off"),
    _row("session.lsp", _S, "", "screen.lsp", "Language servers: states, restart"),
    _row("session.jobs", _S, "", "screen.jobs", "Background jobs: read what one printed, or stop it"),
    _row("session.mouse", _S, "", "screen.mouse", "Mouse: for the program, or left to the terminal"),
    _row("session.doctor", _S, "", "screen.doctor", "What is installed, and what is missing"),
    _row("session.trust", _S, "", "screen.trust", "What this project brings along, and whether you trust it"),
    _row("session.browse", _S, "", "screen.browse", "Browse the transcript by keys"),
    _row("session.search", _S, "", "screen.search", "Search the transcript"),
    _row("session.log", _S, "", "screen.log", "Messages that were shown for a moment"),
    _row("session.page_up", _S, "pageup", "screen.page(-1)", "Page up", priority=True, palette=False),
    _row("session.page_down", _S, "pagedown", "screen.page(1)", "Page down", priority=True, palette=False),
    _row("prompt.send", _C, "enter", "", "Send (queue while the agent works)", palette=False),
    _row("prompt.newline", _C, "ctrl+j,shift+enter", "newline", "New line (or \\ then Enter)", palette=False),
    _row("prompt.older", _C, "up", "older", "Older message, at the first line", palette=False),
    _row("prompt.newer", _C, "down", "newer", "Newer message, at the last line", palette=False),
    _row(
        "prompt.complete",
        _C,
        "tab",
        "",
        "Take the suggestion for @file or /command, else browse",
        palette=False,
    ),
    _row("prompt.file", _C, "at", "", "Name a file for the agent: @file, @file:10-20", palette=False),
    _row("prompt.command", _C, "slash", "", "At the beginning: a command of the program", palette=False),
    _row("prompt.shell", _C, "exclamation_mark", "", "Likewise: a shell command; !! shares", palette=False),
    _row("prompt.search", _C, "ctrl+r", "screen.search_history", "Search what was sent before"),
    _row("prompt.editor", _C, "ctrl+g", "screen.edit_draft", "Write the message in $EDITOR"),
    _row("prompt.paste", _C, "ctrl+v", "screen.paste", "Paste a picture or text from the clipboard"),
    _row("prompt.undo", _C, "ctrl+underscore", "undo", "Undo typing", palette=False),
    # Again, because a text field has these keys for copying and for marking a line.
    _row("prompt.cancel", _C, "ctrl+c", "screen.cancel", "Cancel", palette=False, help=False),
    _row("prompt.files", _C, "f6", "screen.files", "Files", palette=False, help=False),
    _row("prompt.end", _C, "ctrl+d", "end", "Quit, when the prompt is empty", palette=False),
    _row("transcript.next", _T, "j", "move(1)", "Mark the next block", palette=False),
    _row("transcript.previous", _T, "k", "move(-1)", "Mark the previous block", palette=False),
    _row("transcript.message", _T, "J", "message(1)", "Mark your next message", palette=False),
    _row("transcript.message_up", _T, "K", "message(-1)", "Mark your previous message", palette=False),
    _row("transcript.first", _T, "g,home", "end(-1)", "Go to the beginning", palette=False),
    _row("transcript.last", _T, "G,end", "end(1)", "Go to the end and follow it", palette=False),
    _row("transcript.half_up", _T, "ctrl+u", "half(-1)", "Half a page up", palette=False),
    _row("transcript.half_down", _T, "ctrl+d", "half(1)", "Half a page down", palette=False),
    _row("transcript.search", _T, "slash", "search", "Search; Enter keeps the hits, Esc ends", palette=False),
    _row("transcript.hit", _T, "n", "hit(1)", "Next hit", palette=False),
    _row("transcript.hit_up", _T, "N", "hit(-1)", "Previous hit", palette=False),
    _row("transcript.fold", _T, "o", "fold", "Expand or collapse the marked block", palette=False),
    _row("transcript.fold_all", _T, "O", "screen.fold", "Expand or collapse all calls", palette=False),
    _row(
        "transcript.read", _T, "v,enter", "read", "Read all of the block on a page of its own", palette=False
    ),
    _row("transcript.copy", _T, "y", "copy", "Copy the block", palette=False),
    _row("transcript.code", _T, "c", "copy_code", "Copy its code; again for the next piece", palette=False),
    _row(
        "transcript.edit", _T, "e", "edit", "Open the changed file, or the block, in $EDITOR", palette=False
    ),
    _row("transcript.again", _T, "u", "screen.send_again", "Edit your message, send it again"),
    _row("transcript.sessions", _T, "s", "screen.sessions", "Earlier sessions", palette=False),
    _row("transcript.new", _T, "S", "app.start_session", "New session", palette=False),
    _row("transcript.modes", _T, "M", "screen.modes", "Choose the mode", palette=False),
    _row("transcript.themes", _T, "t", "screen.themes", "Choose the theme", palette=False),
    _row("transcript.models", _T, "m", "screen.models", "Choose the model", palette=False),
    _row("transcript.files", _T, "f", "screen.files", "Files: name one, or open it", palette=False),
    _row("transcript.jobs", _T, "b", "screen.jobs", "Background jobs", palette=False),
    _row("transcript.help", _T, "question_mark", "app.help", "Help", palette=False),
    _row("transcript.palette", _T, "colon", "app.command_palette", "Command palette", palette=False),
    _row("transcript.review", _T, "r", "screen.review", "Review the changes by hunk", palette=False),
    _row("transcript.prompt", _T, "i", "screen.chat", "Back to the prompt", palette=False),
    _row("transcript.leave", _T, "escape", "leave", "End the search, stop, or go back", palette=False),
    _row("pane.leave", _N, "escape", "leave", "Back to the prompt", palette=False),
    _row("pane.review", _N, "r", "screen.review", "Review the changes by hunk", palette=False),
    _row("pane.prompt", _N, "i", "leave", "Back to the prompt", palette=False, help=False),
    _row("pane.page_up", _N, "pageup", "page(-1)", "A page up", priority=True, palette=False),
    _row("pane.page_down", _N, "pagedown", "page(1)", "A page down", priority=True, palette=False),
    _row("list.next", _L, "j,down", "move(1)", "Mark the next one", palette=False),
    _row("list.previous", _L, "k,up", "move(-1)", "Mark the previous one", palette=False),
    _row("list.first", _L, "g,home", "end(-1)", "Go to the beginning", palette=False),
    _row("list.last", _L, "G,end", "end(1)", "Go to the end", palette=False),
    _row("list.open", _L, "enter", "choose", "Open the marked one", palette=False),
    _row("changes.scope", Context.CHANGES, "t", "scope", "Newest turn, or all of it", palette=False),
    _row("problems.next", _E, "right_square_bracket", "move(1)", "Next problem", palette=False),
    _row("problems.previous", _E, "left_square_bracket", "move(-1)", "Previous problem", palette=False),
    _row("problems.read", _E, "v", "read", "Read all of its message", palette=False),
    _row("problems.fix", _E, "f", "fix", "Ask the agent to fix it", palette=False),
    _row("pager.down", _R, "j,down", "line(1)", "A line down", palette=False),
    _row("pager.up", _R, "k,up", "line(-1)", "A line up", palette=False),
    _row("pager.half_up", _R, "ctrl+u,b", "half(-1)", "Half a page up", palette=False),
    _row("pager.half_down", _R, "ctrl+d,space", "half(1)", "Half a page down", palette=False),
    _row("pager.page_up", _R, "pageup", "page_up", "A page up", palette=False),
    _row("pager.page_down", _R, "pagedown", "page_down", "A page down", palette=False),
    _row("pager.first", _R, "g,home", "end(-1)", "Go to the beginning", palette=False),
    _row("pager.last", _R, "G,end", "end(1)", "Go to the end", palette=False),
    _row("pager.search", _R, "slash", "search", "Search; Enter keeps the hits, Esc ends", palette=False),
    _row("pager.hit", _R, "n", "hit(1)", "Next hit", palette=False),
    _row("pager.hit_up", _R, "N", "hit(-1)", "Previous hit", palette=False),
    _row("pager.copy", _R, "y", "copy", "Copy all of it", palette=False),
    _row("pager.edit", _R, "e", "edit", "Open it in $EDITOR", palette=False),
    _row("pager.close", _R, "escape,q,v", "leave", "End the search, or close", palette=False),
    _row("diff.layout", _D, "vertical_line", "layout", "One column or two", palette=False),
    _row("diff.wrap", _D, "w", "wrap", "Wrap long lines, or scroll sideways", palette=False),
    _row("diff.blanks", _D, "i", "blanks", "Show blanks, tabs and line ends", palette=False),
    _row("diff.more", _D, "plus", "context(1)", "More lines around changes", palette=False),
    _row("diff.less", _D, "minus", "context(-1)", "Fewer lines around changes", palette=False),
    _row("diff.next_hunk", _D, "right_square_bracket", "hunk(1)", "Next hunk", palette=False),
    _row("diff.previous_hunk", _D, "left_square_bracket", "hunk(-1)", "Previous hunk", palette=False),
    _row("diff.next_file", _D, "right_curly_bracket", "file(1)", "Next file", palette=False),
    _row("diff.previous_file", _D, "left_curly_bracket", "file(-1)", "Previous file", palette=False),
    _row("diff.names", _D, "h", "names", "Names in the hunk: what each is, where defined", palette=False),
    _row("review.keep", _V, "y", "decide(True)", "Keep the hunk, go on", palette=False),
    _row("review.reject", _V, "n", "decide(False)", "Reject the hunk, go on", palette=False),
    _row("review.keep_file", _V, "Y", "decide_file(True)", "Keep the whole file", palette=False),
    _row("review.reject_file", _V, "N", "decide_file(False)", "Reject the whole file", palette=False),
    _row("review.toggle", _V, "space", "turn_over", "Keep, reject, undecided, in turn", palette=False),
    _row("review.comment", _V, "c", "comment", "Comment on the hunk", palette=False),
    _row("review.split", _V, "s", "split", "Take the hunk apart", palette=False),
    _row("review.lines", _V, "v", "lines", "Take it apart line by line", palette=False),
    _row("review.undo", _V, "u", "undo", "Take the last decision back", palette=False),
    _row("review.next_open", _V, "J", "undecided(1)", "Next undecided hunk", palette=False),
    _row("review.previous_open", _V, "K", "undecided(-1)", "Previous undecided hunk", palette=False),
    _row("review.down", _V, "j", "line(1)", "A line down", palette=False),
    _row("review.up", _V, "k", "line(-1)", "A line up", palette=False),
    _row("review.half_down", _V, "ctrl+d", "half(1)", "Half a page down", palette=False),
    _row("review.half_up", _V, "ctrl+u", "half(-1)", "Half a page up", palette=False),
    _row("review.scope", _V, "t", "scope", "Newest turn, or all of the session", palette=False),
    _row("review.edit", _V, "e", "edit", "Open the place in $EDITOR", palette=False),
    _row("review.send", _V, "enter", "send", "Undo what is rejected and tell the agent", palette=False),
    _row("review.close", _V, "escape,q,ctrl+c", "leave", "Back; decisions are kept", palette=False),
    _row("review.put_away", _V, "f3", "put_away", "Back, and hide the changes", palette=False),
    _row("review.help", _V, "f1,question_mark", "app.help", "This help", palette=False),
    _row("approval.allow", _A, "ctrl+y", "", "Allow once", palette=False),
    _row("approval.allow_letter", _A, "y", "", "Allow once, where it can be undone", palette=False),
    _row("approval.always", _A, "a", "", "Allow always: choose the scope, then Ctrl+Y", palette=False),
    _row("approval.deny", _A, "n", "", "Deny", palette=False),
    _row("approval.explain", _A, "d", "", "Deny and say why", palette=False),
    _row("approval.edit", _A, "e", "", "Edit it first, in $VISUAL or $EDITOR", palette=False),
    _row("approval.full", _A, "v", "", "Use the whole width, or less again", palette=False),
    _row(
        "approval.hunk",
        _A,
        "right_square_bracket,left_square_bracket,alt+j,alt+k",
        "",
        "Next or previous hunk of a change",
        palette=False,
    ),
    _row("approval.refuse_hunk", _A, "x,alt+x", "", "Refuse the marked hunk, or not", palette=False),
    _row("approval.layout", _A, "vertical_line,alt+l", "", "A change in one column or two", palette=False),
    _row("approval.wrap", _A, "w,alt+z", "", "Wrap long lines of a change, or cut them", palette=False),
    _row("approval.cancel", _A, "escape", "", "Cancel the turn", palette=False),
    _row("approval.why", _A, "question_mark,alt+w", "", "Why was I asked: rule and findings", palette=False),
    _row("approval.chords", _A, "alt+a,alt+n,alt+d,alt+e,alt+v", "", "The same, at once", palette=False),
    _row("approval.list", _A, "f8", "screen.list", "All that waits", palette=False),
    _row("approval.help", _A, "f1", "app.help", "This help; the request waits", palette=False),
    _row("approval.palette", _A, "ctrl+p", "", "Nothing: the palette stays closed here", palette=False),
    _row("questions.pick", _Q, "1,2,3,4,5,6,7,8,9", "", "Pick an option", palette=False),
    _row("questions.move", _Q, "j,k,up,down", "", "Move the mark", palette=False),
    _row("questions.toggle", _Q, "space", "", "Pick the marked option, or take it back", palette=False),
    _row("questions.next", _Q, "enter", "", "Next question; on the last page send", palette=False),
    _row("questions.turn", _Q, "h,l,left,right", "", "Question before or after", palette=False),
    _row("questions.note", _Q, "tab", "", "Write a note to this question", palette=False),
    _row("questions.review", _Q, "ctrl+y", "", "All answers; there: send", palette=False),
    _row("questions.cancel", _Q, "escape", "", "Cancel all; answers stay here to go on with", palette=False),
    _row("questions.list", _Q, "f8", "screen.list", "All that waits", palette=False),
    _row("questions.help", _Q, "f1", "app.help", "This help; the questions wait", palette=False),
    _row("plan.approve", _O, "ctrl+y", "", "Carry the plan out", palette=False),
    _row("plan.explain", _O, "d,alt+d", "", "Say what to change", palette=False),
    _row("plan.refuse", _O, "n,alt+n", "", "Keep planning", palette=False),
    _row("plan.edit", _O, "e,alt+e", "", "Edit it first, in $VISUAL or $EDITOR", palette=False),
    _row("plan.full", _O, "v,alt+v", "", "Use the whole width, or less again", palette=False),
    _row("plan.cancel", _O, "escape", "", "Not now: neither yes nor no", palette=False),
    _row("plan.list", _O, "f8", "screen.list", "All that waits", palette=False),
    _row("plan.help", _O, "f1", "app.help", "This help; the plan waits", palette=False),
    _row("waiting.open", _W, "enter", "screen.open", "Open the marked one", palette=False),
    _row("waiting.mark", _W, "space", "screen.mark", "Choose it, or not", palette=False),
    _row("waiting.mark_all", _W, "a", "screen.mark_all", "Choose all, or none", palette=False),
    _row("waiting.allow", _W, "ctrl+y", "", "Allow what is chosen; again to confirm", palette=False),
    _row("waiting.refuse", _W, "n", "screen.refuse", "Refuse what is chosen", palette=False),
    _row("waiting.close", _W, "escape", "", "Close the list, or go back", palette=False),
    _row("waiting.help", _W, "f1", "app.help", "This help", palette=False),
    _row("trust.trust", _P, "ctrl+y", "", "Trust what the project brings along", palette=False),
    _row("trust.files", _P, "v", "", "Show the files, or the list again", palette=False),
    _row("trust.refuse", _P, "n", "", "No, and do not ask again for this content", palette=False),
    _row("trust.later", _P, "escape", "", "Not now", palette=False),
    _row("trust.help", _P, "f1", "app.help", "This help; the question waits", palette=False),
    _row("picker.filter", _K, "slash", "filter", "Type what to look for", palette=False),
    _row("picker.page_up", _K, "pageup", "page(-1)", "A page up", palette=False),
    _row("picker.page_down", _K, "pagedown", "page(1)", "A page down", palette=False),
    _row("picker.close", _K, "escape,ctrl+c", "close", "Drop what was typed, or close", palette=False),
    _row("picker.help", _K, "f1", "app.help", "This help", palette=False),
    _row("sessions.new", Context.SESSIONS, "n", "new", "Begin a new session", palette=False),
    _row("sessions.rename", Context.SESSIONS, "r", "rename", "Give it another title", palette=False),
    _row("sessions.delete", Context.SESSIONS, "d", "delete", "Delete it, at the second press", palette=False),
    _row("sessions.restore", Context.SESSIONS, "u", "restore", "Bring back the deleted one", palette=False),
    _row("sessions.all", Context.SESSIONS, "tab", "everywhere", "All folders, or this one", palette=False),
    _row("themes.keep", Context.THEMES, "ctrl+y", "keep", "Use it always, by the settings", palette=False),
    _row("files.edit", Context.FILES, "ctrl+g", "edit", "Open it in $EDITOR", palette=False),
    _row("mcp.restart", Context.MCP, "r", "restart", "Start it anew", palette=False),
    _row("mcp.switch", Context.MCP, "d", "switch", "Off for this session, or on", palette=False),
    _row("mcp.log_in", Context.MCP, "l", "log_in", "Log in with a browser", palette=False),
    _row("lsp.restart", Context.LSP, "r", "restart", "Start it anew", palette=False),
    _row("jobs.stop", Context.JOBS, "x", "stop", "Stop it, at the second press", palette=False),
    _row("welcome.demo", Context.FIRST_RUN, "d", "demo", "Try the demo", palette=False),
    _row("welcome.look", Context.FIRST_RUN, "r", "look", "Look for a model again", palette=False),
    _row("welcome.trust", Context.FIRST_RUN, "t", "trust", "Whether you trust the folder", palette=False),
    _row("welcome.leave", Context.FIRST_RUN, "q", "leave", "Quit", palette=False),
    _row("subagents.stop", Context.SUBAGENTS, "x", "stop", "Stop it; the others go on", palette=False),
    _row("replay.pause", _Y, "space", "screen.pause", "Halt, or go on", palette=False),
    _row("replay.next", _Y, "right", "screen.next", "Show the next step at once", palette=False),
    _row("replay.all", _Y, "end", "screen.all", "Show everything at once", palette=False),
    _row("replay.page_up", _Y, "pageup", "screen.page(-1)", "A page up", palette=False),
    _row("replay.page_down", _Y, "pagedown", "screen.page(1)", "A page down", palette=False),
    _row("replay.fold", _Y, "ctrl+o", "screen.fold", "Expand or collapse all calls", palette=False),
    _row("replay.leave", _Y, "escape,q,ctrl+c", "screen.leave", "Leave", palette=False),
    _row("replay.help", _Y, "f1,question_mark", "app.help", "This help", palette=False),
    _row("help.close", _H, "f1", "leave", "Close", palette=False),
)

RESERVED = frozenset(
    ["ctrl+b", "ctrl+a", "ctrl+s", "ctrl+q", "f10", "f11", "alt+enter", "ctrl+h", "ctrl+i", "ctrl+m"]
    + [f"alt+{digit}" for digit in range(10)]
)
"""Keys that terminals, multiplexers and desktops take, or that arrive as another key."""


def bindings(context: Context) -> list[BindingType]:
    """Textual bindings of one context; their ids make them remappable."""
    return [
        Binding(row.keys, row.action, row.title, show=False, priority=row.is_priority, id=row.id)
        for row in KEYS
        if row.context is context and row.keys and row.action
    ]


_NAMES = {
    "escape": "Esc",
    "underscore": "_",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "vertical_line": "|",
    "plus": "+",
    "minus": "-",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "slash": "/",
    "at": "@",
    "exclamation_mark": "!",
    "colon": ":",
    "question_mark": "?",
}


def shown(keys: str) -> str:
    """Keys as a person reads them: `f8,alt+r` is `F8, Alt+R`."""
    return ", ".join("+".join(_part(part, key) for part in key.split("+")) for key in keys.split(",") if key)


def _part(part: str, key: str) -> str:
    if part in _NAMES:
        return _NAMES[part]
    is_letter = len(part) == 1 and "+" not in key
    return part if is_letter else part.capitalize()
