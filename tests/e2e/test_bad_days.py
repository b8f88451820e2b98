"""Failures of the model's server: a clear message, the session continues, and nothing runs twice."""

import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.config.paths import Directories
from coder_tui.config.sources import Sources
from coder_tui.llm.client import RetryPolicy
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, RetryScheduled, TextDelta, ToolFinished, TurnFailed, TurnFinished
from coder_tui.storage.store import Store
from tests.conftest import ENVIRONMENT
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.script import Call, Reply

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITE = Call("write", {"path": "made.txt", "content": "a text that is long enough to be cut somewhere\n"})
FINE = Reply(text="All is well.")


@dataclass
class Watched:
    session: Session
    server: OpenAIServer
    folder: Path
    events: list[Event] = field(default_factory=list)

    def failures(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, TurnFailed)]

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)


@asynccontextmanager
async def watched(
    host: HostClient, folder: Path, *replies: Reply, api_base: str = ""
) -> AsyncIterator[Watched]:
    own = folder / "own"
    directories = Directories(own / "config", own / "data", own / "cache", own / "log")
    project = folder / "project"
    project.mkdir()
    setup = load_setup(project, directories, Sources(), {}, Mode.EDITS)
    store = await Store.open(directories.database)
    async with OpenAIServer(list(replies)) as server:
        choice = ModelChoice("openai/x", api_base or server.url)
        core = SessionFactory(setup, store, host, choice, RetryPolicy(max_attempts=3, base=0.01))
        session = await core.new_session()
        made = Watched(session, server, project)
        session.subscribe(made.events.append)
        yield made
        await session.close()
    await store.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


FINAL = [
    pytest.param(Reply(status=401), "did not accept the API key", id="401"),
    pytest.param(Reply(status=404, error="The model `x` does not exist"), "has no model", id="404"),
    pytest.param(
        Reply(status=400, error="This model's maximum context length is 10 tokens."), "context", id="overflow"
    ),
]


@pytest.mark.parametrize(("reply", "words"), FINAL)
async def test_an_error_that_a_retry_cannot_fix_is_reported_once(
    shared_host: HostClient, tmp_path: Path, reply: Reply, words: str
) -> None:
    async with watched(shared_host, tmp_path, reply, FINE) as made:
        await made.session.submit("go")
        await made.session.submit("again")
    assert len(made.failures()) == 1
    assert words in made.failures()[0]
    assert made.count(RetryScheduled) == 0
    assert made.count(TurnFinished) == 1


PASSING = [
    pytest.param([Reply(status=429, headers={"Retry-After": "0"})], id="429"),
    pytest.param([Reply(status=500), Reply(status=500)], id="500 twice"),
    pytest.param([Reply(calls=(WRITE,), cut_after=5)], id="cut in a call"),
    pytest.param([Reply(text="some words that are cut", cut_after=3)], id="cut in a text"),
    pytest.param([Reply(text="some words", garbage_after=2)], id="garbage"),
    pytest.param([Reply(body="<html>busy</html>")], id="a page"),
]


@pytest.mark.parametrize("replies", PASSING)
async def test_a_temporary_error_is_retried_and_nothing_runs_twice(
    shared_host: HostClient, tmp_path: Path, replies: list[Reply]
) -> None:
    script = [*replies, Reply(calls=(WRITE,)), FINE]
    async with watched(shared_host, tmp_path, *script) as made:
        await made.session.submit("go")
    assert made.failures() == []
    assert made.count(RetryScheduled) == len(replies)
    assert made.count(ToolFinished) == 1
    assert (made.folder / "made.txt").exists()


async def test_a_call_that_is_cut_every_time_never_runs(shared_host: HostClient, tmp_path: Path) -> None:
    async with watched(shared_host, tmp_path, *[Reply(calls=(WRITE,), cut_after=5)] * 3, FINE) as made:
        await made.session.submit("go")
        assert len(made.failures()) == 1
        await made.session.submit("again")
    assert made.count(ToolFinished) == 0
    assert not (made.folder / "made.txt").exists()
    assert made.count(TurnFinished) == 1


async def test_a_server_that_is_not_there_and_then_is(shared_host: HostClient, tmp_path: Path) -> None:
    nowhere = free_port()
    async with watched(shared_host, tmp_path, api_base=f"http://127.0.0.1:{nowhere}/v1") as made:
        await made.session.submit("go")
    assert made.count(RetryScheduled) == 2
    assert len(made.failures()) == 1
    assert f"127.0.0.1:{nowhere}" in made.failures()[0]


async def test_a_server_that_stalls_ends_in_a_timeout(tmp_path: Path) -> None:
    host = HostClient(idle_timeout=0.5, environment=ENVIRONMENT)
    await host.warm()
    async with watched(host, tmp_path, Reply(text="half of it", stall_after=3), FINE) as made:
        await made.session.submit("go")
    await host.close()
    assert made.failures() == []
    assert made.count(RetryScheduled) == 1


async def test_the_model_process_killed_in_a_turn_is_reported_and_the_next_turn_works(tmp_path: Path) -> None:
    host = HostClient(environment=ENVIRONMENT)
    async with watched(host, tmp_path, Reply(text="half of it", stall_after=3), FINE) as made:

        def kill(event: Event) -> None:
            if isinstance(event, TextDelta) and host.pid and made.count(TurnFailed) == 0:
                os.kill(host.pid, signal.SIGKILL)

        made.session.subscribe(kill)
        await made.session.submit("go")
        assert len(made.failures()) == 1
        await made.session.submit("again")
    assert made.count(TurnFinished) == 1
    await host.close()
