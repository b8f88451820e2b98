"""`coder-tui serve` in a real browser: a user types, approves and sees a diff."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.fakes.chromium import browser, needs_chromium
from tests.fakes.process_family import descendants, has_ended
from tests.fakes.program import PLAIN, Program

pytestmark = needs_chromium


@asynccontextmanager
async def serving(program: Program) -> AsyncIterator[tuple[str, int]]:
    """Return the printed address and the process id."""
    process = await asyncio.create_subprocess_exec(
        *program.command("serve", "--demo"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=program.environment,
        cwd=program.project,
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip(), process.pid
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_a_user_types_approves_and_sees_a_diff(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path, PLAIN)
    async with serving(program) as (url, server), browser(tmp_path / "browser") as opened:
        page = await opened(url)
        await page.shows("say anything to start")
        await page.type("!env | grep -c -E '^(TEXTUAL|COLUMNS|ROWS)'")
        await page.press("Enter")
        await page.shows("exit 1")
        await page.type("fix the bug")
        await page.press("Enter")
        await page.shows("Run this command?")
        await page.shows("ready")
        await page.press("y", control=True)
        await page.shows("Allow edit?")
        await page.shows("pieces >= 10")
        await page.shows("ready")
        await page.press("y", control=True)
        await page.shows("Run this command?")

        assert set(page.hosts) == {url.partition("://")[2].partition("/")[0]}
        assert await page.evaluate("window.location.search") == ""
        tabs = descendants(server)
        assert tabs
        await page.close()
        assert [await asyncio.to_thread(has_ended, pid) for pid in tabs] == [True] * len(tabs)
