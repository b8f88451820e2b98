"""Commands that change the session: its agent, its turns, what is sent of it, its instructions, its check."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from coder_tui.agent.profiles.profiles import BUILD, prompt_text
from coder_tui.commands.base import Intent, OpenScreen, Say, ScreenName, ShowAgain, StartSession, Submit
from coder_tui.config.paths import display_path
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ModelError, ToolError, UsageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.context.budget import Kept
    from coder_tui.agent.session import Session
    from coder_tui.agent.undo.undo import UndoResult, UndoScope


PLANNING = "Plan mode: the model reads, asks and makes a plan. Nothing is changed until you approve one."
INIT_CHANGES = "/init writes a file, but plan mode changes nothing. Leave plan mode first: /build"


async def agent(session: "Session", argument: str) -> Intent:
    if not argument:
        return OpenScreen(ScreenName.AGENTS)
    try:
        profile = session.profiles.use(argument)
    except UsageError as error:
        return Say(f"{error}", NoticeLevel.WARNING)
    return Say(f"The agent is now {profile.name}: {profile.description}")


async def plan(session: "Session", argument: str) -> Intent:
    session.set_mode(Mode.PLAN)
    return Submit(argument) if argument else Say(PLANNING)


async def build(session: "Session", argument: str) -> Intent:
    session.profiles.use(BUILD)
    return Submit(argument) if argument else Say(f"The agent is now {BUILD}, in mode {session.mode}.")


async def init(session: "Session", argument: str) -> Intent:
    if session.mode is Mode.PLAN:
        return Say(INIT_CHANGES, NoticeLevel.WARNING)
    asked = prompt_text("init")
    return Submit(f"{asked}\n\nBesides: {argument}" if argument else asked)


async def fork(session: "Session", argument: str) -> Intent:
    """Copy the whole conversation to a session of its own."""
    try:
        made = await session.forks.fork()
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    return StartSession(made.session_id, made.notice)


async def search(session: "Session", argument: str) -> Intent:
    """List the sessions that have these words."""
    if not argument.strip():
        return Say("Name what to look for: /search WORDS", NoticeLevel.WARNING)
    return OpenScreen(ScreenName.SESSIONS, argument)


USAGE = "Name what to remember: /remember TEXT, /remember project TEXT or /remember user TEXT."


async def remember(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.session_state import BUSY
    from coder_tui.tools.builtin.memory import MemoryPlace

    first, _, rest = argument.partition(" ")
    place = MemoryPlace(first) if first in list(MemoryPlace) else None
    fact = rest.strip() if place else argument.strip()
    if not fact:
        return Say(USAGE, NoticeLevel.WARNING)
    if session.is_busy:
        return Say(BUSY, NoticeLevel.WARNING)
    try:
        path = await session.instructions.remember(fact, place)
    except ToolError as error:
        return Say(error.message, NoticeLevel.WARNING)
    return Say(f"Remembered in {path}.")


NO_COMMAND = "No check is known for this folder. Set one with /verify on COMMAND."


async def verify(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.verify import CHOSEN, NONE_CHOSEN

    word, _, rest = argument.strip().partition(" ")
    verifier = session.verifier
    match word:
        case "":
            command = await verifier.command()
            if not command:
                return Say(NO_COMMAND, NoticeLevel.WARNING)
            shown = await verifier.run_now(command)
            if shown is None:
                return Say(f"`{command}` did not run.", NoticeLevel.WARNING)
            return Say(f"`{command}` " + ("passes." if not shown.exit_code else "fails."))
        case "on":
            command = rest.strip() or await verifier.choices.looks_like()
            if not command:
                return Say(NO_COMMAND, NoticeLevel.WARNING)
            await verifier.choices.choose(command)
            return Say(CHOSEN.format(command=command))
        case "off":
            await verifier.choices.choose("")
            return Say(NONE_CHOSEN)
        case _:
            return Say("Use /verify, /verify on [COMMAND] or /verify off.", NoticeLevel.WARNING)


MOST_NAMED = 8
KEPT = "kept"
_MOST_DIGITS = 9


async def undo(session: "Session", argument: str) -> Intent:
    """Undo a turn; `kept` and a number write removed files that may be the user's own to a folder."""
    first, _, rest = argument.strip().partition(" ")
    if first.lower() == KEPT:
        return await _export_undone(session, rest.strip())
    return await _move(session.turns.undo, argument, "Undone")


async def redo(session: "Session", argument: str) -> Intent:
    return await _move(session.turns.redo, argument, "Redone")


async def _move(move: "Callable[[UndoScope], Awaitable[UndoResult]]", argument: str, done: str) -> Intent:
    from coder_tui.agent.undo.undo import UndoScope

    word = argument.strip().lower() or UndoScope.BOTH
    if word not in list(UndoScope):
        return Say("Write files or conversation, or nothing for both.", NoticeLevel.WARNING)
    scope = UndoScope(word)
    try:
        moved = await move(scope)
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    level = NoticeLevel.WARNING if moved.conflicts else NoticeLevel.INFO
    if not scope.has_messages:
        return Say(report(moved, done), level)
    draft = moved.text if done == "Undone" else ""
    return ShowAgain(report(moved, done), level, draft)


async def _export_undone(session: "Session", turn: str) -> Intent:
    if turn and not (turn.isdecimal() and len(turn) <= _MOST_DIGITS):
        return Say("Name the first turn, for example: /undo kept 3", NoticeLevel.WARNING)
    try:
        found = await session.turns.export_undone(int(turn or 1))
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    lines = [f"{_counted(found.names)} in {display_path(found.folder)}: {_names(found.names)}."]
    if found.missing:
        lines.append(f"{found.missing} more could not be written, or were deleted already (undo.keep_days).")
    return Say("\n".join(lines), NoticeLevel.WARNING if found.missing else NoticeLevel.INFO)


def report(moved: "UndoResult", done: str) -> str:
    lines = [f"{done}: turn {moved.turn}, {_said(moved)}."]
    if moved.paths:
        lines.append(f"Files: {_names(moved.paths)}.")
    if moved.seen:
        lines.append(
            f"Changed while a command ran, by it or by you: {_names(moved.seen)}. "
            f"/undo {KEPT} {moved.turn} saves what undo removed to a folder, also later."
        )
    for path, reason in moved.conflicts:
        lines.append(f"{path} was not changed: {reason}.")
    if moved.uncovered:
        lines.append(moved.uncovered)
    return "\n".join(lines)


def _said(moved: "UndoResult") -> str:
    files = _counted(moved.paths)
    if not moved.scope.has_messages:
        return files
    if not moved.scope.has_files:
        return "messages only; files stay as they are"
    if moved.paths:
        return f"messages and {files}"
    # A command may have changed files that were not tracked.
    return f"messages; no file {'is known to have' if moved.uncovered else 'was'} changed"


def _counted(paths: tuple[str, ...]) -> str:
    folders = sum(path.endswith("/") for path in paths)
    files = len(paths) - folders
    counts = [f"{files} file{'' if files == 1 else 's'}"] if files or not folders else []
    counts += [f"{folders} folder{'' if folders == 1 else 's'}"] if folders else []
    return " and ".join(counts)


def _names(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:MOST_NAMED])
    return shown if len(paths) <= MOST_NAMED else f"{shown} and {len(paths) - MOST_NAMED} more"


PREVIEW, UNDO = "preview", "undo"
_KEPT = (
    "The plan and your instructions stay; todos, changed files and open problems are listed as far as there "
    "is room, and files that you attached are named. The screen keeps everything, and /compact undo sends "
    "it all again."
)


async def compact(session: "Session", argument: str) -> Intent:
    """Compact. `preview` and `undo` are special; other text says what the summary should stress."""
    if argument == PREVIEW:
        return Say(await _preview(session))
    try:
        # Messages wait until it is done: a turn would go on with what is about to be summarized.
        async with session.lock.exclusive():
            if argument == UNDO:
                await session.compaction.undo()
            else:
                await session.compaction.compact(argument)
    except (UserError, ModelError) as error:
        return Say(str(error), NoticeLevel.WARNING)
    return Say(f"The next request has about {session.report.usage.context_tokens:,} tokens.")


async def pin(session: "Session", argument: str) -> Intent:
    if not argument:
        pins = await session.compaction.pins()
        return Say(
            "\n".join(f"- {text}" for text in pins)
            or "Nothing is pinned. /pin TEXT keeps a text in every summary."
        )
    await session.compaction.pin(argument)
    return Say("Pinned: every later summary includes it.")


async def _preview(session: "Session") -> str:
    planned = await session.compaction.preview()
    if not planned.messages_going:
        return "There is nothing to compact yet: everything would stay."
    going = f"{planned.messages_going} messages (about {planned.tokens_going:,} tokens)"
    staying = f"{planned.messages_staying} messages (about {planned.tokens_staying:,} tokens)"
    carried = planned.carried
    kept = [
        _kept(carried.words, "message that you typed", "messages that you typed"),
        _kept(carried.pins, "pin", "pins"),
        _kept(carried.skills, "loaded skill", "loaded skills"),
    ]
    said = " ".join(sentence for sentence in kept if sentence)
    return f"{going} would become one summary. {staying} would stay as they are. Also kept: {said} {_KEPT}"


def _kept(found: "Kept", one: str, many: str) -> str:
    """Describe how many are kept; promise nothing that there is no room for."""
    count = found.whole + found.cut + found.left_out
    if not count:
        return ""
    name = one if count == 1 else many
    if found.is_whole:
        return f"{count} {name}, word for word."
    return f"{count} {name}: {found.whole} word for word, {found.cut} cut, {found.left_out} left out."
