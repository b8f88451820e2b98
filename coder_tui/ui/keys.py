"""Every key of the program in one table: bindings, help and the palette are made from it."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from textual.binding import Binding, BindingType


class Context(StrEnum):
    """Where a key is active; the value is the heading in the help."""

    GLOBAL = "Anywhere"
    SESSION = "Session"
    COMPOSER = "Prompt"
    TRANSCRIPT = "Browsing (Tab out of the prompt)"
    PANE = "Panes next to the conversation"
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
    """One action: `id` is what a user remaps, `keys` a comma-separated list, `action` what Textual runs.

    Rows without an action describe keys that a widget reads itself. A priority key overtakes what was typed
    just before it, so an action that reads the draft must not have one.
    """

    id: str
    context: Context
    keys: str
    action: str
    title: str
    is_priority: bool = False
    in_palette: bool = False
    in_help: bool = True


_command = partial(KeyAction, in_palette=True)
"""A key whose action is also in the command palette."""
_urgent = partial(_command, is_priority=True)


def _run(name: str) -> str:
    """Return the action by which a key runs an entry of the session screen's table (`SessionActions`)."""
    return f"screen.run('{name}')"


_G, _S, _C, _T, _R = Context.GLOBAL, Context.SESSION, Context.COMPOSER, Context.TRANSCRIPT, Context.PAGER
_D, _V, _A, _P, _H = Context.DIFF, Context.REVIEW, Context.APPROVAL, Context.TRUST, Context.HELP
_N, _L, _E, _K = Context.PANE, Context.LIST, Context.PROBLEMS, Context.PICKER
_Q, _O, _W, _Y = Context.QUESTIONS, Context.PLAN, Context.WAITING, Context.REPLAY

KEYS: tuple[KeyAction, ...] = (
    KeyAction("app.palette", _G, "ctrl+p", "app.command_palette", "Command palette"),
    _command("app.help", _G, "f1", "app.help", "Help"),
    _urgent("app.repaint", _G, "ctrl+l", "app.repaint", "Repaint the screen"),
    _urgent("app.suspend", _G, "ctrl+z", "app.suspend_process", "Suspend to the shell"),
    _command("app.quit", _G, "", "app.quit", "Quit"),
    _command("session.interrupt", _S, "escape", _run("escape"), "Stop the agent, or go to the prompt"),
    _command("session.cancel", _S, "ctrl+c", _run("cancel"), "Copy, stash the draft, stop, or quit"),
    _urgent("session.answer", _S, "f8,alt+r", _run("answer"), "Answer the waiting request"),
    _command("session.chat", _S, "f2", _run("chat"), "Go to the prompt and the newest output"),
    _command("session.changes", _S, "f3", _run("changes"), "Show changes; press again to review"),
    _command("session.review", _S, "", _run("review"), "Review the changes hunk by hunk"),
    _command("session.todo", _S, "f4", _run("todos"), "Show the todo list; press again to hide"),
    _command("session.problems", _S, "f5", _run("problems"), "Show problems; press again to hide"),
    _command("session.next_problem", _S, "alt+n", _run("next_problem"), "Next problem"),
    _command("session.previous_problem", _S, "alt+p", _run("previous_problem"), "Previous problem"),
    _command("session.mode", _S, "shift+tab", _run("mode"), "Next mode: ask, edits, plan"),
    _urgent("session.fold", _S, "ctrl+o", _run("fold"), "Expand or collapse all tool calls"),
    _urgent("session.thinking", _S, "alt+t", _run("thinking"), "Thinking: none, summary, full"),
    _command("session.sessions", _S, "", _run("sessions"), "Open an earlier session"),
    _command("session.new", _S, "", "app.start_session", "Start a new session"),
    _command("session.models", _S, "", _run("models"), "Choose a model"),
    _command("session.modes", _S, "", _run("modes"), "Choose a mode"),
    _command("session.agents", _S, "", _run("agents"), "Choose an agent"),
    _command("session.skills", _S, "", _run("skills"), "Skills: use one, or see its problems"),
    _command("session.themes", _S, "", _run("themes"), "Choose a theme, with a preview"),
    _urgent("session.subagents", _S, "alt+s", _run("subagents"), "Sub-agents: read or stop one"),
    _command("session.files", _S, "f6", _run("files"), "Files: mention one, or open it in $EDITOR"),
    _command("session.mcp", _S, "", _run("mcp"), "MCP servers: status, restart, log in"),
    _command("session.lsp", _S, "", _run("lsp"), "Language servers: status, restart"),
    _command("session.jobs", _S, "", _run("jobs"), "Background jobs: read output, stop one"),
    _command("session.mouse", _S, "", _run("mouse"), "Mouse: for the terminal or the program"),
    _command("session.doctor", _S, "", _run("doctor"), "Check what is installed or missing"),
    _command("session.trust", _S, "", _run("trust"), "Trust: see what this project includes"),
    _command("session.browse", _S, "", _run("browse"), "Browse the conversation with the keyboard"),
    _command("session.search", _S, "", _run("find"), "Search the conversation"),
    _command("session.log", _S, "", _run("log"), "Show earlier notices again"),
    KeyAction("session.page_up", _S, "pageup", _run("page_up"), "Page up", is_priority=True),
    KeyAction("session.page_down", _S, "pagedown", _run("page_down"), "Page down", is_priority=True),
    KeyAction("prompt.send", _C, "enter", "", "Send (queue while the agent works)"),
    KeyAction("prompt.newline", _C, "ctrl+j,shift+enter", "newline", "New line (or \\ then Enter)"),
    KeyAction("prompt.older", _C, "up", "older", "Older message, from the first line"),
    KeyAction("prompt.newer", _C, "down", "newer", "Newer message, from the last line"),
    KeyAction("prompt.complete", _C, "tab", "", "Accept the suggestion, else browse"),
    KeyAction("prompt.file", _C, "at", "", "Mention a file: @file, @file:10-20"),
    KeyAction("prompt.command", _C, "slash", "", "Run a command, at the start of a message"),
    KeyAction("prompt.shell", _C, "exclamation_mark", "", "Run a shell command; !! shares its output"),
    _command("prompt.search", _C, "ctrl+r", _run("search_history"), "Search earlier messages"),
    _command("prompt.editor", _C, "ctrl+g", _run("edit_draft"), "Edit the message in $EDITOR"),
    _command("prompt.paste", _C, "ctrl+v", _run("paste"), "Paste a picture or text"),
    KeyAction("prompt.undo", _C, "ctrl+underscore", "undo", "Undo typing"),
    # Again, because a text field has these keys for copying and for marking a line.
    KeyAction("prompt.cancel", _C, "ctrl+c", _run("cancel"), "Cancel", in_help=False),
    KeyAction("prompt.files", _C, "f6", _run("files"), "Files", in_help=False),
    KeyAction("prompt.end", _C, "ctrl+d", "end", "Quit, if the prompt is empty"),
    KeyAction("transcript.next", _T, "j", "move(1)", "Next block"),
    KeyAction("transcript.previous", _T, "k", "move(-1)", "Previous block"),
    KeyAction("transcript.message", _T, "J", "message(1)", "Your next message"),
    KeyAction("transcript.message_up", _T, "K", "message(-1)", "Your previous message"),
    KeyAction("transcript.first", _T, "g,home", "end(-1)", "Go to the top"),
    KeyAction("transcript.last", _T, "G,end", "end(1)", "Go to the end and follow new output"),
    KeyAction("transcript.half_up", _T, "ctrl+u", "half(-1)", "Half a page up"),
    KeyAction("transcript.half_down", _T, "ctrl+d", "half(1)", "Half a page down"),
    KeyAction("transcript.search", _T, "slash", "search", "Search; Enter keeps the hits, Esc closes"),
    KeyAction("transcript.hit", _T, "n", "hit(1)", "Next hit"),
    KeyAction("transcript.hit_up", _T, "N", "hit(-1)", "Previous hit"),
    KeyAction("transcript.fold", _T, "o", "fold", "Expand or collapse the block"),
    KeyAction("transcript.fold_all", _T, "O", _run("fold"), "Expand or collapse all tool calls"),
    KeyAction("transcript.read", _T, "v,enter", "read", "Read the whole block on its own page"),
    KeyAction("transcript.copy", _T, "y", "copy", "Copy the block"),
    KeyAction("transcript.code", _T, "c", "copy_code", "Copy its code; again for the next piece"),
    KeyAction("transcript.edit", _T, "e", "edit", "Open the changed file or block in $EDITOR"),
    _command("transcript.again", _T, "u", _run("send_again"), "Edit your message and send it again"),
    KeyAction("transcript.sessions", _T, "s", _run("sessions"), "Open an earlier session"),
    KeyAction("transcript.new", _T, "S", "app.start_session", "Start a new session"),
    KeyAction("transcript.modes", _T, "M", _run("modes"), "Choose a mode"),
    KeyAction("transcript.themes", _T, "t", _run("themes"), "Choose a theme"),
    KeyAction("transcript.models", _T, "m", _run("models"), "Choose a model"),
    KeyAction("transcript.files", _T, "f", _run("files"), "Files: mention one, or open it in $EDITOR"),
    KeyAction("transcript.jobs", _T, "b", _run("jobs"), "Background jobs"),
    KeyAction("transcript.help", _T, "question_mark", "app.help", "Help"),
    KeyAction("transcript.palette", _T, "colon", "app.command_palette", "Command palette"),
    KeyAction("transcript.review", _T, "r", _run("review"), "Review the changes hunk by hunk"),
    KeyAction("transcript.prompt", _T, "i", _run("chat"), "Back to the prompt"),
    KeyAction("transcript.leave", _T, "escape", "leave", "Close the search, stop, or go back"),
    KeyAction("pane.leave", _N, "escape", "leave", "Back to the prompt"),
    KeyAction("pane.review", _N, "r", _run("review"), "Review the changes hunk by hunk"),
    KeyAction("pane.prompt", _N, "i", "leave", "Back to the prompt", in_help=False),
    KeyAction("pane.page_up", _N, "pageup", "page(-1)", "Page up", is_priority=True),
    KeyAction("pane.page_down", _N, "pagedown", "page(1)", "Page down", is_priority=True),
    KeyAction("list.next", _L, "j,down", "move(1)", "Next item"),
    KeyAction("list.previous", _L, "k,up", "move(-1)", "Previous item"),
    KeyAction("list.first", _L, "g,home", "end(-1)", "Go to the top"),
    KeyAction("list.last", _L, "G,end", "end(1)", "Go to the end"),
    KeyAction("list.open", _L, "enter", "choose", "Open the selected item"),
    KeyAction("changes.scope", Context.CHANGES, "t", "scope", "Show the newest turn, or the whole session"),
    KeyAction("problems.next", _E, "right_square_bracket", "move(1)", "Next problem"),
    KeyAction("problems.previous", _E, "left_square_bracket", "move(-1)", "Previous problem"),
    KeyAction("problems.read", _E, "v", "read", "Read the whole message"),
    KeyAction("problems.fix", _E, "f", "fix", "Ask the agent to fix it"),
    KeyAction("pager.down", _R, "j,down", "line(1)", "Line down"),
    KeyAction("pager.up", _R, "k,up", "line(-1)", "Line up"),
    KeyAction("pager.half_up", _R, "ctrl+u,b", "half(-1)", "Half a page up"),
    KeyAction("pager.half_down", _R, "ctrl+d,space", "half(1)", "Half a page down"),
    KeyAction("pager.page_up", _R, "pageup", "page_up", "Page up"),
    KeyAction("pager.page_down", _R, "pagedown", "page_down", "Page down"),
    KeyAction("pager.first", _R, "g,home", "end(-1)", "Go to the top"),
    KeyAction("pager.last", _R, "G,end", "end(1)", "Go to the end"),
    KeyAction("pager.search", _R, "slash", "search", "Search; Enter keeps the hits, Esc closes"),
    KeyAction("pager.hit", _R, "n", "hit(1)", "Next hit"),
    KeyAction("pager.hit_up", _R, "N", "hit(-1)", "Previous hit"),
    KeyAction("pager.copy", _R, "y", "copy", "Copy everything"),
    KeyAction("pager.edit", _R, "e", "edit", "Open it in $EDITOR"),
    KeyAction("pager.close", _R, "escape,q,v", "leave", "Close the search, or the page"),
    KeyAction("diff.layout", _D, "vertical_line", "layout", "Switch between one column and two"),
    KeyAction("diff.wrap", _D, "w", "wrap", "Wrap long lines, or scroll sideways"),
    KeyAction("diff.blanks", _D, "i", "blanks", "Show blanks, tabs and line endings"),
    KeyAction("diff.more", _D, "plus", "context(1)", "More lines around the changes"),
    KeyAction("diff.less", _D, "minus", "context(-1)", "Fewer lines around the changes"),
    KeyAction("diff.next_hunk", _D, "right_square_bracket", "hunk(1)", "Next hunk"),
    KeyAction("diff.previous_hunk", _D, "left_square_bracket", "hunk(-1)", "Previous hunk"),
    KeyAction("diff.next_file", _D, "right_curly_bracket", "file(1)", "Next file"),
    KeyAction("diff.previous_file", _D, "left_curly_bracket", "file(-1)", "Previous file"),
    KeyAction("diff.names", _D, "h", "names", "Look up a name in the hunk"),
    KeyAction("review.keep", _V, "y", "decide(True)", "Keep the hunk and go to the next one"),
    KeyAction("review.reject", _V, "n", "decide(False)", "Reject the hunk and go to the next one"),
    KeyAction("review.keep_file", _V, "Y", "decide(True, 'file')", "Keep the whole file"),
    KeyAction("review.reject_file", _V, "N", "decide(False, 'file')", "Reject the whole file"),
    KeyAction("review.toggle", _V, "space", "next_verdict", "Switch between keep, reject and undecided"),
    KeyAction("review.comment", _V, "c", "comment", "Comment on the hunk"),
    KeyAction("review.split", _V, "s", "split(False)", "Split the hunk"),
    KeyAction("review.lines", _V, "v", "split(True)", "Split the hunk into lines"),
    KeyAction("review.undo", _V, "u", "undo", "Undo the last decision"),
    KeyAction("review.next_open", _V, "J", "undecided(1)", "Next undecided hunk"),
    KeyAction("review.previous_open", _V, "K", "undecided(-1)", "Previous undecided hunk"),
    KeyAction("review.down", _V, "j", "line(1)", "Line down"),
    KeyAction("review.up", _V, "k", "line(-1)", "Line up"),
    KeyAction("review.half_down", _V, "ctrl+d", "half(1)", "Half a page down"),
    KeyAction("review.half_up", _V, "ctrl+u", "half(-1)", "Half a page up"),
    KeyAction("review.scope", _V, "t", "scope", "Show the newest turn, or the whole session"),
    KeyAction("review.edit", _V, "e", "edit", "Open this line in $EDITOR"),
    KeyAction("review.send", _V, "enter", "send", "Undo rejected hunks, inform the agent"),
    KeyAction("review.close", _V, "escape,q,ctrl+c", "leave", "Go back; your decisions are kept"),
    KeyAction("review.put_away", _V, "f3", "put_away", "Go back and hide the changes"),
    KeyAction("review.help", _V, "f1,question_mark", "app.help", "Show this help"),
    KeyAction("approval.allow", _A, "ctrl+y", "", "Allow once"),
    KeyAction("approval.allow_letter", _A, "y", "", "Allow once, if it can be undone"),
    KeyAction("approval.always", _A, "a", "", "Always allow: choose a scope, then Ctrl+Y"),
    KeyAction("approval.deny", _A, "n", "", "Deny"),
    KeyAction("approval.explain", _A, "d", "", "Deny and say why"),
    KeyAction("approval.edit", _A, "e", "", "Edit it first, in $VISUAL or $EDITOR"),
    KeyAction("approval.full", _A, "v", "", "Use the full width, or not"),
    KeyAction(
        "approval.hunk",
        _A,
        "right_square_bracket,left_square_bracket,alt+j,alt+k",
        "",
        "Next or previous hunk of a change",
    ),
    KeyAction("approval.refuse_hunk", _A, "x,alt+x", "", "Refuse the hunk, or allow it again"),
    KeyAction("approval.layout", _A, "vertical_line,alt+l", "", "Show a change in one column or two"),
    KeyAction("approval.wrap", _A, "w,alt+z", "", "Wrap long lines, or cut them off"),
    KeyAction("approval.cancel", _A, "escape", "", "Cancel the turn"),
    KeyAction("approval.why", _A, "question_mark,alt+w", "", "Show why you are asked: rule and findings"),
    KeyAction(
        "approval.chords", _A, "alt+a,alt+n,alt+d,alt+e,alt+v", "", "The same as the letters, but at once"
    ),
    KeyAction("approval.list", _A, "f8", "screen.list", "Show all waiting requests"),
    KeyAction("approval.help", _A, "f1", "app.help", "Show this help; the request waits"),
    KeyAction("approval.palette", _A, "ctrl+p", "", "Nothing: the palette stays closed here"),
    KeyAction("questions.pick", _Q, "1,2,3,4,5,6,7,8,9", "", "Pick an option"),
    KeyAction("questions.move", _Q, "j,k,up,down", "", "Move up or down"),
    KeyAction("questions.toggle", _Q, "space", "", "Select or unselect the option"),
    KeyAction("questions.next", _Q, "enter", "", "Next question; on the last page, send"),
    KeyAction("questions.turn", _Q, "h,l,left,right", "", "Previous or next question"),
    KeyAction("questions.note", _Q, "tab", "", "Add a note to this question"),
    KeyAction("questions.review", _Q, "ctrl+y", "", "Show all answers; press again to send"),
    KeyAction("questions.cancel", _Q, "escape", "", "Cancel; your answers are kept for later"),
    KeyAction("questions.list", _Q, "f8", "screen.list", "Show all waiting requests"),
    KeyAction("questions.help", _Q, "f1", "app.help", "Show this help; the questions wait"),
    KeyAction("plan.approve", _O, "ctrl+y", "", "Carry out the plan"),
    KeyAction("plan.explain", _O, "d,alt+d", "", "Say what to change"),
    KeyAction("plan.refuse", _O, "n,alt+n", "", "Keep planning"),
    KeyAction("plan.edit", _O, "e,alt+e", "", "Edit it first, in $VISUAL or $EDITOR"),
    KeyAction("plan.full", _O, "v,alt+v", "", "Use the full width, or not"),
    KeyAction("plan.cancel", _O, "escape", "", "Not now; decide later"),
    KeyAction("plan.list", _O, "f8", "screen.list", "Show all waiting requests"),
    KeyAction("plan.help", _O, "f1", "app.help", "Show this help; the plan waits"),
    KeyAction("waiting.open", _W, "enter", "screen.open", "Open the selected request"),
    KeyAction("waiting.mark", _W, "space", "screen.mark", "Choose it, or not"),
    KeyAction("waiting.mark_all", _W, "a", "screen.mark_all", "Choose all, or none"),
    KeyAction("waiting.allow", _W, "ctrl+y", "", "Allow the chosen ones; again to confirm"),
    KeyAction("waiting.refuse", _W, "n", "screen.refuse", "Refuse the chosen ones"),
    KeyAction("waiting.close", _W, "escape", "", "Close the list, or go back"),
    KeyAction("waiting.help", _W, "f1", "app.help", "Show this help"),
    KeyAction("trust.trust", _P, "ctrl+y", "", "Trust what the project includes"),
    KeyAction("trust.files", _P, "v", "", "Show the files, or the list again"),
    KeyAction("trust.refuse", _P, "n", "", "Do not trust it, and do not ask again"),
    KeyAction("trust.later", _P, "escape", "", "Not now"),
    KeyAction("trust.help", _P, "f1", "app.help", "Show this help; the question waits"),
    KeyAction("picker.filter", _K, "slash", "filter", "Filter the list"),
    KeyAction("picker.page_up", _K, "pageup", "page(-1)", "Page up"),
    KeyAction("picker.page_down", _K, "pagedown", "page(1)", "Page down"),
    KeyAction("picker.close", _K, "escape,ctrl+c", "close", "Clear the filter, or close"),
    KeyAction("picker.help", _K, "f1", "app.help", "Show this help"),
    KeyAction("sessions.new", Context.SESSIONS, "n", "new", "Start a new session"),
    KeyAction("sessions.rename", Context.SESSIONS, "r", "rename", "Rename it"),
    KeyAction("sessions.delete", Context.SESSIONS, "d", "delete", "Delete it; press twice"),
    KeyAction(
        "sessions.restore", Context.SESSIONS, "u", "restore", "Restore the session that was deleted last"
    ),
    KeyAction("sessions.all", Context.SESSIONS, "tab", "everywhere", "Show this folder, or all folders"),
    KeyAction("themes.keep", Context.THEMES, "ctrl+y", "keep", "Save it in your settings"),
    KeyAction("files.edit", Context.FILES, "ctrl+g", "edit", "Open it in $EDITOR"),
    KeyAction("mcp.restart", Context.MCP, "r", "restart", "Restart it"),
    KeyAction("mcp.switch", Context.MCP, "d", "switch", "Turn it off for this session, or on again"),
    KeyAction("mcp.log_in", Context.MCP, "l", "log_in", "Log in with a browser"),
    KeyAction("lsp.restart", Context.LSP, "r", "restart", "Restart it"),
    KeyAction("jobs.stop", Context.JOBS, "x", "stop", "Stop it; press twice"),
    KeyAction("welcome.demo", Context.FIRST_RUN, "d", "demo", "Try the demo"),
    KeyAction("welcome.look", Context.FIRST_RUN, "r", "look", "Look for a model again"),
    KeyAction("welcome.trust", Context.FIRST_RUN, "t", "trust", "Decide whether you trust the folder"),
    KeyAction("welcome.leave", Context.FIRST_RUN, "q", "leave", "Quit"),
    KeyAction("subagents.stop", Context.SUBAGENTS, "x", "stop", "Stop it; the others continue"),
    KeyAction("replay.pause", _Y, "space", _run("pause"), "Pause or continue"),
    KeyAction("replay.next", _Y, "right", _run("next"), "Show the next step at once"),
    KeyAction("replay.all", _Y, "end", _run("all"), "Show everything at once"),
    KeyAction("replay.page_up", _Y, "pageup", _run("page_up"), "Page up"),
    KeyAction("replay.page_down", _Y, "pagedown", _run("page_down"), "Page down"),
    KeyAction("replay.fold", _Y, "ctrl+o", _run("fold"), "Expand or collapse all tool calls"),
    KeyAction("replay.leave", _Y, "escape,q,ctrl+c", _run("leave"), "Leave"),
    KeyAction("replay.help", _Y, "f1,question_mark", "app.help", "Show this help"),
    KeyAction("help.close", _H, "f1", "leave", "Close"),
)

RESERVED = frozenset(
    ["ctrl+b", "ctrl+a", "ctrl+s", "ctrl+q", "f10", "f11", "alt+enter", "ctrl+h", "ctrl+i", "ctrl+m"]
    + [f"alt+{digit}" for digit in range(10)]
)
"""Keys that terminals, multiplexers and desktops take, or that arrive as another key."""


def bindings(context: Context) -> list[BindingType]:
    """Return Textual bindings of one context; their ids make them remappable."""
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
    """Format keys for the user: `f8,alt+r` is `F8, Alt+R`."""
    return ", ".join("+".join(_part(part, key) for part in key.split("+")) for key in keys.split(",") if key)


def _part(part: str, key: str) -> str:
    if part in _NAMES:
        return _NAMES[part]
    is_letter = len(part) == 1 and "+" not in key
    return part if is_letter else part.capitalize()
