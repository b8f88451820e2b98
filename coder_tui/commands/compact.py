"""Commands that make room in the model's window, and say what must stay."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say
from coder_tui.protocol.errors import ModelError, UserError
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.kept_words import Kept
    from coder_tui.agent.session import Session

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
