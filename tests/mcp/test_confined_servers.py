"""What a confined server can write, in each kind of sandbox."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from coder_tui.config.mcp_files import FoundServer
from coder_tui.config.sections import McpServerSection
from coder_tui.mcp.pool import McpPool
from coder_tui.mcp.servers import READS, UNCONFINED, describe_write_access
from coder_tui.mcp.wire import ServerState
from coder_tui.shell.hosts.side import SandboxSpec
from coder_tui.shell.sandbox.bubblewrap import find_bubblewrap
from coder_tui.shell.sandbox.sandbox import SandboxKind
from tests.fakes.mcp_pools import ENOUGH, fake, found, nothing, pool_of, tool, until
from tests.fakes.shells import skip_without_sandbox

BWRAP, LANDLOCK, NONE = SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK, SandboxKind.NONE


def confined(folder: Path, name: str, *writable: str) -> FoundServer:
    script, state = fake(folder, name, tools=[tool("write")]).section.args
    # Of a checkout or an environment below /tmp, where this may run, nothing is seen in there.
    command = str(Path(sys.executable).resolve())
    args = (shutil.copy(script, folder), state)
    return found(name, command=command, args=args, sandbox="auto", writable=writable)


async def writes(pool: McpPool, server: str, path: Path) -> bool:
    await until(pool, server, ServerState.READY)
    answer = await pool.call(server, "write", {"path": str(path)}, ENOUGH, nothing)
    is_there = await asyncio.to_thread(path.exists)
    assert (answer.failure, answer.is_error) == (None, not is_there)
    return is_there


@pytest.mark.parametrize("kind", [BWRAP, LANDLOCK])
async def test_a_confined_server_writes_only_what_the_user_named(tmp_path: Path, kind: SandboxKind) -> None:
    skip_without_sandbox(kind)
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    order = SandboxSpec(
        str(kind), find_bubblewrap(()), "auto", (), (str(work),), str(tmp_path / "cache"), str(tmp_path)
    )
    pool = pool_of(work, confined(work, "reader"), confined(work, "writer", "docs"), sandbox=order)
    pool.start()
    try:
        names = ("a.txt", ".envrc", ".mcp.json", "docs/b.txt")
        assert [await writes(pool, "reader", work / name) for name in names] == [False] * 4
        assert [await writes(pool, "writer", work / name) for name in names] == [False, False, False, True]
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({}, BWRAP, READS),
        ({}, LANDLOCK, READS),
        ({}, NONE, f"{UNCONFINED}: there is no sandbox here"),
        ({"sandbox": "off"}, BWRAP, UNCONFINED),
        ({"writable": (".", "/x")}, BWRAP, "writes ., /x"),
        (
            {"writable": (".",)},
            LANDLOCK,
            "writes ., including .git and settings there: Landlock cannot protect them",
        ),
        ({"command": "", "url": "https://a.b"}, NONE, ""),
    ],
    ids=["bubblewrap", "landlock", "none", "off", "writable", "unguarded", "elsewhere"],
)
def test_the_list_says_what_a_server_may_write(
    fields: dict[str, object], kind: SandboxKind, words: str
) -> None:
    section = McpServerSection.model_validate({"command": "x", **fields})
    assert describe_write_access(section, kind) == words
