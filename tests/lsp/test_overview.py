"""What the user sees of the language servers, and a server that is started again."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.agent.session import Session
from coder_tui.commands.base import Say
from coder_tui.commands.reports import lsp
from coder_tui.lsp.pool import ServerLine
from coder_tui.lsp.servers import Catalog, ServerSpec
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.lsp_bench import Bench, bench_in, problem
from tests.fakes.lsp_pools import fake_server

MISSING = ServerSpec("lost", "go", ("no-such-server",), install="go install lost")
ALL = Catalog((fake_server("muttering"), MISSING))


class Asking:
    """Of a session what the command needs."""

    def __init__(self, bench: Bench) -> None:
        self.lookup = CodeLookup(bench.pool, Workspace(bench.root))

    async def say(self, argument: str) -> Say:
        said = await lsp(cast(Session, self), argument)
        assert isinstance(said, Say)
        return said


async def test_every_server_is_listed_with_its_state(tmp_path: Path) -> None:
    async with bench_in(tmp_path / "w", ALL) as b:
        lost = ServerLine("go", "lost", ServerStatus.NOT_INSTALLED, detail="run: go install lost")
        idle, other = await b.pool.servers()
        root, command = str(b.root), fake_server("muttering").command
        assert (idle, other) == (
            ServerLine("py", "fake", ServerStatus.FRESH, root=root, command=command),
            lost,
        )
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        running, other = await b.pool.servers()
        assert running.pid > 0
        assert (replace(running, pid=0), other) == (
            replace(idle, is_started=True, said="second thoughts"),
            lost,
        )
        said = await Asking(b).say("status")
    assert said.text.splitlines() == [
        "Language servers:",
        "  py    fake: works",
        f"        folder   {root}",
        f"        command  {' '.join(command)}",
        f"        process  {running.pid}",
        "        output   second thoughts",
        "Not started:",
        "  go    lost  not installed        run: go install lost",
    ]


async def test_a_running_server_is_restarted_with_its_files(tmp_path: Path) -> None:
    async with bench_in(tmp_path / "w", ALL) as b:
        await b.pool.diagnostics(b.file, b.write("bad\n"))
        before = (await b.pool.servers())[0].pid
        asking = Asking(b)
        assert await asking.say("restart fake") == Say("fake restarts.")
        found = await b.pool.diagnostics(b.file, b.write("bad\nbad\n"))
        assert found.items == (problem(1, 1), problem(2, 1))
        assert (await b.pool.servers())[0].pid not in {0, before}
        nobody = "No language server called nobody was started."
        assert await asking.say("restart nobody") == Say(nobody, NoticeLevel.WARNING)
        assert await asking.say("stop") == Say(
            "Say /lsp, /lsp status or /lsp restart NAME.", NoticeLevel.WARNING
        )
