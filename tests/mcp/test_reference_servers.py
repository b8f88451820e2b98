"""The protocol's own reference servers through us: over pipes, streamable HTTP and SSE."""

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from coder_tui.mcp.pool import McpPool
from coder_tui.mcp.wire import Answer, Failure, PartKind, ServerState
from coder_tui.shell.hosts.side import SandboxSpec
from coder_tui.shell.sandbox.bubblewrap import find_bubblewrap
from tests.fakes.mcp_pools import (
    ENOUGH,
    NODE,
    PYTHON,
    found,
    needs_reference_servers,
    nothing,
    pool_of,
    until,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), needs_reference_servers]
EVERYTHING = NODE / "mcp-server-everything"


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def wait_for_port(port: int) -> None:
    end = time.monotonic() + ENOUGH
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < end, "the server does not listen"
            time.sleep(0.05)
        else:
            return


class Hosted:
    """The same server over the network: it can be killed and restarted at the same address."""

    def __init__(self, mode: str, path: str) -> None:
        self._mode, self._port = mode, free_port()
        self.url = f"http://127.0.0.1:{self._port}/{path}"
        self._process = self._start()

    def renew(self) -> None:
        self.close()
        self._process = self._start()
        wait_for_port(self._port)

    def ready(self) -> "Hosted":
        wait_for_port(self._port)
        return self

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "PORT": str(self._port)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen([EVERYTHING, self._mode], env=environment, stdout=quiet, stderr=quiet)


@pytest.fixture(scope="module")
def hosted() -> Iterator[dict[str, Hosted]]:
    servers = {"http": Hosted("streamableHttp", "mcp"), "sse": Hosted("sse", "sse")}
    yield {name: server.ready() for name, server in servers.items()}
    for server in servers.values():
        server.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("work")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    (root / "a.txt").write_text("one\n")
    subprocess.run([*git, "add", "a.txt"], check=True)
    subprocess.run([*git, "commit", "-qm", "A first commit"], check=True)
    return root


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(folder: Path, hosted: dict[str, Hosted]) -> AsyncIterator[McpPool]:
    program = find_bubblewrap(())
    kind = "bubblewrap" if program else "none"
    home = folder.parent / "home"
    order = SandboxSpec(kind, program, "auto", (), (str(folder),), str(folder.parent / "cache"), str(home))
    memory = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    servers = (
        found("everything", command=str(EVERYTHING), args=("stdio",), sandbox="auto"),
        found("http", url=hosted["http"].url),
        found("sse", url=hosted["sse"].url, transport="sse"),
        found(
            "files",
            command=str(NODE / "mcp-server-filesystem"),
            args=(str(folder),),
            sandbox="auto",
            writable=(".",),
        ),
        found("memory", command=str(NODE / "mcp-server-memory"), env=memory, sandbox="auto", writable=(".",)),
        found("git", command=str(PYTHON / "mcp-server-git"), sandbox="auto"),
        found("fetch", command=str(PYTHON / "mcp-server-fetch"), sandbox="auto"),
        found("time", command=str(PYTHON / "mcp-server-time"), sandbox="auto", network=False),
    )
    made = pool_of(folder, *servers, sandbox=order)
    made.start()
    yield made
    await made.close()


async def call(pool: McpPool, server: str, tool: str, **arguments: object) -> Answer:
    await until(pool, server, ServerState.READY)
    return await pool.call(server, tool, dict(arguments), ENOUGH, nothing)


def text(answer: Answer) -> str:
    assert (answer.failure, answer.is_error) == (None, False), answer
    return "\n".join(part.text for part in answer.parts)


@pytest.mark.parametrize("server", ["everything", "http", "sse"])
async def test_every_transport_gives_the_same_results(pool: McpPool, server: str) -> None:
    offer = (await until(pool, server, ServerState.READY)).offer
    assert offer.protocol == "2025-11-25"
    assert {"echo", "get-tiny-image", "get-structured-content"} <= {tool.name for tool in offer.tools}
    assert text(await call(pool, server, "echo", message="hello")) == "Echo: hello"
    weather = await call(pool, server, "get-structured-content", location="New York")
    assert sorted(weather.structured) == ["conditions", "humidity", "temperature"]
    image = await call(pool, server, "get-tiny-image")
    assert [part.kind for part in image.parts] == [PartKind.TEXT, PartKind.IMAGE, PartKind.TEXT]


@pytest.mark.parametrize("server", ["everything", "http"])
async def test_progress_is_reported_during_a_call(pool: McpPool, server: str) -> None:
    heard: list[str] = []
    await until(pool, server, ServerState.READY)
    arguments = {"duration": 0.2, "steps": 2}
    answer = await pool.call(server, "trigger-long-running-operation", arguments, ENOUGH, heard.append)
    assert text(answer).startswith("Long running operation completed")
    assert heard == ["1 of 2\n", "2 of 2\n"]


@pytest.mark.parametrize("server", ["everything", "http"])
async def test_a_cancelled_call_leaves_the_server_usable(pool: McpPool, server: str) -> None:
    heard = asyncio.Event()
    await until(pool, server, ServerState.READY)
    long = {"duration": 60, "steps": 600}
    calling = asyncio.ensure_future(
        pool.call(server, "trigger-long-running-operation", long, ENOUGH, lambda words: heard.set())
    )
    await asyncio.wait_for(heard.wait(), ENOUGH)
    calling.cancel()
    await asyncio.wait({calling})
    assert text(await call(pool, server, "echo", message="still here")) == "Echo: still here"


async def test_prompts_and_resources_are_read(pool: McpPool) -> None:
    offer = (await until(pool, "everything", ServerState.READY)).offer
    prompt = next(each for each in offer.prompts if each.name == "args-prompt")
    assert [(each.name, each.is_required) for each in prompt.arguments] == [("city", True), ("state", False)]
    assert text(await pool.prompt("everything", "args-prompt", {"city": "Rome"})) == "What's weather in Rome?"
    uri = next(each.uri for each in offer.resources if each.uri.endswith("features.md"))
    assert text(await pool.read("everything", uri)).startswith("# Everything Server - Features")


async def test_a_confined_server_writes_the_workspace_where_it_may(pool: McpPool, folder: Path) -> None:
    await call(pool, "files", "write_file", path=str(folder / "new.txt"), content="written")
    assert await asyncio.to_thread((folder / "new.txt").read_text) == "written"
    assert "new.txt" in text(await call(pool, "files", "list_directory", path=str(folder)))
    entities = [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]
    await call(pool, "memory", "create_entities", entities=entities)
    kept = await asyncio.to_thread((folder / "memory.jsonl").read_text)
    assert json.loads(kept)["name"] == "Ada"


async def test_servers_with_the_newest_protocol_work(pool: McpPool, folder: Path) -> None:
    views = [await until(pool, name, ServerState.READY) for name in ("git", "fetch", "time")]
    assert [view.offer.protocol for view in views] == ["2026-07-28"] * 3
    assert "A first commit" in text(await call(pool, "git", "git_log", repo_path=str(folder)))
    assert '"timezone": "UTC"' in text(await call(pool, "time", "get_current_time", timezone="UTC"))
    refused = await call(pool, "fetch", "fetch", url="http://127.0.0.1:9/")
    assert refused.is_error or refused.failure is not None


async def test_a_restarted_hosted_server_is_reconnected(pool: McpPool, hosted: dict[str, Hosted]) -> None:
    assert text(await call(pool, "http", "echo", message="before")) == "Echo: before"
    await asyncio.to_thread(hosted["http"].renew)
    if (lost := await call(pool, "http", "echo", message="between")).failure is not None:
        assert lost.failure is Failure.GONE
        await until(pool, "http", ServerState.STARTING)
    assert text(await call(pool, "http", "echo", message="after")) == "Echo: after"
