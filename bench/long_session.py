"""Compare a session of 10,000 messages with a fresh one: open, type, scroll, search, resize, stream.

uv run python -m bench.long_session [--messages 10000] [--tokens 2500] [--rate 500]
"""

import argparse
import asyncio
import fcntl
import os
import signal
import struct
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.latency import PROGRAM, Figures, environment, figures, keys, prose
from bench.terminal import LETTERS, Terminal, cpu_seconds, percentile, resident_mb
from coder_tui.config.paths import CACHE_VARIABLE, CONFIG_VARIABLE, DATA_VARIABLE, find_directories
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.records import CallRecord, FinishedCall
from coder_tui.storage.store import Store
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.script import Reply

NEWEST = "ѾNEWESTѾ"
OLDEST = "ѾOLDESTѾ"
FRESH, LONG = "fresh", "10,000 messages"
QUIET = 0.12
"""Seconds without output after which a frame counts as finished."""


def messages(count: int) -> Iterator[Message]:
    """Return a user's line and a reply of about twenty rows; every tenth reply runs a command."""
    reply = prose(90).rpartition("\n\n")[0]
    yield UserMessage("first", OLDEST)
    for number in range(1, count - 1):
        if number % 2:
            calls = (ToolCall(f"call{number}", "bash", '{"command": "make"}'),) if number % 20 == 1 else ()
            yield AssistantMessage(f"m{number}", f"{reply}\n\nThat was number {number}.", calls=calls)
        else:
            yield UserMessage(f"m{number}", f"question number {number}: what about this?")
    yield UserMessage("last", NEWEST)


def folders(home: Path) -> dict[str, str]:
    """Keep all files of the program in the bench's own folder."""
    names = {DATA_VARIABLE: "data", CONFIG_VARIABLE: "config", CACHE_VARIABLE: "cache"}
    return {variable: str(home / name) for variable, name in names.items()}


async def fill(home: Path, count: int) -> str:
    """Store a session; return its id."""
    directories = find_directories(folders(home))
    directories.ensure()
    store = await Store.open(directories.database)
    try:
        info = await store.sessions.create(str(home), "openai/x", Mode.ASK)
        for message in messages(count):
            await store.messages.add(info.id, message)
            if isinstance(message, AssistantMessage) and message.calls:
                await _run_call(store, info.id, message)
    finally:
        await store.close()
    return info.id


async def _run_call(store: Store, session_id: str, message: AssistantMessage) -> None:
    call = message.calls[0]
    record = CallRecord(call.id, message.id, call.name, call.arguments, "make", ToolKind.EXECUTE)
    await store.calls.begin(session_id, record)
    result = ToolMessage(f"r{call.id}", call.id, call.name, '{"ok": true}')
    block = TerminalBlock("make", "\n".join(f"cc file{n}.c" for n in range(30)), 0)
    ended = FinishedCall(call.id, call.name, Outcome.OK, "make", block, 1200, result)
    await store.calls.finish(session_id, ended)


@dataclass(slots=True)
class Side:
    """One of the two sessions, and its measurements."""

    name: str
    terminal: Terminal
    shown: float = 0.0
    ready: float = 0.0

    def frame(self, act: str) -> tuple[float, float]:
        """Return the seconds from keys to the first and to the last output that they cause."""
        began = self.terminal.type(act)
        return self.settle(began)

    def settle(self, began: float) -> tuple[float, float]:
        first = last = 0.0
        while self.terminal.read(QUIET if first else 5.0):
            last = time.perf_counter() - began
            first = first or last
        return first, last

    def resize(self, columns: int, rows: int) -> tuple[float, float]:
        fcntl.ioctl(self.terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.terminal.pid, signal.SIGWINCH)
        return self.settle(time.perf_counter())


def open_side(name: str, home: Path, arguments: list[str], ready: str) -> Side:
    """Return the time from the spawn to typed text, and to the session being there."""
    terminal = Terminal.start([*PROGRAM, *arguments], home, environment(home) | folders(home))
    terminal.watched = ready.encode()
    terminal.type(LETTERS[0])
    side = Side(name, terminal)
    side.shown = terminal.read_until(LETTERS[0]) - terminal.began
    side.ready = (terminal.watched_at or terminal.read_until(ready)) - terminal.began
    return side


def row(name: str, values: dict[str, list[float]], budget: str = "") -> None:
    made = {side: figures(name, times) for side, times in values.items()}
    cells = [f"{side} {_cell(figure)}" for side, figure in made.items()]
    if len(made) == 2:
        fresh, long = made.values()
        cells.append(f"p95 ratio {long.p95 / fresh.p95:.2f}")
    print(f"{name:<26} {'   '.join(cells)}   {budget}")


def _cell(figure: Figures) -> str:
    return f"{figure.p50 * 1000:6.1f} ({figure.p95 * 1000:6.1f}) ms"


def opening(home: Path, commands: dict[str, list[str]], times: int) -> None:
    typed: dict[str, list[float]] = {FRESH: [], LONG: []}
    ready: dict[str, list[float]] = {FRESH: [], LONG: []}
    for _ in range(times):
        for name, arguments in commands.items():
            side = open_side(name, home, arguments, NEWEST if name == LONG else "openai/")
            typed[name].append(side.shown)
            ready[name].append(side.ready)
            side.terminal.stop()
    row("spawn to typed text", typed)
    row("spawn to session", ready)
    resumed = percentile(ready[LONG], 0.5) - percentile(ready[FRESH], 0.5)
    print(f"{'resuming costs':<26} {resumed:.2f} s   budget 1 s")


def working(sides: list[Side], tokens: int, rate: int) -> None:
    for side in sides:
        side.terminal.drain(6.0)
    typed = {side.name: list(keys(side.terminal, LETTERS[1:40], 0.05)) for side in sides}
    row("key, idle", typed, "budget p95 ≤ 1.2 × fresh")
    long = sides[-1]
    row("page up", {long.name: [long.frame("\x1b[5~")[0] for _ in range(40)]})
    row("page down", {long.name: [long.frame("\x1b[6~")[0] for _ in range(20)]})
    row("half page while browsing", {long.name: [long.frame(key)[0] for key in ["\t", *["\x15"] * 20]][1:]})
    row("to the first message", {long.name: [long.frame("g")[1]]})
    if OLDEST.encode() not in long.terminal.seen:
        raise SystemExit("the first message did not show")
    row("search of all, to hits", {long.name: [long.frame("/number 7")[1]]})
    long.frame("\x1b")
    row("back to the end", {long.name: [long.frame("G")[1]]})
    long.frame("i")
    for columns in (200, 80, 200, 80, 100):
        pairs = {side.name: [side.resize(columns, 30)[1]] for side in sides}
        row(f"resize to {columns} columns", pairs)
    for side in sides:
        side.terminal.type("\x03")
        side.terminal.drain(0.3)
        _stream(side, tokens, rate)


def _stream(side: Side, tokens: int, rate: int) -> None:
    before = cpu_seconds(side.terminal.pid)
    side.terminal.watched, side.terminal.watched_at = b"END", 0.0
    side.terminal.type("go\r")
    side.terminal.read_until("Part")
    letters = LETTERS[:40]
    typed = list(keys(side.terminal, letters, max(0.05, (tokens / rate - 2) / len(letters))))
    if not side.terminal.watched_at:
        side.terminal.read_until("END")
    spent = cpu_seconds(side.terminal.pid) - before
    row("key while streaming", {side.name: typed}, "budget p95 ≤ 16 ms")
    print(f"{'':<26} CPU for {tokens} tokens {spent:.2f} s, memory {resident_mb(side.terminal.pid):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=2500)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--starts", type=int, default=3)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        OpenAIServer(
            lambda request: Reply(text=prose(arguments.tokens), chunk_delay=1 / arguments.rate)
        ) as server,
    ):
        home = Path(folder).resolve()
        session = asyncio.run(fill(home, arguments.messages))
        model = ["--model", "openai/x", "--api-base", server.url]
        commands = {FRESH: model, LONG: [*model, "--resume", session]}
        opening(home, commands, arguments.starts)
        sides = [
            open_side(name, home, command, NEWEST if name == LONG else "openai/")
            for name, command in commands.items()
        ]
        working(sides, arguments.tokens, arguments.rate)
        for side in sides:
            side.terminal.stop()


if __name__ == "__main__":
    main()
