"""`coder-tui [PATH]`: the full-screen session. The core is imported behind the first paint.

What the screen asks where there is no model, answered from keys, keyring and local servers.
"""

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from coder_tui.bootstrap.invocation import Invocation, TrustQuestion
from coder_tui.cli.arguments import session_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import say
from coder_tui.config.paths import display_path
from coder_tui.config.sources import quick_value
from coder_tui.protocol.errors import UsageError
from coder_tui.ui.app import CoderApp
from coder_tui.ui.draw.glyphs import ThinkingLevel
from coder_tui.ui.keymap import KeyMap
from coder_tui.ui.launch import AnswerKeys, EmptyShelf, Launch, ModelKnown, NothingToTrust, Shelf
from coder_tui.ui.textual_internals import take_pastes_quickly

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.cli.screen_core import ScreenCore
    from coder_tui.ui.first_run import FirstRunState


class ScreenFirstRun:
    """`core` gives the core that is going to be opened."""

    def __init__(self, core: "Callable[[], Awaitable[ScreenCore]]", trust: TrustQuestion) -> None:
        self._core = core
        self._trust = trust

    async def question(self) -> "FirstRunState | None":
        found = await (await self._core()).find()
        if found.choice is not None:
            return None
        from coder_tui.llm.keys import variable_of
        from coder_tui.llm.providers import PROVIDERS
        from coder_tui.ui.first_run import FirstRunState, KeyState

        states = tuple(
            KeyState(provider.prefix, provider.label, variable_of(provider), found.keys.source(provider))
            for provider in PROVIDERS
        )
        return FirstRunState(states, has_trust_question=await self._trust.question() is not None)

    async def keep_key(self, provider: str, key: str) -> str:
        """Where no keyring takes it, the key holds for this run."""
        from coder_tui.bootstrap.models import keep_typed_key
        from coder_tui.llm.providers import PROVIDERS

        named = next(each for each in PROVIDERS if each.prefix == provider)
        found = await (await self._core()).find()
        return await keep_typed_key(found.keys, named, key)


DEFAULT_THEME = "coder-dark"
OFF = ("false", "0", "no", "off")


def main(argv: list[str]) -> int:
    arguments = session_parser().parse_args(argv)
    return show(read_invocation(arguments, arguments.path), arguments, is_demo=False)


def show(invocation: Invocation, arguments: argparse.Namespace, *, is_demo: bool) -> int:
    """Run the screen to its end; returns the exit code."""
    require_terminal()
    trust = TrustQuestion(invocation)
    opener = _Opener(trust, is_demo=is_demo)
    launch = Launch(
        directory=invocation.directory,
        theme=str(quick_value(invocation.sources, "ui", "theme") or DEFAULT_THEME),
        use_ascii=arguments.ascii,
        open_session=opener.open,
        theme_directory=invocation.directories.config / "themes",
        clean_up=opener.clean_up,
        thinking=_thinking(invocation),
        edits=opener.edits,
        pictures=opener.pictures,
        unsent=None if is_demo else invocation.directories.unsent,
        answer_keys=_answer_keys(invocation),
        trust=NothingToTrust() if is_demo else trust,
        keep_theme=opener.keep_theme,
        doctor=opener.examine,
        keeps_transcript=arguments.print_transcript,
        shelf=opener.shelf,
        first_run=ModelKnown() if is_demo else ScreenFirstRun(opener.loaded, trust),
        keys=_keys(invocation),
        has_motion=str(quick_value(invocation.sources, "ui", "motion")).lower() not in OFF,
    )
    app = CoderApp(launch)
    take_pastes_quickly()
    # The app turns it on when the session is open: until then nearly all that is made stays.
    gc.disable()
    try:
        app.run(mouse=not arguments.no_mouse)
    finally:
        gc.enable()
        opener.clean_up()
    if app.departure.transcript:
        say(app.departure.transcript)
    return app.return_code or 0


def _thinking(invocation: Invocation) -> ThinkingLevel:
    """A wrong value is told when the settings are checked, behind the first paint."""
    value = quick_value(invocation.sources, "ui", "thinking")
    return ThinkingLevel(str(value)) if value in list(ThinkingLevel) else ThinkingLevel.SUMMARY


def _answer_keys(invocation: Invocation) -> AnswerKeys:
    value = quick_value(invocation.sources, "ui", "approvals")
    return AnswerKeys.CHORD if value == AnswerKeys.CHORD else AnswerKeys.LETTERS


def _keys(invocation: Invocation) -> KeyMap:
    wishes = quick_value(invocation.sources, "ui", "keys")
    if not wishes:
        return KeyMap()
    from coder_tui.ui.key_settings import key_map  # most people keep the keys as they are

    return key_map(wishes)


def require_terminal() -> None:
    if _is_tab():
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal; use --plain or 'coder-tui run' without one")
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError("TERM is 'dumb' or not set, so no screen can be drawn; set TERM, or use --plain")


def _is_tab() -> bool:
    """Whether a browser's tab is the terminal."""
    return os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def _forget_tab() -> None:
    """What only the screen needed to know: commands would take it for their own."""
    if _is_tab():
        for name in ("TEXTUAL_DRIVER", "TEXTUAL_COLOR_SYSTEM", "COLUMNS", "ROWS"):
            os.environ.pop(name, None)


class _Opener:
    """Loads the core in a thread: its imports take longer than the first paint may."""

    def __init__(self, trust: TrustQuestion, *, is_demo: bool) -> None:
        self._trust = trust
        self.edits = trust.invocation.directories.cache / "edits"
        self.pictures = trust.invocation.directories.pictures
        self._is_demo = is_demo
        self._core: ScreenCore | None = None

    async def open(self) -> "Session":
        return await (await self.loaded()).open()

    def shelf(self) -> Shelf:
        return (self._core and self._core.shelf) or EmptyShelf()

    async def examine(self) -> str:
        module = await asyncio.to_thread(import_module, "coder_tui.cli.doctor")
        report: str = await module.examine(self._trust.invocation)
        return report

    async def keep_theme(self, name: str) -> str:
        writer = await asyncio.to_thread(import_module, "coder_tui.config.write")
        invocation = self._trust.invocation
        own = invocation.sources.file
        file = own.path if own else writer.settings_file_in(invocation.directories.config)
        return display_path(await asyncio.to_thread(writer.save_setting, file, "ui", "theme", name))

    async def loaded(self) -> "ScreenCore":
        """What an answer about trust changed has to be read anew."""
        _forget_tab()
        if self._core is None or self._core.invocation is not self._trust.invocation:
            module = await asyncio.to_thread(import_module, "coder_tui.cli.screen_core")
            core: ScreenCore = module.ScreenCore(self._trust.invocation, is_demo=self._is_demo)
            self._core = core
        return self._core

    def clean_up(self) -> None:
        editor = sys.modules.get("coder_tui.ui.external_editor")
        if editor is not None:  # else nothing was edited
            editor.remove_own_edits(self.edits)
        pasting = sys.modules.get("coder_tui.ui.clipboard")
        if pasting is not None:
            pasting.remove_pictures(self.pictures)
        if self._core is not None:
            self._core.clean_up()
