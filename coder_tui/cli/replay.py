"""`coder-tui replay`: a stored session through the real screen, without a model."""

import argparse
import asyncio
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.agent.undo.replay import tape
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.cli.arguments import replay_parser
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import redactor
from coder_tui.cli.screen import DEFAULT_THEME, require_terminal
from coder_tui.config.sources import quick_value
from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.storage.store import Store, StoredSession
from coder_tui.ui.launch import Launch
from coder_tui.ui.replay import ReplayApp

NO_SESSION = "There is no session to talk to."


def main(argv: list[str]) -> int:
    arguments = replay_parser().parse_args(argv)
    require_terminal()
    invocation = read_invocation(arguments)
    stored = asyncio.run(load(invocation, arguments.id))
    app = ReplayApp(launch_for(invocation, stored, arguments), tape(stored), arguments.speed)
    app.run(mouse=not arguments.no_mouse)
    return app.return_code or 0


async def load(invocation: Invocation, session_id: str) -> StoredSession:
    """Everything at once: the store is closed before anything is shown."""
    database = invocation.directories.database
    if not database.exists():
        raise StorageError(f"no session {session_id!r}: nothing is stored yet")
    store = await Store.open(database, redactor())
    try:
        info = await store.get(session_id)
        return await store.load(info.id)
    finally:
        await store.close()


def launch_for(invocation: Invocation, stored: StoredSession, arguments: argparse.Namespace) -> Launch:
    return Launch(
        directory=Path(stored.info.directory),
        theme=arguments.theme or str(quick_value(invocation.sources, "ui", "theme") or DEFAULT_THEME),
        use_ascii=arguments.ascii,
        open_session=_no_session,
        theme_directory=invocation.directories.config / "themes",
    )


async def _no_session() -> Session:
    raise UserError(NO_SESSION)
