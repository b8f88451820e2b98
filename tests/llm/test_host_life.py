"""The model process: how it starts, dies, is restarted, and never outlives the program."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from tests.conftest import ENVIRONMENT
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.python_program import write_program
from tests.fakes.script import Reply
from tests.llm.streaming import ask, failure_of, reply_to, text_of

DIED = ModelError(
    ModelErrorKind.HOST_DIED,
    "The model process ended unexpectedly.",
    "Send the message again; a new one starts automatically.",
)
PATIENCE = 20


def stand_in(tmp_path: Path, body: str) -> str:
    """An executable in place of Python, for hosts that misbehave: `body` is what it does instead."""
    return str(write_program(tmp_path / "host", f"import json, os, sys, time\n{body}"))


def has_ended(pid: int) -> bool:
    """Wait for the end of a process that is not our child."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watch], [], [], PATIENCE)[0])
    finally:
        os.close(watch)


async def test_a_killed_host_fails_the_running_stream_and_the_next_call_works(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "host.log"
    client = HostClient(environment=ENVIRONMENT, log_file=log)
    async with OpenAIServer([Reply(text="one two", stall_after=2), Reply(text="again")]) as server:
        stream = client.stream(ask(server.url))
        await anext(stream)
        killed = client.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(ModelError) as caught:
            await anext(stream)
        items = await reply_to(client, ask(server.url))
        restarted = client.pid
    await client.close()
    assert caught.value == DIED
    assert text_of(items) == "again"
    assert restarted not in {None, killed}
    assert has_ended(restarted or 0)
    assert log.stat().st_mode & 0o777 == 0o600


async def test_a_host_that_dies_at_once_is_reported_each_time(tmp_path: Path) -> None:
    client = HostClient(environment=ENVIRONMENT, python=stand_in(tmp_path, "sys.exit(3)"))
    failures = [(await failure_of(client, ask("http://127.0.0.1:1/v1")))[1] for _ in range(2)]
    await client.close()
    assert failures == [DIED, DIED]


async def test_a_host_that_talks_nonsense_is_killed(tmp_path: Path) -> None:
    client = HostClient(
        environment=ENVIRONMENT, python=stand_in(tmp_path, "print('Hello!', flush=True); time.sleep(60)")
    )
    _, error = await failure_of(client, ask("http://127.0.0.1:1/v1"))
    await client.close()
    assert error == DIED


async def test_a_host_that_cannot_start_is_reported(tmp_path: Path) -> None:
    client = HostClient(environment=ENVIRONMENT, python=str(tmp_path / "nothing"))
    _, error = await failure_of(client, ask("http://127.0.0.1:1/v1"))
    assert error == ModelError(
        ModelErrorKind.HOST_DIED,
        "The model process cannot be started: No such file or directory.",
        "Reinstall coder-tui, or check its log file.",
    )


async def test_a_host_that_ignores_cancellation_is_killed(tmp_path: Path) -> None:
    answer = '{"id": 1, "items": [{"type": "text", "text": "hi"}]}'
    client = HostClient(
        environment=ENVIRONMENT, python=stand_in(tmp_path, f"print('{answer}', flush=True); time.sleep(60)")
    )
    stream = client.stream(ask("http://127.0.0.1:1/v1"))
    await anext(stream)
    pid = client.pid
    assert pid is not None
    await stream.aclose()  # type: ignore[attr-defined]  # the protocol promises an iterator; this one is a generator
    assert await asyncio.to_thread(has_ended, pid)
    await client.close()


async def test_closing_ends_a_host_that_is_still_loading() -> None:
    client = HostClient(environment=ENVIRONMENT)
    await client.start()
    pid = client.pid
    assert pid is not None
    warming = asyncio.ensure_future(client.warm())
    await client.close()
    assert has_ended(pid)
    with pytest.raises(ModelError):
        await warming


async def test_a_call_given_up_while_loading_does_not_start_the_host_over() -> None:
    client = HostClient(environment=ENVIRONMENT)
    await client.start()
    pid = client.pid
    async with OpenAIServer([Reply(text="hi")]) as server:
        waiting = asyncio.ensure_future(reply_to(client, ask(server.url)))
        await asyncio.sleep(0)
        waiting.cancel()
        items = await reply_to(client, ask(server.url))
        assert (text_of(items), client.pid) == ("hi", pid)
        await client.close()
    assert len(server.requests) == 1


async def test_the_host_ends_when_the_program_is_killed() -> None:
    program = (
        "import asyncio\n"
        "from coder_tui.llm.host_client import HostClient\n"
        "async def main():\n"
        "    client = HostClient()\n"
        "    await client.start()\n"
        "    print(client.pid, flush=True)\n"
        "    await client.warm()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    assert await asyncio.to_thread(has_ended, pid)


async def test_the_host_stands_in_a_session_of_its_own() -> None:
    client = HostClient(environment=ENVIRONMENT)
    await client.start()
    pid = client.pid
    assert pid is not None
    session = os.getsid(pid)
    await client.close()
    assert session == pid


async def test_the_workspace_cannot_slip_code_or_settings_into_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with OpenAIServer([Reply(text="hi")]) as server, OpenAIServer([Reply(text="caught")]) as thief:
        (tmp_path / ".env").write_text(
            f"OPENAI_API_KEY=stolen\nOPENAI_API_BASE={thief.url}\n", encoding="utf-8"
        )
        (tmp_path / "litellm.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        client = HostClient(environment=ENVIRONMENT)
        items = await reply_to(client, ask(server.url))
        await client.close()
    assert (text_of(items), thief.requests) == ("hi", [])
    assert server.headers[0]["authorization"] == f"Bearer {ENVIRONMENT['OPENAI_API_KEY']}"


def test_the_program_itself_never_loads_litellm() -> None:
    program = (
        "import sys, coder_tui.llm.host_client, coder_tui.llm.catalog, coder_tui.llm.host\n"
        "print([name for name in ('litellm', 'httpx', 'openai') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
