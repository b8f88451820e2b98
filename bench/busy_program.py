"""Programs that work nonstop until they are killed: the core alone, `coder-tui run`, and the screen."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bench.busy_work import BusyClient, BusyModel
from bench.terminal import Terminal
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.headless import HeadlessRun, StreamPrinter
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store
from coder_tui.text.redact import BY_SHAPE
from tests.fakes.program import Program
from tests.fakes.real_tools import setup_in

STEPS_PER_TURN = 6
PATIENCE = 600.0
"""Lower the priority, so that a sweep does not disturb the rest of the machine."""
Hear = Callable[[dict[str, Any]], None]
Started = tuple[int, Callable[[], None]]
"""A process, and what waits for its end."""


def work(home: Path, project: Path, seed: int, out: Connection) -> None:
    """Continue the newest session, turn after turn, and print what is acknowledged as `run` does."""
    os.setsid()
    asyncio.run(_work(home, project, seed, out))


async def _work(home: Path, project: Path, seed: int, out: Connection) -> None:
    setup = setup_in(home, project, Mode.AUTO)
    store = await Store.open(setup.directories.database)
    client = BusyClient(BusyModel(project, seed, STEPS_PER_TURN))
    core = SessionFactory(setup, store, client, ModelChoice("scripted"))
    latest = await store.sessions.latest(str(project))
    session = await (core.resume(latest.id) if latest else core.new_session())
    printer = StreamPrinter(lambda event: out.send_bytes(json.dumps(event).encode()), BY_SHAPE)
    for number in itertools.count():
        await HeadlessRun(session, printer).run(f"work {seed}.{number}")


def start_run(program: Program, environment: Mapping[str, str], flags: list[str], hear: Hear) -> Started:
    process = subprocess.Popen(
        program.command("run", "-p", "work", "--format", "stream-json", *flags),
        cwd=program.project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def listen() -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                # A cut line acknowledges nothing.
                if line.endswith("\n"):
                    hear(json.loads(line))

    thread = threading.Thread(target=listen)
    thread.start()

    def end() -> None:
        process.wait()
        thread.join()

    return process.pid, end


def start_screen(program: Program, environment: Mapping[str, str], flags: list[str], hear: Hear) -> Started:
    terminal = Terminal.start(program.command(*flags), program.project, environment)
    terminal.read_until("AUTO", PATIENCE)
    terminal.type("work\r")
    is_over = threading.Event()

    def drain() -> None:
        with contextlib.suppress(OSError):
            while not is_over.is_set():
                terminal.read(0.2)

    thread = threading.Thread(target=drain)
    thread.start()

    def end() -> None:
        is_over.set()
        thread.join()
        os.waitpid(terminal.pid, 0)
        os.close(terminal.fd)

    return terminal.pid, end


def kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        # Too early: it does not have its own group yet.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
