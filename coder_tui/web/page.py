"""Makes an HTML page readable, in a process of its own that ends with the call."""

import asyncio
import contextlib
import json
import sys
from enum import StrEnum

from coder_tui.protocol.errors import ErrorType, ToolError

_SECONDS = 20.0


class PageFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"


async def read_page(html: str, url: str, page_format: PageFormat) -> str:
    """The page as Markdown or plain text, links absolute; as HTML it stays what it is."""
    if page_format is PageFormat.HTML:
        return html
    output_format = "plain" if page_format is PageFormat.TEXT else "markdown"
    # Lone surrogates cannot be passed on.
    clean = html.encode("utf-8", "replace").decode("utf-8")
    return await _ask(json.dumps({"html": clean, "url": url, "format": output_format}).encode())


async def _ask(request: bytes) -> str:
    # Isolated and without our environment: a page must not gain from a fault in its parser.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "coder_tui.web.page_program"),
        cwd="/",
        env={},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            reply, _ = await process.communicate(request)
    except TimeoutError as error:
        raise _unreadable("it took too long") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode != 0:
        raise _unreadable("its HTML broke the reader")
    return str(json.loads(reply)["text"])


def _unreadable(reason: str) -> ToolError:
    message = f"The page could not be made readable: {reason}."
    return ToolError(ErrorType.EXECUTION_FAILED, message, 'Fetch it with format="html".')
