"""`coder-tui --plain`: a session as append-only text, without a screen."""

import asyncio
import signal
import sys
import time

from coder_tui.agent.exit_summary import exit_summary
from coder_tui.agent.session import Session
from coder_tui.bootstrap.invocation import Invocation, TrustQuestion
from coder_tui.bootstrap.session_library import SessionOpener
from coder_tui.cli.arguments import demo_parser, read_invocation, session_parser
from coder_tui.cli.output import print_line, redacted
from coder_tui.config.inventory import ProjectInventory
from coder_tui.plain.session import InputLines, PlainSession
from coder_tui.text.safe_text import safe_line

AGAIN = 2.0
"""Seconds within which a second Ctrl+C quits."""
TERMINATED = 143


def main(argv: list[str]) -> int:
    arguments = session_parser().parse_args(argv)
    return show(read_invocation(arguments, arguments.path), is_demo=False)


def demo(argv: list[str]) -> int:
    return show(read_invocation(demo_parser().parse_args(argv)), is_demo=True)


def show(invocation: Invocation, *, is_demo: bool) -> int:
    return asyncio.run(_run(invocation, is_demo=is_demo))


async def _run(invocation: Invocation, *, is_demo: bool) -> int:
    lines = InputLines()
    trust = TrustQuestion(invocation)
    if not is_demo and (inventory := await trust.question()) is not None:
        await _ask_for_trust(trust, inventory, lines)
    core = SessionOpener(trust.invocation, is_demo=is_demo)
    try:
        session = await core.open()
        return await _converse(session, lines)
    finally:
        core.clean_up()


async def _converse(session: Session, lines: InputLines) -> int:
    plain = PlainSession(session, lines, _write, time.monotonic, is_typed=sys.stdin.isatty())
    talk = asyncio.create_task(plain.run())
    leaving = _Leaving(plain, talk)
    leaving.watch()
    try:
        await asyncio.wait({talk})
        if not talk.cancelled() and (error := talk.exception()) is not None:
            raise error
        words = await _summarize(session)
    finally:
        await session.close()
    if words:
        print_line(words)
    return leaving.code


async def _summarize(session: Session) -> str:
    if not session.title or not session.is_kept:
        return ""
    files = await session.changed_files()
    check, cost = session.verifier.newest, session.report.cost
    return await exit_summary(session.title, files, session.directory, check, cost, session.id)


class _Leaving:
    """Ctrl+C stops the turn, and quits if pressed twice. Other signals quit."""

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
            print_line("\nPress Ctrl+C again to quit.")

    def _terminated(self) -> None:
        self.code = TERMINATED
        self._talk.cancel()


async def _ask_for_trust(trust: TrustQuestion, inventory: ProjectInventory, lines: InputLines) -> None:
    print_line("This project has its own settings. Trusting it turns on:")
    for item in inventory.questions:
        print_line(safe_line(f"  {item.kind}, {item.place}: {item.sentence}"))
    print_line("  1  trust it\n  2  no, and do not ask again unless the files change\n  3  not now")
    print_line("Type a number from 1 to 3, then press Enter:")
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
                print_line("Type a number from 1 to 3, then press Enter:")


def _write(text: str) -> None:
    sys.stdout.write(redacted(text))
    sys.stdout.flush()
