"""Commands that take turns back and make them again.

Commands that make room in the model's window, and say what must stay.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say, ShowAgain
from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import ModelError, UserError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.context.budget import Kept
    from coder_tui.agent.session import Session
    from coder_tui.agent.undo.undo import Moved, Reach


MOST_NAMED = 8
KEPT = "kept"
_MOST_DIGITS = 9


async def undo(session: "Session", argument: str) -> Intent:
    """`kept` and a turn's number bring out what was taken back and may have been the person's."""
    first, _, rest = argument.strip().partition(" ")
    if first.lower() == KEPT:
        return await _bring_out(session, rest.strip())
    return await _move(session.turns.undo, argument, "Taken back")


async def redo(session: "Session", argument: str) -> Intent:
    return await _move(session.turns.redo, argument, "Made again")


async def _move(move: "Callable[[Reach], Awaitable[Moved]]", argument: str, done: str) -> Intent:
    from coder_tui.agent.undo.undo import Reach

    word = argument.strip().lower() or Reach.BOTH
    if word not in list(Reach):
        return Say("Say what: files, conversation, or nothing for both.", NoticeLevel.WARNING)
    reach = Reach(word)
    try:
        moved = await move(reach)
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    level = NoticeLevel.WARNING if moved.conflicts else NoticeLevel.INFO
    if not reach.has_words:
        return Say(report(moved, done), level)
    draft = moved.text if done.startswith("Taken") else ""
    return ShowAgain(report(moved, done), level, draft)


async def _bring_out(session: "Session", turn: str) -> Intent:
    if turn and not (turn.isdecimal() and len(turn) <= _MOST_DIGITS):
        return Say("Say from which turn on: /undo kept 3", NoticeLevel.WARNING)
    try:
        found = await session.turns.bring_out(int(turn or 1))
    except UserError as error:
        return Say(str(error), NoticeLevel.WARNING)
    lines = [f"{_counted(found.names)} in {display_path(found.folder)}: {_names(found.names)}."]
    if found.missing:
        lines.append(f"{found.missing} more could not be brought out, or were given up (undo.keep_days).")
    return Say("\n".join(lines), NoticeLevel.WARNING if found.missing else NoticeLevel.INFO)


def report(moved: "Moved", done: str) -> str:
    lines = [f"{done}: turn {moved.turn}, {_said(moved)}."]
    if moved.paths:
        lines.append(f"Files: {_names(moved.paths)}.")
    if moved.seen:
        lines.append(
            f"Changed while a command ran, by it or by you: {_names(moved.seen)}. "
            f"/undo {KEPT} {moved.turn} brings their content out, also later."
        )
    for path, reason in moved.conflicts:
        lines.append(f"{path} was left as it is: {reason}.")
    if moved.uncovered:
        lines.append(moved.uncovered)
    return "\n".join(lines)


def _said(moved: "Moved") -> str:
    files = _counted(moved.paths)
    if not moved.reach.has_words:
        return files
    if not moved.reach.has_files:
        return "what was said; files stay as they are"
    if moved.paths:
        return f"what was said and {files}"
    # A command may have changed what nobody looked at.
    return f"what was said; no file {'is known to have' if moved.uncovered else 'was'} changed"


def _counted(paths: tuple[str, ...]) -> str:
    folders = sum(path.endswith("/") for path in paths)
    files = len(paths) - folders
    told = [f"{files} file{'' if files == 1 else 's'}"] if files or not folders else []
    told += [f"{folders} folder{'' if folders == 1 else 's'}"] if folders else []
    return " and ".join(told)


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
    """`preview` and `undo` are words of their own; anything else says what the summary should dwell on."""
    if argument == PREVIEW:
        return Say(await _preview(session))
    try:
        # What is sent meanwhile waits: a turn would go on with what is about to be summarised.
        async with session.rest.held():
            if argument == UNDO:
                await session.compaction.undo()
            else:
                await session.compaction.compact(argument)
    except (UserError, ModelError) as error:
        return Say(str(error), NoticeLevel.WARNING)
    return Say(f"The next request holds about {session.facts.usage.context_tokens:,} tokens.")


async def pin(session: "Session", argument: str) -> Intent:
    if not argument:
        pins = await session.compaction.pins()
        return Say("\n".join(f"- {text}" for text in pins) or "Nothing is pinned: /pin TEXT keeps words.")
    await session.compaction.pin(argument)
    return Say("Pinned: every later summary carries it on.")


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
    return f"{going} would become one summary. {staying} would stay as they are. Beside it: {said} {_KEPT}"


def _kept(found: "Kept", one: str, many: str) -> str:
    """What becomes of how many; nothing is promised that there is no room for."""
    count = found.whole + found.cut + found.left_out
    if not count:
        return ""
    name = one if count == 1 else many
    if found.is_whole:
        return f"{count} {name}, word for word."
    return f"{count} {name}: {found.whole} word for word, {found.cut} cut, {found.left_out} left out."
