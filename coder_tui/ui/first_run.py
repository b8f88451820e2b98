"""Opens the first session: asks about the project, and about a model where there is none."""

from typing import TYPE_CHECKING, Any

from textual.app import App

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.first_run_state import FirstRunState
from coder_tui.ui.launch import Launch
from coder_tui.ui.project_trust import ask_for_trust
from coder_tui.ui.widgets.lines import TooSmall

if TYPE_CHECKING:  # the first paint needs neither the agent nor the list
    from coder_tui.agent.session import Session
    from coder_tui.ui.screens.first_run import FirstRunAnswer
    from coder_tui.ui.screens.session import SessionScreen

WAITS = "There is no model yet: you are asked for one as soon as your draft is sent or empty."
LEFT = "no model yet; 'coder-tui config key' keeps a key, 'coder-tui demo' needs none"


class LeftError(UserError):
    """The person went away instead."""

    exit_code = 0


async def open_first(app: App[Any], screen: "SessionScreen", launch: Launch) -> "Session":
    """Whoever answers with nothing gets the demo."""
    await ask_for_trust(app, screen, launch)
    while (state := await launch.first_run.question()) is not None and not TooSmall.is_too_small(app.size):
        from coder_tui.ui.screens.first_run import FirstRunAnswer

        match await _answer(app, screen, launch, state):
            case FirstRunAnswer.TRUST:
                await ask_for_trust(app, screen, launch)
            case FirstRunAnswer.LEAVE:
                raise LeftError(LEFT)
            case FirstRunAnswer.DEMO | None:
                break
            case FirstRunAnswer.LOOK:
                pass
    return await launch.open_session()


async def _answer(
    app: App[Any], screen: "SessionScreen", launch: Launch, state: FirstRunState
) -> "FirstRunAnswer | None":
    from coder_tui.ui.screens.first_run import FirstRunAnswer, FirstRunScreen

    if not screen.prompt.is_empty:
        screen.transcript.add_note(NoticeLevel.INFO, WAITS)
    await screen.presenter.moment()
    picker = FirstRunScreen(screen.chrome, state, launch.first_run)
    answer = await app.push_screen_wait(picker)
    if picker.told:
        screen.transcript.add_note(NoticeLevel.INFO, picker.told)
    return FirstRunAnswer(answer) if answer else None
