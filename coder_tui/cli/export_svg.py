"""`coder-tui sessions export --format svg`: a stored session as pictures."""

import asyncio
import os
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.agent.tape import tape
from coder_tui.cli.output import say
from coder_tui.cli.screen import DEFAULT_THEME
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources, quick_value
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.storage.sessions import StoredSession
from coder_tui.ui.export_svg import pictures
from coder_tui.ui.launch import Launch


async def export_pictures(stored: StoredSession, output: str, *, is_forced: bool) -> int:
    """Several files where it is long; none is written when one of them is there already."""
    target = Path(output or f"coder-tui-{stored.info.id}.svg")
    if not is_forced:
        _refuse(target)
    pages = await pictures(_launch(stored), tape(stored))
    paths = page_paths(target, len(pages))
    for path in paths if not is_forced else ():
        _refuse(path)
    await asyncio.to_thread(_write, paths, pages)
    for path in paths:
        say(f"Wrote {path}")
    return 0


def page_paths(target: Path, count: int) -> list[Path]:
    if count == 1:
        return [target]
    suffix = target.suffix or ".svg"
    return [target.with_name(f"{target.stem}-{number}{suffix}") for number in range(1, count + 1)]


def _refuse(path: Path) -> None:
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already; choose another name, or add --force")


def _write(paths: list[Path], pages: tuple[str, ...]) -> None:
    for path, page in zip(paths, pages, strict=True):
        try:
            path.write_text(page, encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _launch(stored: StoredSession) -> Launch:
    """In the person's own theme."""
    directories = find_directories(os.environ)
    sources = find_sources(directories, Path.cwd(), os.environ, {}, None)
    return Launch(
        directory=Path(stored.info.directory),
        theme=str(quick_value(sources, "ui", "theme") or DEFAULT_THEME),
        use_ascii=False,
        open_session=_no_session,
        theme_directory=directories.config / "themes",
        has_motion=False,
    )


async def _no_session() -> Session:
    raise UserError("There is no session to talk to.")
