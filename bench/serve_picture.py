"""Draw docs/serve.png: the demo in a real browser, where an edit waits for an answer.

python -m bench.serve_picture
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.fakes.chromium import browser
from tests.fakes.program import Program

PICTURE = Path(__file__).parents[1] / "docs/serve.png"


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Program.in_folder(Path(folder))
        process = await asyncio.create_subprocess_exec(
            *program.command("serve", "--demo"), stdout=asyncio.subprocess.PIPE, env=program.environment
        )
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        try:
            async with browser(Path(folder) / "browser") as opened:
                page = await opened(url)
                await page.shows("say anything to start")
                await page.type("fix the bug")
                await page.press("Enter")
                for words in ("Run this command?", "Allow edit?"):
                    await page.shows(words)
                    await page.shows("ready")
                    if words == "Allow edit?":
                        await page.picture(PICTURE)
                    await page.press("y", control=True)
                print(f"{PICTURE.name}: hosts asked for anything: {sorted(set(page.hosts))}", file=sys.stderr)
        finally:
            process.terminate()
            await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
