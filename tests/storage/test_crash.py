"""Acknowledged writes survive kill -9, and processes do not disturb each other."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.store import Store

_WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.store import Store

async def main(path, session_id, name, count):
    store = await Store.open(Path(path))
    for number in itertools.islice(itertools.count(), int(count) or None):
        await store.messages.add(session_id, UserMessage(f"{name}{number}", "x" * 3000))
        print(number, flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def _writer(path: Path, session_id: str, name: str, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), session_id, name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


async def _new_session(path: Path) -> str:
    store = await Store.open(path)
    info = await store.sessions.create("/w", "", Mode.ASK)
    await store.close()
    return info.id


async def _message_ids(path: Path, session_id: str) -> list[str]:
    store = await Store.open(path)
    loaded = await store.load(session_id)
    # The store is readable, and accepts the next message.
    await store.messages.add(session_id, UserMessage("after", ""))
    await store.close()
    return [message.id for message in loaded.messages]


async def test_every_acknowledged_message_survives_kill_9(tmp_path: Path) -> None:
    for acknowledged in (1, 2, 7, 20):
        path = tmp_path / f"{acknowledged}.db"
        session_id = await _new_session(path)
        with _writer(path, session_id, "m", 0) as writer:
            assert writer.stdout is not None
            for _ in range(acknowledged):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().splitlines(keepends=True)
        count = acknowledged + sum(line.endswith("\n") for line in rest)
        ids = await _message_ids(path, session_id)
        # One more may have been committed without its acknowledgement getting out.
        assert ids in ([f"m{n}" for n in range(count)], [f"m{n}" for n in range(count + 1)])


async def test_processes_that_open_and_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session_id = await _new_session(path)
    writers = [_writer(path, session_id, name, 15) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.close()
    ids = await _message_ids(path, session_id)
    assert sorted(ids) == sorted(f"{name}{number}" for name in "abc" for number in range(15))
    for name in "abc":
        assert [id_ for id_ in ids if id_.startswith(name)] == [f"{name}{number}" for number in range(15)]


_CREATOR = """
import asyncio, sys
from pathlib import Path
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store

async def main(path):
    print("ready", flush=True)
    sys.stdin.readline()
    store = await Store.open(Path(path))
    await store.sessions.create("/w", "", Mode.ASK)
    await store.close()

asyncio.run(main(sys.argv[1]))
"""


def _creator(path: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _CREATOR, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


async def test_processes_that_create_the_store_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "new/store.db"
    creators = [_creator(path) for _ in range(4)]
    for creator in creators:
        # All have started before the first may go.
        assert creator.stdout is not None and creator.stdout.readline() == "ready\n"
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write("go\n")
        creator.stdin.flush()
    for creator in creators:
        creator.communicate()
    store = await Store.open(path)
    assert [creator.returncode for creator in creators] == [0, 0, 0, 0]
    assert len(await store.sessions.list()) == 4
    await store.close()
