"""`coder-tui replay`: plays back a stored session on the real screen, without a model."""

import argparse
import asyncio
from dataclasses import replace
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.agent.undo.replay import playback_steps
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.cli.arguments import Parser, add_look, make_parser, read_invocation
from coder_tui.cli.output import redactor
from coder_tui.cli.screen import DEFAULT_THEME, require_terminal
from coder_tui.config.paths import Directories
from coder_tui.config.sources import Sources, quick_value
from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.storage.store import Store, StoredSession
from coder_tui.ui.launch import Launch
from coder_tui.ui.replay import ReplayApp

NO_SESSION = "This is a playback: messages cannot be sent."
FASTEST = 1000.0


def replay_parser() -> Parser:
    parser = make_parser(
        "replay",
        "Play back a stored session on the screen. No model is called, nothing runs, and nothing is written.",
    )
    parser.add_argument("id", metavar="ID", help="the session's id, or the beginning of it")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="play N times as fast (default: 1)"
    )
    add_look(parser)
    return parser


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from error
    if not 0 < value <= FASTEST:
        raise argparse.ArgumentTypeError(f"{text} must be above 0 and at most {FASTEST:g}")
    return value


def main(argv: list[str]) -> int:
    arguments = replay_parser().parse_args(argv)
    require_terminal()
    invocation = read_invocation(arguments)
    stored = asyncio.run(load(invocation, arguments.id))
    launch = launch_for(stored, invocation.directories, invocation.sources)
    launch = replace(launch, theme=arguments.theme or launch.theme, use_ascii=arguments.ascii)
    app = ReplayApp(launch, playback_steps(stored), arguments.speed)
    app.run(mouse=not arguments.no_mouse)
    return app.return_code or 0


async def load(invocation: Invocation, session_id: str) -> StoredSession:
    """Load the whole session. The store is closed before anything is shown."""
    database = invocation.directories.database
    if not database.exists():
        raise StorageError(f"there is no session {session_id!r}: no session is stored yet")
    store = await Store.open(database, redactor())
    try:
        info = await store.sessions.get(session_id)
        return await store.load(info.id)
    finally:
        await store.close()


def launch_for(stored: StoredSession, directories: Directories, sources: Sources) -> Launch:
    """Return what a screen needs to show a stored session, with the user's theme."""
    return Launch(
        directory=Path(stored.info.directory),
        theme=str(quick_value(sources, "ui", "theme") or DEFAULT_THEME),
        use_ascii=False,
        open_session=_no_session,
        theme_directory=directories.config / "themes",
    )


async def _no_session() -> Session:
    raise UserError(NO_SESSION)
