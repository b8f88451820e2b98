"""The screen's core: opened after the first paint, with the demo where no model is to be had."""

import asyncio
from dataclasses import dataclass

from coder_tui.agent.request_builder import ModelChoice
from coder_tui.agent.session import Session
from coder_tui.bootstrap import Core, Setup
from coder_tui.bootstrap.pruning import prune_beside
from coder_tui.cli.invocation import Invocation
from coder_tui.cli.opening import (
    NO_MODEL,
    Scratch,
    choose_model,
    describe_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    start_warnings,
)
from coder_tui.cli.screen_shelf import CoreShelf
from coder_tui.llm.demo import DEMO_MODEL
from coder_tui.llm.model_keys import ModelKeys
from coder_tui.protocol.errors import ModelError, UserError
from coder_tui.protocol.outcomes import NoticeLevel

DEMO = "This is the built-in demo on a scratch project: say anything to start."
WITHOUT_MODEL = (
    f"No model key and no local server found. {DEMO} Your own folder is not touched. "
    "'coder-tui models' tells what to set for a real model."
)
NOT_KEPT = "the demo keeps no sessions, so there is none to go on with: leave that flag out"


@dataclass(slots=True)
class Found:
    """What is known before anything is open; `choice` is None where there is no model yet."""

    setup: Setup
    keys: ModelKeys
    choice: ModelChoice | None


class ScreenCore:
    def __init__(self, invocation: Invocation, *, is_demo: bool) -> None:
        self.invocation = invocation
        self._is_demo = is_demo
        self._scratch: Scratch | None = None
        self._core: Core | None = None
        self._found: Found | None = None
        self.shelf: CoreShelf | None = None
        self._background: set[asyncio.Task[None]] = set()

    async def find(self) -> "Found":
        """Settings, keys and the model; what was found before is only looked at again."""
        if self._found is None:
            setup = await asyncio.to_thread(prepare, self.invocation)
            self._found = Found(setup, model_keys(setup), None)
        found = self._found
        if not self._is_demo and found.choice is None:
            found.choice = await choose_model(found.setup.settings, found.keys)
        return found

    async def open(self) -> Session:
        found = await self.find()
        setup, choice = found.setup, found.choice
        if choice is None or choice.name == DEMO_MODEL:
            setup = await asyncio.to_thread(self._into_scratch, setup, NOT_KEPT if choice else NO_MODEL)
            choice = ModelChoice(DEMO_MODEL)
        self._core = await open_core(setup, choice, found.keys)
        try:
            session = await open_session(self._core, self.invocation, forks=True)
        except UserError:
            await self._core.close()
            raise
        prune_beside(self._core, session)
        self.shelf = CoreShelf(self._core, session, found.keys)
        self._announce(session, setup, found.keys)
        task = asyncio.create_task(self._describe(self._core, session))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return session

    def clean_up(self) -> None:
        if self._scratch is not None:
            self._scratch.remove()

    def _into_scratch(self, setup: Setup, objection: str) -> Setup:
        if self.invocation.resume or self.invocation.is_continued:
            raise UserError(objection)
        self._scratch = Scratch.create()
        return self._scratch.setup(setup)

    def _announce(self, session: Session, setup: Setup, keys: ModelKeys) -> None:
        for warning in (*start_warnings(setup), *keys.warnings):
            session.notice(NoticeLevel.WARNING, warning)
        if self._scratch is not None:
            is_wanted = self._is_demo or setup.settings.model.name == DEMO_MODEL
            session.notice(NoticeLevel.INFO, DEMO if is_wanted else WITHOUT_MODEL)

    async def _describe(self, core: Core, session: Session) -> None:
        try:
            await describe_model(core, session)
        except ModelError as error:
            session.notice(NoticeLevel.WARNING, str(error))
        # After the model, which is needed first.
        if not core.setup.is_scratch:
            await session.lookup.warm()
