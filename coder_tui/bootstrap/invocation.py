"""What a session is opened with: folder, raw settings and mode. Imported before the first paint, so cheap."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.config.paths import Directories, find_directories
from coder_tui.config.sources import Sources, find_sources
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError

if TYPE_CHECKING:
    from coder_tui.config.inventory import ProjectInventory
    from coder_tui.config.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What the caller chose for a session; `settings` go before those of files, what is empty does not."""

    settings: Mapping[tuple[str, str], object] = field(default_factory=dict)
    config: str = ""
    mode: Mode | None = None
    added: tuple[str, ...] = ()
    resume: str | None = None
    is_continued: bool = False
    agent: str = ""
    is_fork: bool = False

    def __post_init__(self) -> None:
        if self.resume is not None and not self.resume.strip():
            raise UsageError("--resume needs the id of a session; 'coder-tui sessions list' shows them")
        if self.is_fork and not self.resume and not self.is_continued:
            raise UsageError(
                "--fork goes with --resume ID or --continue: it goes on with a copy of that session"
            )

    @property
    def flags(self) -> dict[str, object]:
        """The settings as nested tables; what was not given is not there."""
        flags: dict[str, dict[str, object]] = {}
        for (section, key), value in self.settings.items():
            if value is not None and value != "":
                flags.setdefault(section, {})[key] = value
        return dict(flags)


@dataclass(frozen=True, slots=True)
class Invocation:
    directory: Path
    directories: Directories
    sources: Sources
    mode: Mode | None
    added_roots: tuple[Path, ...]
    resume: str = ""
    is_continued: bool = False
    agent: str = ""
    is_fork: bool = False


def find_invocation(directory: Path, options: SessionOptions) -> Invocation:
    """Check what can be checked without the settings' schema; `UserError` says what is wrong. Blocks."""
    directories = find_directories(os.environ)
    config = Path(options.config).expanduser() if options.config else None
    return Invocation(
        directory=directory,
        directories=directories,
        sources=find_sources(directories, directory, os.environ, options.flags, config),
        mode=options.mode,
        added_roots=tuple(map(existing_folder, options.added)),
        resume=options.resume or "",
        is_continued=options.is_continued,
        agent=options.agent,
        is_fork=options.is_fork,
    )


def existing_folder(text: str) -> Path:
    path = Path(text).expanduser()
    try:
        resolved = path.resolve(strict=True)
    except FileNotFoundError as error:
        raise UsageError(f"no folder at {text}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot open {text}: {error}") from error
    if not resolved.is_dir():
        raise UsageError(f"{text} is not a folder")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise UsageError(f"no permission to read the folder {text}")
    return resolved


class TrustQuestion:
    """Whether to trust the folder: asks once and remembers the answer.

    `invocation` has the project's settings as they may be used after the answer.
    """

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self._trust: Trust | None = None

    async def question(self) -> "ProjectInventory | None":
        """None where all is trusted, was refused in this very content, or loosens nothing."""
        return await asyncio.to_thread(self._question)

    async def accept(self, inventory: "ProjectInventory") -> None:
        if self._trust is not None:
            self.invocation = await asyncio.to_thread(self._accept, self._trust, inventory)

    async def refuse(self, inventory: "ProjectInventory") -> None:
        if self._trust is not None:
            await asyncio.to_thread(self._trust.refuse, inventory)

    def _accept(self, trust: "Trust", inventory: "ProjectInventory") -> Invocation:
        from coder_tui.config.project_settings import find_project_settings

        trust.accept(inventory)
        project = find_project_settings(self.invocation.directory, trust)
        return replace(self.invocation, sources=replace(self.invocation.sources, project=project))

    def _question(self) -> "ProjectInventory | None":
        from coder_tui.config.trust import Trust

        self._trust = trust = Trust.load(self.invocation.directories)
        inventory = trust.inventory(self.invocation.directory)
        is_settled = trust.problem or inventory.is_trusted or trust.is_refused(inventory)
        return None if is_settled or not inventory.questions else inventory
