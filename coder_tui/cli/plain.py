"""`coder-tui --plain`: the session as text that only grows, without a screen."""

import asyncio
import signal
import sys
import time

from coder_tui.agent.exit_summary import farewell
from coder_tui.agent.session import Session
from coder_tui.bootstrap.invocation import Invocation, TrustQuestion
from coder_tui.cli.arguments import session_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import redacted, say
from coder_tui.cli.screen_core import ScreenCore
from coder_tui.config.inventory import ProjectInventory
from coder_tui.plain.input import InputLines
from coder_tui.plain.session import PlainSession
from coder_tui.text.safe_text import safe_line

AGAIN = 2.0
"""Seconds within which a second Ctrl+C quits."""
TERMINATED = 143


def main(argv: list[str]) -> int:
    arguments = session_parser().parse_args(argv)
    return show(read_invocation(arguments, arguments.path), is_demo=False)


def show(invocation: Invocation, *, is_demo: bool) -> int:
    return asyncio.run(_run(invocation, is_demo=is_demo))


async def _run(invocation: Invocation, *, is_demo: bool) -> int:
    lines = InputLines()
    trust = TrustQuestion(invocation)
    if not is_demo and (inventory := await trust.question()) is not None:
        await _ask_for_trust(trust, inventory, lines)
    core = ScreenCore(trust.invocation, is_demo=is_demo)
    try:
        session = await core.open()
        return await _talk(session, lines)
    finally:
        core.clean_up()


async def _talk(session: Session, lines: InputLines) -> int:
    plain = PlainSession(session, lines, _write, time.monotonic, is_typed=sys.stdin.isatty())
    talk = asyncio.create_task(plain.run())
    leaving = _Leaving(plain, talk)
    leaving.watch()
    try:
        await asyncio.wait({talk})
        if not talk.cancelled() and (error := talk.exception()) is not None:
            raise error
        words = await _farewell(session)
    finally:
        await session.close()
    if words:
        say(words)
    return leaving.code


async def _farewell(session: Session) -> str:
    if not session.title or not session.is_kept:
        return ""
    files = await session.changed_files()
    check, cost = session.verifier.newest, session.record.cost
    return await farewell(session.title, files, session.directory, check, cost, session.id)


class _Leaving:
    """Ctrl+C stops the turn, twice it quits; other signals quit."""

    def __init__(self, plain: PlainSession, talk: "asyncio.Task[None]") -> None:
        self._plain = plain
        self._talk = talk
        self._again_until = 0.0
        self.code = 0

    def watch(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._terminated)

    def _interrupted(self) -> None:
        if self._plain.interrupt():
            return
        now = time.monotonic()
        if now < self._again_until:
            self._talk.cancel()
        else:
            self._again_until = now + AGAIN
            say("\nCtrl+C again quits.")

    def _terminated(self) -> None:
        self.code = TERMINATED
        self._talk.cancel()


async def _ask_for_trust(trust: TrustQuestion, inventory: ProjectInventory, lines: InputLines) -> None:
    say("This project brings settings of its own. Trusting it switches on:")
    for item in inventory.questions:
        say(safe_line(f"  {item.kind}, {item.place}: {item.sentence}"))
    say("  1  trust it\n  2  no, and do not ask again for this content\n  3  not now")
    say("Type a number from 1 to 3, then Enter:")
    while (line := await lines.next()) is not None:
        match line.strip():
            case "1":
                await trust.accept(inventory)
                return
            case "2":
                await trust.refuse(inventory)
                return
            case "3":
                return
            case _:
                say("Type a number from 1 to 3, then Enter:")


def _write(text: str) -> None:
    sys.stdout.write(redacted(text))
    sys.stdout.flush()
