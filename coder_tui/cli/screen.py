"""`coder-tui [PATH]`: the full-screen session. The core is imported after the first paint.

If there is no model, the first-run screen asks for one; `ScreenFirstRun` tells it which keys there are.
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
from coder_tui.cli.arguments import demo_parser, read_invocation, session_parser
from coder_tui.cli.output import print_line
from coder_tui.config.paths import display_path
from coder_tui.config.sources import quick_value
from coder_tui.protocol.errors import UsageError
from coder_tui.ui.app import CoderApp
from coder_tui.ui.glyphs import ThinkingLevel
from coder_tui.ui.keymap import KeyMap
from coder_tui.ui.launch import AnswerKeys, EmptyLibrary, Launch, Library, ModelKnown, NothingToTrust
from coder_tui.ui.textual_internals import take_pastes_quickly

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.bootstrap.session_library import SessionOpener
    from coder_tui.ui.first_run import FirstRunState


class ScreenFirstRun:
    """Answers the first-run screen. `core` returns the session opener that will be used."""

    def __init__(self, core: "Callable[[], Awaitable[SessionOpener]]", trust: TrustQuestion) -> None:
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
        """Save a typed key. If no keyring can store it, it is used for this run only."""
        from coder_tui.bootstrap.open_session import store_typed_key
        from coder_tui.llm.providers import PROVIDERS

        named = next(each for each in PROVIDERS if each.prefix == provider)
        found = await (await self._core()).find()
        return await store_typed_key(found.keys, named, key)


DEFAULT_THEME = "coder-dark"
OFF = ("false", "0", "no", "off")


def main(argv: list[str]) -> int:
    arguments = session_parser().parse_args(argv)
    return show(read_invocation(arguments, arguments.path), arguments, is_demo=False)


def demo(argv: list[str]) -> int:
    """`coder-tui demo`: the built-in demo model and a scratch project."""
    arguments = demo_parser().parse_args(argv)
    return show(read_invocation(arguments), arguments, is_demo=True)


def show(invocation: Invocation, arguments: argparse.Namespace, *, is_demo: bool) -> int:
    """Run the screen until it closes, and return the exit code."""
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
        drafts=None if is_demo else invocation.directories.unsent,
        answer_keys=_answer_keys(invocation),
        trust=NothingToTrust() if is_demo else trust,
        keep_theme=opener.keep_theme,
        doctor=opener.examine,
        keeps_transcript=arguments.print_transcript,
        library=opener.library,
        first_run=ModelKnown() if is_demo else ScreenFirstRun(opener.loaded, trust),
        keys=_keys(invocation),
        has_motion=str(quick_value(invocation.sources, "ui", "motion")).lower() not in OFF,
    )
    app = CoderApp(launch)
    take_pastes_quickly()
    # The app enables it once the session is open: until then nearly every new object stays.
    gc.disable()
    try:
        app.run(mouse=not arguments.no_mouse)
    finally:
        gc.enable()
        opener.clean_up()
    if app.app_exit.transcript:
        print_line(app.app_exit.transcript)
    return app.return_code or 0


def _thinking(invocation: Invocation) -> ThinkingLevel:
    """Return how to show thinking. A wrong value is reported later, when the settings are checked."""
    value = quick_value(invocation.sources, "ui", "thinking")
    return ThinkingLevel(str(value)) if value in list(ThinkingLevel) else ThinkingLevel.SUMMARY


def _answer_keys(invocation: Invocation) -> AnswerKeys:
    value = quick_value(invocation.sources, "ui", "approvals")
    return AnswerKeys.CHORD if value == AnswerKeys.CHORD else AnswerKeys.LETTERS


def _keys(invocation: Invocation) -> KeyMap:
    wishes = quick_value(invocation.sources, "ui", "keys")
    if not wishes:
        return KeyMap()
    from coder_tui.ui.key_settings import key_map  # most users do not change keys

    return key_map(wishes)


def require_terminal() -> None:
    if _is_tab():
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the full screen needs a terminal; without one, use --plain or 'coder-tui run'")
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise UsageError(
            "the full screen cannot be drawn because TERM is 'dumb' or not set; set TERM or use --plain"
        )


def _is_tab() -> bool:
    """Return whether the terminal is a browser tab."""
    return os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def _forget_tab() -> None:
    """Remove variables that only the screen needed, so that commands do not inherit them."""
    if _is_tab():
        for name in ("TEXTUAL_DRIVER", "TEXTUAL_COLOR_SYSTEM", "COLUMNS", "ROWS"):
            os.environ.pop(name, None)


class _Opener:
    """Loads the core in a thread: its imports take longer than the first paint may take."""

    def __init__(self, trust: TrustQuestion, *, is_demo: bool) -> None:
        self._trust = trust
        self.edits = trust.invocation.directories.cache / "edits"
        self.pictures = trust.invocation.directories.pictures
        self._is_demo = is_demo
        self._core: SessionOpener | None = None

    async def open(self) -> "Session":
        return await (await self.loaded()).open()

    def library(self) -> Library:
        return (self._core and self._core.library) or EmptyLibrary()

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

    async def loaded(self) -> "SessionOpener":
        """Return the session opener, a new one if the answer about trust changed the settings."""
        _forget_tab()
        if self._core is None or self._core.invocation is not self._trust.invocation:
            module = await asyncio.to_thread(import_module, "coder_tui.bootstrap.session_library")
            core: SessionOpener = module.SessionOpener(self._trust.invocation, is_demo=self._is_demo)
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
