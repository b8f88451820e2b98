"""`coder-tui acp`: serves an editor, which starts it, over the Agent Client Protocol."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from dataclasses import replace

from coder_tui.acp.agent import serve
from coder_tui.acp.session import Opened, OpenOptions
from coder_tui.acp.wire import own_pipes
from coder_tui.bootstrap.invocation import TrustQuestion, existing_folder
from coder_tui.bootstrap.session_library import SharedClients, open_folder
from coder_tui.cli.arguments import acp_parser, read_invocation
from coder_tui.cli.output import print_error, redacted, redactor
from coder_tui.config.own_files import start_log
from coder_tui.config.paths import Directories, find_directories
from coder_tui.storage.store import SessionInfo, Store

STARTED_BY_HAND = (
    "coder-tui: this command is for editors, which talk to it over standard input and output. "
    "Press Ctrl+C to stop."
)


def main(argv: list[str]) -> int:
    arguments = acp_parser().parse_args(argv)
    directories = find_directories(os.environ)
    directories.ensure()
    start_log(directories.log, redactor())
    logging.getLogger().addHandler(_ToOurLog())
    if sys.stdin.isatty():
        print_error(STARTED_BY_HAND)
    asyncio.run(_serve(FolderOpener(arguments, directories)))
    return 0


async def _serve(opener: "FolderOpener") -> None:
    serving = asyncio.create_task(serve(await own_pipes(), opener))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait({serving})
    await opener.close()
    if not serving.cancelled():
        serving.result()


class _ToOurLog(logging.Handler):
    """Sends the protocol library's log records to our log. They would go to standard error otherwise."""

    def emit(self, record: logging.LogRecord) -> None:
        logging.getLogger("coder_tui").handle(record)


class FolderOpener:
    """Opens sessions with the flags of the command line, each in the folder that the editor names."""

    def __init__(self, arguments: argparse.Namespace, directories: Directories) -> None:
        self._arguments = arguments
        self._directories = directories
        self._clients = SharedClients()

    async def close(self) -> None:
        """Close what sessions share. Call it after the last session is closed."""
        await self._clients.close()

    async def open(self, options: OpenOptions) -> Opened:
        invocation = await asyncio.to_thread(read_invocation, self._arguments, options.directory)
        added = tuple(existing_folder(folder) for folder in options.added)
        sources = invocation.sources
        if options.servers:
            sources = replace(sources, flags={**sources.flags, "mcp": options.servers})
        invocation = replace(
            invocation,
            added_roots=(*invocation.added_roots, *added),
            resume=options.resume,
            sources=sources,
        )
        opened = await open_folder(invocation, self._clients)
        opened.warm()
        models = await opened.models.offered()
        return Opened(opened.session, TrustQuestion(invocation), opened.close, models, opened.models.use)

    async def stored(self, directory: str | None, most: int) -> tuple[SessionInfo, ...]:
        folder = None if directory is None else str(await asyncio.to_thread(existing_folder, directory))
        store = await Store.open(self._directories.database)
        try:
            found = await store.sessions.list(folder, most)
        finally:
            await store.close()
        return tuple(info for info in found if info.message_count)

    def redact(self, text: str) -> str:
        return redacted(text)
