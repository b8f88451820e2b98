"""The table of built-in commands."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import (
    Command,
    Intent,
    Leave,
    OpenScreen,
    Run,
    Say,
    ScreenName,
    SetMode,
    StartSession,
)
from coder_tui.commands.cost import cost
from coder_tui.commands.history import compact, pin, redo, undo
from coder_tui.commands.reports import context, copy, export, lsp, permissions, tools
from coder_tui.commands.session import agent, build, fork, init, plan, remember, search, verify
from coder_tui.protocol.access import Mode
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


CONFIRM = "confirm"
AUTO_WARNING = (
    "Mode auto runs commands and edits without asking, except what a rule forbids or a protection guards. "
    f"To switch it on, enter: /mode auto {CONFIRM}"
)


def builtin_commands() -> tuple[Command, ...]:
    return (
        _opening("help", "All keys and commands", ScreenName.HELP),
        _opening("model", "Choose the model", ScreenName.MODELS, "[NAME]"),
        Command("mode", "Choose how much runs without a question", _mode, "[ask|edits|plan|auto]"),
        Command("agent", "Choose who works", agent, "[NAME]", ScreenName.AGENTS),
        Command("plan", "Plan mode: read, ask, make a plan", plan, "[TEXT]"),
        Command("build", "Leave plan mode: the agent that changes things", build, "[TEXT]"),
        Command("init", "Have a first AGENTS.md written for this project", init, "[TEXT]"),
        _opening("theme", "Choose the colours, with a preview", ScreenName.THEMES, "[NAME] [--save]"),
        _opening("sessions", "Earlier sessions of this folder", ScreenName.SESSIONS),
        Command("resume", "Go on with an earlier session", _resume, "[ID]", ScreenName.SESSIONS),
        Command("new", "Begin a new session", _new, opens=ScreenName.SESSIONS),
        Command("search", "Find sessions by what was said in them", search, "WORDS", ScreenName.SESSIONS),
        Command("fork", "Go on in a copy of this session", fork, opens=ScreenName.SESSIONS),
        Command("rename", "Give this session a title", _rename, "TITLE"),
        *_rearranging(),
        Command("pin", "Keep words through every compaction", pin, "[TEXT]"),
        Command("remember", "Add to the instructions of each session", remember, "[project|user] TEXT"),
        _opening("review", "Keep or reject changes, hunk by hunk", ScreenName.REVIEW),
        _opening("diff", "What was changed in this session", ScreenName.CHANGES),
        _opening("subagents", "Sub-agents: read what one said, or stop it", ScreenName.SUBAGENTS),
        _opening("todos", "The agent's todo list", ScreenName.TODOS),
        _opening("problems", "What language servers complain about", ScreenName.PROBLEMS),
        Command("lsp", "Language servers: states, restart", lsp, "[status|restart NAME]", ScreenName.LSP),
        Command("permissions", "Rules, what you allowed, and decisions", permissions),
        _opening("files", "Name a file for the agent, or open it", ScreenName.FILES, "[NAME]"),
        _opening("jobs", "Commands in the background: read, stop", ScreenName.JOBS),
        _opening("mcp", "MCP servers: states, restart, log in, switch off", ScreenName.MCP),
        _opening("mouse", "Leave the mouse to the terminal, or take it back", ScreenName.MOUSE),
        _opening("trust", "What this project brings along, and whether you trust it", ScreenName.TRUST),
        Command("tools", "The tools that the model has", tools),
        _opening("skills", "The skills there are, and what is wrong with any", ScreenName.SKILLS),
        Command("cost", "Where tokens and money went", cost),
        Command("context", "What fills the model's window", context),
        Command("export", "Write this session to a file", export, "[md|jsonl|svg] [FILE]"),
        Command("copy", "Copy the newest reply", copy, "[FILE]"),
        _opening("find", "Search this conversation", ScreenName.FIND, "[WORDS]"),
        _opening("browse", "Walk through this conversation by keys", ScreenName.BROWSE),
        _opening("fold", "Expand or collapse all calls", ScreenName.FOLD),
        _opening("thinking", "Thinking: none, summary, full, in turn", ScreenName.THINKING),
        _opening("log", "Notices of this session", ScreenName.LOG),
        _opening("doctor", "What is installed, and what is missing", ScreenName.DOCTOR),
        Command("quit", "Leave", _quit),
    )


def _rearranging() -> tuple[Command, ...]:
    """Those that take their time, or that messages wait for."""
    return (
        Command(
            "undo",
            "Take the newest turn back: files and what was said",
            undo,
            "[files|conversation|kept]",
            holds_messages=True,
        ),
        Command(
            "redo",
            "Make the turn again that was taken back",
            redo,
            "[files|conversation]",
            holds_messages=True,
        ),
        Command(
            "verify",
            "Run the project's check, or choose it",
            verify,
            "[on [COMMAND]|off]",
            can_be_stopped=True,
        ),
        Command(
            "compact",
            "Put a summary in place of old messages",
            compact,
            "[preview|undo|WHAT MATTERS]",
            holds_messages=True,
            can_be_stopped=True,
        ),
    )


def _opening(name: str, summary: str, screen: ScreenName, argument: str = "") -> Command:
    return Command(name, summary, _opener(screen), argument, screen)


def _opener(screen: ScreenName) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        return OpenScreen(screen, argument)

    return run


async def _mode(session: "Session", argument: str) -> Intent:
    name, _, rest = argument.lower().partition(" ")
    if not name:
        return OpenScreen(ScreenName.MODES)
    if name not in list(Mode):
        return Say(f"There is no mode {name}; choose from {', '.join(Mode)}.", NoticeLevel.WARNING)
    if name == Mode.AUTO and rest.strip() != CONFIRM:
        return Say(AUTO_WARNING, NoticeLevel.WARNING)
    return SetMode(Mode(name))


async def _resume(session: "Session", argument: str) -> Intent:
    return StartSession(argument) if argument else OpenScreen(ScreenName.SESSIONS)


async def _new(session: "Session", argument: str) -> Intent:
    return StartSession()


async def _rename(session: "Session", argument: str) -> Intent:
    if not argument:
        return Say("Say what to call it: /rename TITLE", NoticeLevel.WARNING)
    await session.rename(argument)
    return Say(f"This session is called “{argument}” now.")


async def _quit(session: "Session", argument: str) -> Intent:
    return Leave()
