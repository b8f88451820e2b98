"""What a person can ask of the program itself: is all well, and what does the project bring along."""

from coder_tui.protocol.errors import UserError
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.screens.furnished import Furnished

NOTHING_TO_TRUST = "There is nothing to decide on here; 'coder-tui trust' shows what was decided."
FROM_NOW_ON = "What you decided holds for sessions that begin from now on."


class ReportActions(Furnished):
    """Part of a screen: another part makes the widgets."""

    def action_doctor(self) -> None:
        self.hints.show("Looking …")
        self.run_worker(self._examine(), group="doctor", exclusive=True)

    def action_trust(self) -> None:
        self.run_worker(self._ask_for_trust(), group="trust", exclusive=True)

    async def _examine(self) -> None:
        try:
            report = await self.launch.doctor()
        except UserError as error:
            self.hints.show(str(error))
        else:
            self.reader.read_text("/doctor", safe_text(report))

    async def _ask_for_trust(self) -> None:
        # Only here: the dialog and this screen know each other.
        from coder_tui.ui.project_trust import ask_for_trust
        from coder_tui.ui.screens.session import SessionScreen

        try:
            question = await self.launch.trust.question()
        except UserError as error:
            self.hints.show(str(error))
            return
        if question is None or not isinstance(self, SessionScreen):
            self.hints.show(NOTHING_TO_TRUST)
            return
        await ask_for_trust(self.app, self, self.launch)
        self.hints.show(FROM_NOW_ON)
