"""What the screen asks where there is no model, answered from keys, keyring and local servers."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from coder_tui.cli.screen_trust import ScreenTrust

if TYPE_CHECKING:  # the core is loaded behind the first paint
    from coder_tui.cli.screen_core import ScreenCore
    from coder_tui.ui.first_run_state import FirstRunState


class ScreenFirstRun:
    """`core` gives the core that is going to be opened."""

    def __init__(self, core: "Callable[[], Awaitable[ScreenCore]]", trust: ScreenTrust) -> None:
        self._core = core
        self._trust = trust

    async def question(self) -> "FirstRunState | None":
        found = await (await self._core()).find()
        if found.choice is not None:
            return None
        from coder_tui.llm.model_keys import variable_of
        from coder_tui.llm.providers import PROVIDERS
        from coder_tui.ui.first_run_state import FirstRunState, KeyState

        states = tuple(
            KeyState(provider.prefix, provider.label, variable_of(provider), found.keys.source(provider))
            for provider in PROVIDERS
        )
        return FirstRunState(states, has_trust_question=await self._trust.question() is not None)

    async def keep_key(self, provider: str, key: str) -> str:
        """Where no keyring takes it, the key holds for this run."""
        from coder_tui.cli.keeping_keys import keep_typed_key
        from coder_tui.llm.providers import PROVIDERS

        named = next(each for each in PROVIDERS if each.prefix == provider)
        found = await (await self._core()).find()
        return await keep_typed_key(found.keys, named, key)
