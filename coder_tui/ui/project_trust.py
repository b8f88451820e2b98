"""Asks about a project that is not trusted yet, before anything of it could be used."""

import time
from typing import TYPE_CHECKING, Any, assert_never

from textual.app import App

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.launch import Launch
from coder_tui.ui.widgets.lines import TooSmall

if TYPE_CHECKING:  # the dialog is not needed for the first paint
    from coder_tui.config.inventory import ProjectInventory
    from coder_tui.ui.screens.session import SessionScreen
    from coder_tui.ui.screens.trust import TrustAnswer

WAITS = "This project asks whether you trust it, as soon as your draft is sent or empty."


async def ask_for_trust(app: App[Any], screen: "SessionScreen", launch: Launch) -> None:
    """Returns when there is an answer or nothing to ask. What cannot be stored is told, and not trusted."""
    try:
        inventory = await launch.trust.question()
        if inventory is not None:
            await _settle(launch, inventory, await _answer(app, screen, inventory))
    except UserError as error:
        screen.transcript.add_note(NoticeLevel.WARNING, str(error))


async def _answer(app: App[Any], screen: "SessionScreen", inventory: "ProjectInventory") -> "TrustAnswer":
    from coder_tui.ui.screens.trust import TrustAnswer, TrustScreen

    is_told = False
    while not TooSmall.is_too_small(app.size):
        if not screen.prompt.is_empty and not is_told:
            is_told = True
            screen.transcript.add_note(NoticeLevel.INFO, WAITS)
        await screen.presenter.moment()
        dialog = TrustScreen(inventory, screen.chrome, screen.prompt.type_text, time.monotonic)
        answer = await app.push_screen_wait(dialog)
        if answer is not TrustAnswer.DOCKED:
            return answer
    return TrustAnswer.LATER


async def _settle(launch: Launch, inventory: "ProjectInventory", answer: "TrustAnswer") -> None:
    from coder_tui.ui.screens.trust import TrustAnswer

    match answer:
        case TrustAnswer.TRUST:
            await launch.trust.accept(inventory)
        case TrustAnswer.REFUSE:
            await launch.trust.refuse(inventory)
        case TrustAnswer.LATER | TrustAnswer.DOCKED:
            pass
        case _:
            assert_never(answer)
