"""The tables of commands: built-in ones, and those of files, skills and prompts of MCP servers."""

from collections.abc import Iterable
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
    Source,
    StartSession,
    Submit,
)
from coder_tui.commands.reports import context, copy, cost, export, lsp, permissions, tools
from coder_tui.commands.session import (
    agent,
    build,
    compact,
    fork,
    init,
    pin,
    plan,
    redo,
    remember,
    search,
    undo,
    verify,
)
from coder_tui.protocol.access import Mode
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.mcp.servers import OfferedPrompt
    from coder_tui.skills.command_files import CommandFile, CommandFiles
    from coder_tui.skills.session_skills import SessionSkills
    from coder_tui.skills.skill import Skill


CONFIRM = "confirm"
AUTO_WARNING = (
    "Mode auto runs commands and edits without asking, except what a rule forbids or a protection guards. "
    f"To switch it on, enter: /mode auto {CONFIRM}"
)


def builtin_commands() -> tuple[Command, ...]:
    return (
        _opening("help", "All keys and commands", ScreenName.HELP),
        _opening("model", "Choose a model", ScreenName.MODELS, "[NAME]"),
        Command("mode", "Choose what runs without asking", _mode, "[ask|edits|plan|auto]"),
        Command("agent", "Choose an agent", agent, "[NAME]", ScreenName.AGENTS),
        Command("plan", "Plan mode: read, ask, make a plan", plan, "[TEXT]"),
        Command("build", "Leave plan mode: the agent that changes things", build, "[TEXT]"),
        Command("init", "Let the agent write a first AGENTS.md", init, "[TEXT]"),
        _opening("theme", "Choose the colors, with a preview", ScreenName.THEMES, "[NAME] [--save]"),
        _opening("sessions", "Earlier sessions of this folder", ScreenName.SESSIONS),
        Command("resume", "Resume an earlier session", _resume, "[ID]", ScreenName.SESSIONS),
        Command("new", "Start a new session", _new, opens=ScreenName.SESSIONS),
        Command("search", "Find sessions by their messages", search, "WORDS", ScreenName.SESSIONS),
        Command("fork", "Continue in a copy of this session", fork, opens=ScreenName.SESSIONS),
        Command("rename", "Give this session a title", _rename, "TITLE"),
        *_rearranging(),
        Command("pin", "Keep a text through every compaction", pin, "[TEXT]"),
        Command("remember", "Add to the instructions of each session", remember, "[project|user] TEXT"),
        _opening("review", "Keep or reject changes, hunk by hunk", ScreenName.REVIEW),
        _opening("diff", "Files changed in this session", ScreenName.CHANGES),
        _opening("subagents", "Sub-agents: read what one said, or stop it", ScreenName.SUBAGENTS),
        _opening("todos", "The agent's todo list", ScreenName.TODOS),
        _opening("problems", "Problems reported by language servers", ScreenName.PROBLEMS),
        Command("lsp", "Language servers: status, restart", lsp, "[status|restart NAME]", ScreenName.LSP),
        Command("permissions", "Rules, what you allowed, and decisions", permissions),
        _opening("files", "Mention a file to the agent, or open it", ScreenName.FILES, "[NAME]"),
        _opening("jobs", "Commands in the background: read, stop", ScreenName.JOBS),
        _opening("mcp", "MCP servers: status, restart, log in", ScreenName.MCP),
        _opening("mouse", "Leave the mouse to the terminal, or use it again", ScreenName.MOUSE),
        _opening("trust", "Trust: see what this project includes", ScreenName.TRUST),
        Command("tools", "The tools that the model has", tools),
        _opening("skills", "Skills, and problems with them", ScreenName.SKILLS),
        Command("cost", "Where tokens and money went", cost),
        Command("context", "What fills the context window", context),
        Command("export", "Write this session to a file", export, "[md|jsonl|svg] [FILE]"),
        Command("copy", "Copy the newest reply", copy, "[FILE]"),
        _opening("find", "Search this conversation", ScreenName.FIND, "[WORDS]"),
        _opening("browse", "Browse this conversation with keys", ScreenName.BROWSE),
        _opening("fold", "Expand or collapse all calls", ScreenName.FOLD),
        _opening("thinking", "Thinking: none, summary, full", ScreenName.THINKING),
        _opening("log", "Notices of this session", ScreenName.LOG),
        _opening("doctor", "What is installed, and what is missing", ScreenName.DOCTOR),
        Command("quit", "Quit", _quit),
    )


def _rearranging() -> tuple[Command, ...]:
    """Return the commands that take time, or that messages wait for."""
    return (
        Command(
            "undo",
            "Undo the newest turn: files and messages",
            undo,
            "[files|conversation|kept]",
            holds_messages=True,
        ),
        Command(
            "redo",
            "Redo the turn that was undone last",
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
            "Replace old messages by a summary",
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
        return Say("Name the title: /rename TITLE", NoticeLevel.WARNING)
    await session.rename(argument)
    return Say(f"This session is now called “{argument}”.")


async def _quit(session: "Session", argument: str) -> Intent:
    return Leave()


ANY_ARGUMENTS = "[ARGUMENTS]"
ANY_TASK = "[what to do]"


def builtin_names() -> frozenset[str]:
    """Return the names that no file may have."""
    return frozenset(command.name for command in builtin_commands())


def with_custom(commands: Iterable[Command], custom: "CommandFiles") -> tuple[Command, ...]:
    """Add a command for each file; their names are free already."""
    return _with_more(commands, map(_custom_command, custom.found.commands))


def with_prompts(commands: Iterable[Command], prompts: "Iterable[OfferedPrompt]") -> tuple[Command, ...]:
    """Add a command for each prompt whose name is still free: `/server:prompt` calls it."""
    return _with_more(commands, map(_prompt_command, prompts))


def with_skills(commands: Iterable[Command], skills: "SessionSkills") -> tuple[Command, ...]:
    """Add a command for each skill whose name is still free."""
    return _with_more(commands, map(_skill_command, skills.callable_by_user()))


def _with_more(commands: Iterable[Command], more: Iterable[Command]) -> tuple[Command, ...]:
    table = {command.name: command for command in commands}
    for command in more:
        table.setdefault(command.name, command)
    return tuple(table.values())


def _custom_command(command: "CommandFile") -> Command:
    return Command(
        command.name,
        safe_line(command.description),
        _caller(command.name),
        _hint(command),
        source=Source.OWN if command.is_own else Source.PROJECT,
    )


def _hint(command: "CommandFile") -> str:
    """In brackets: no command is kept from running because nothing stands behind its name."""
    hint = safe_line(command.argument_hint)
    return hint if hint.startswith("[") else f"[{hint}]" if hint else ANY_ARGUMENTS


def _skill_command(skill: "Skill") -> Command:
    return Command(
        skill.name.lower(),
        safe_line(skill.description),
        _caller(skill.name),
        safe_line(skill.argument_hint) or ANY_TASK,
        source=Source.SKILL if skill.source.is_own else Source.PROJECT_SKILL,
    )


def _caller(name: str) -> Run:
    async def run(session: "Session", argument: str) -> Intent:
        # The message itself calls the command or skill, wherever it comes from; its text goes along.
        return Submit(f"/{name} {argument}".rstrip())

    return run


def _prompt_command(prompt: "OfferedPrompt") -> Command:
    words = safe_line(prompt.info.description or prompt.info.name)
    return Command(prompt.command, words, _prompt_caller(prompt), safe_line(prompt.usage), source=Source.MCP)


def _prompt_caller(prompt: "OfferedPrompt") -> Run:
    call = _caller(prompt.command)

    async def run(session: "Session", argument: str) -> Intent:
        from coder_tui.mcp.servers import PromptArgumentsError  # the menu is needed before

        try:
            prompt.filled(argument)
        except PromptArgumentsError as error:
            return Say(f"{error}", NoticeLevel.WARNING)
        return await call(session, argument)

    return run
