"""Puts the question of trust before the screen's person, and keeps the answer."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from coder_tui.cli.invocation import Invocation

if TYPE_CHECKING:  # what looks through a project is loaded behind the first paint
    from coder_tui.config.inventory import ProjectInventory
    from coder_tui.config.trust import Trust


class ScreenTrust:
    """`invocation` has the project's settings as they may be used after the answer."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self._trust: Trust | None = None

    async def question(self) -> "ProjectInventory | None":
        """None where all is trusted, was refused in this very content, or loosens nothing."""
        return await asyncio.to_thread(self._question)

    async def accept(self, inventory: "ProjectInventory") -> None:
        if self._trust is not None:
            self.invocation = await asyncio.to_thread(self._accept, self._trust, inventory)

    async def refuse(self, inventory: "ProjectInventory") -> None:
        if self._trust is not None:
            await asyncio.to_thread(self._trust.refuse, inventory)

    def _accept(self, trust: "Trust", inventory: "ProjectInventory") -> Invocation:
        from coder_tui.config.project_settings import find_project_settings

        trust.accept(inventory)
        project = find_project_settings(self.invocation.directory, trust)
        return replace(self.invocation, sources=replace(self.invocation.sources, project=project))

    def _question(self) -> "ProjectInventory | None":
        from coder_tui.config.trust import Trust

        self._trust = trust = Trust.load(self.invocation.directories)
        inventory = trust.inventory(self.invocation.directory)
        is_settled = trust.problem or inventory.is_trusted or trust.is_refused(inventory)
        return None if is_settled or not inventory.questions else inventory
