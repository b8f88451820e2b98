"""The servers of a session: answers, failures, and that none affects the others."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from coder_tui.mcp.pool import McpPool, ServerView
from coder_tui.mcp.wire import Answer, Failure, PartKind, ServerState
from coder_tui.shell.hosts import link
from tests.fakes.mcp_pools import ENOUGH, fake, found, nothing, pool_of, tool, until, wait_for_file

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = ("environment", "big", "poison", "picture", "fail", "garbage", "die", "hang", "plain")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpPool]:
    folder = tmp_path_factory.mktemp("mcp")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SECRET_TOKEN": "hidden",
        "GIVEN": "from outside",
    }
    main = fake(folder, "main", tools=[tool(name) for name in NAMES])
    main.section.env["SHOWN"] = "${GIVEN}"
    strange = [
        tool("good"),
        {"name": "bad", "inputSchema": "none"},
        {"inputSchema": {}},
        7,
        tool("list", "", {"type": "array"}),
    ]
    servers = (
        main,
        fake(
            folder,
            "strange",
            tools=strange,
            prompts=[{"name": "ask"}, {}],
            resources=[{"uri": "a:b"}, {"name": "x"}],
        ),
        fake(folder, "many", count=100),
        fake(folder, "slow", slow=1.5, tools=[tool("late")]),
        fake(folder, "crashing", crash=True),
        fake(folder, "changing", tools=[tool("change", "As it was.")]),
        found("missing", command="no-such-program-anywhere"),
        found("unset", command="x", env={"A": "${NOT_SET_ANYWHERE}"}),
        found("off", command="x", enabled=False),
        found("unreachable", url="http://127.0.0.1:9/mcp"),
    )
    made = pool_of(folder, *servers, environ=environ)
    with pytest.MonkeyPatch.context() as patch:
        # The killed process must be the one that answers, not a wrapper.
        patch.setattr(link, "sys", sys)
        made.start()
        yield made
        await made.close()


async def call(
    pool: McpPool, tool: str, server: str = "main", seconds: float = ENOUGH, **arguments: str
) -> Answer:
    await until(pool, server, ServerState.READY)
    return await pool.call(server, tool, dict(arguments), seconds, nothing)


async def test_a_server_gets_the_named_variables_and_its_own_and_no_secret(pool: McpPool) -> None:
    (part,) = (await call(pool, "environment")).parts
    environment = json.loads(part.text)
    assert {name: environment.get(name) for name in ("SHOWN", "SECRET_TOKEN", "GIVEN")} == {
        "SHOWN": "from outside",
        "SECRET_TOKEN": None,
        "GIVEN": None,
    }


async def test_ten_megabytes_arrive_and_the_next_call_works(pool: McpPool) -> None:
    (part,) = (await call(pool, "big")).parts
    assert len(part.text) == 11_000_000
    assert (await call(pool, "plain")).parts[0].text == "plain {}"


async def test_pictures_failures_and_garbage_are_distinguished(pool: McpPool) -> None:
    picture, failed, garbled = [await call(pool, name) for name in ("picture", "fail", "garbage")]
    assert [(part.kind, part.media_type) for part in picture.parts] == [(PartKind.IMAGE, "image/png")]
    assert (failed.is_error, failed.failure, failed.parts[0].text) == (True, None, "no such row")
    assert garbled.failure is Failure.UNREADABLE


async def test_a_call_that_takes_too_long_ends(pool: McpPool) -> None:
    assert await call(pool, "hang", seconds=0.3) == Answer(
        failure=Failure.TIMEOUT, detail="no answer within 0.3 s"
    )


async def test_cancelling_a_call_tells_the_server(pool: McpPool) -> None:
    view = await until(pool, "main", ServerState.READY)
    assert view.known.order is not None
    file = Path(view.known.order.argv[-1])
    file.with_suffix(".hanging").unlink(missing_ok=True)
    calling = asyncio.ensure_future(call(pool, "hang"))
    number = await asyncio.to_thread(wait_for_file, file.with_suffix(".hanging"))
    calling.cancel()
    await asyncio.to_thread(wait_for_file, file.with_suffix(f".cancelled-{number}"))
    assert (await call(pool, "plain")).parts[0].text == "plain {}"


async def test_a_server_that_dies_during_a_call_is_reported_and_restarted(pool: McpPool) -> None:
    before = (await until(pool, "main", ServerState.READY)).pid
    assert (await call(pool, "die")).failure is Failure.GONE
    await until(pool, "main", ServerState.STARTING)
    after = (await until(pool, "main", ServerState.READY)).pid
    assert before != after
    assert (await call(pool, "plain")).parts[0].text == "plain {}"


async def test_a_server_killed_while_idle_is_restarted(pool: McpPool) -> None:
    view = await until(pool, "many", ServerState.READY)
    assert len(view.offer.tools) == 100
    os.kill(view.pid, signal.SIGKILL)
    await until(pool, "many", ServerState.STARTING)
    waited = await pool.call("many", "tool_1", {}, ENOUGH, nothing)
    assert waited.parts[0].text == "tool_1 {}"
    assert (await until(pool, "many", ServerState.READY)).pid != view.pid


async def test_tools_with_an_invalid_schema_are_left_out(pool: McpPool) -> None:
    offer = (await until(pool, "strange", ServerState.READY)).offer
    assert [each.name for each in offer.tools] == ["good"]
    assert [each.name for each in offer.prompts] == ["ask"]
    assert [each.uri for each in offer.resources] == ["a:b"]
    assert offer.problems == (
        "tools: bad was left out: it has no input schema",
        "tools: an entry without a name was left out: it has no name",
        "tools: an entry without a name was left out: it is not an object",
        "tools: list was left out: its input schema does not describe an object",
        "prompts: an entry without a name was left out: it has no name",
        "resources: x was left out: it has no address",
    )


def is_changed(view: ServerView) -> bool:
    return view.offer.tools[0].description == "As it is now."


async def test_changed_lists_are_read_again(pool: McpPool) -> None:
    await call(pool, "change", "changing", description="As it is now.")
    await until(pool, "changing", ServerState.READY, when=is_changed)


async def test_servers_that_cannot_start_say_why(pool: McpPool) -> None:
    failed = [
        await until(pool, name, ServerState.FAILED)
        for name in ("crashing", "missing", "unset", "unreachable")
    ]
    reported = {view.name: view.detail for view in failed}
    assert "the fake server says hello" in reported["crashing"]
    assert reported["missing"] == "program not found: no-such-program-anywhere"
    assert reported["unset"].startswith("the variable NOT_SET_ANYWHERE is not set")
    assert reported["unreachable"].startswith("it cannot be started: ")
    assert (await pool.call("crashing", "x", {}, 1.0, nothing)).failure is Failure.GONE


async def test_a_server_that_is_off_stays_off_until_restarted(pool: McpPool) -> None:
    assert [(view.state, view.detail) for view in pool.views if view.name == "off"] == [
        (ServerState.OFF, "switched off in the settings")
    ]
    await until(pool, "slow", ServerState.READY)
    await pool.stop("slow")
    view = pool.view("slow")
    assert view is not None and view.state is ServerState.OFF
    await pool.restart("slow")
    assert (await until(pool, "slow", ServerState.READY)).offer.tools[0].name == "late"


async def test_error_output_goes_to_the_log(pool: McpPool, tmp_path_factory: pytest.TempPathFactory) -> None:
    view = await until(pool, "main", ServerState.READY)
    assert view.known.order is not None
    log = Path(view.known.order.argv[-1]).with_name("mcp.log").read_text()
    assert "[main] \x1b[31mthe fake server says hello on its error output" in log
    assert "[main] this line is no message" in log


async def test_all_servers_restart_after_the_host_was_killed(pool: McpPool) -> None:
    before = (await until(pool, "main", ServerState.READY)).pid
    assert pool.pid is not None
    os.kill(pool.pid, signal.SIGKILL)
    assert (await call(pool, "plain")).failure is Failure.GONE
    after = await until(pool, "main", ServerState.READY)
    assert after.pid != before
    assert (await call(pool, "plain")).parts[0].text == "plain {}"
