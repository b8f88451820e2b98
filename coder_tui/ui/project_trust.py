"""Asks about a project that is not trusted yet, before anything of it could be used."""

import time
from typing import TYPE_CHECKING, Any, assert_never

from textual.app import App

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.launch import Launch
from coder_tui.ui.widgets.lines import TooSmall

if TYPE_CHECKING:
    from coder_tui.ui.screens.session import SessionScreen


async def ask_for_trust(app: App[Any], screen: "SessionScreen", launch: Launch) -> None:
    """Returns when there is an answer or nothing to ask. What cannot be stored is told, and not trusted."""
    try:
        inventory = await launch.trust.question()
        if inventory is None or TooSmall.is_too_small(app.size):
            return
        # The dialog is not needed for the first paint.
        from coder_tui.ui.screens.trust import TrustAnswer, TrustScreen

        dialog = TrustScreen(inventory, screen.chrome, screen.prompt.type_text, time.monotonic)
        answer = await app.push_screen_wait(dialog)
        match answer:
            case TrustAnswer.TRUST:
                await launch.trust.accept(inventory)
            case TrustAnswer.REFUSE:
                await launch.trust.refuse(inventory)
            case TrustAnswer.LATER:
                pass
            case _:
                assert_never(answer)
    except UserError as error:
        screen.transcript.add_note(NoticeLevel.WARNING, str(error))
