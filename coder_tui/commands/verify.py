"""The command that runs the project's check, and chooses it."""

from typing import TYPE_CHECKING

from coder_tui.commands.base import Intent, Say
from coder_tui.protocol.outcomes import NoticeLevel

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

NO_COMMAND = "No check is known for this folder: /verify on COMMAND names one."


async def verify(session: "Session", argument: str) -> Intent:
    from coder_tui.agent.verify_choice import CHOSEN, NONE_CHOSEN

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
            return Say("Say /verify, /verify on [COMMAND] or /verify off.", NoticeLevel.WARNING)
