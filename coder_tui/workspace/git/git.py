"""Runs git on the workspace's repository, so that reading runs nothing but git itself.

Starts a git that only looks where it can do nothing else: the second wall behind its settings.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.command import Completed, Kept, run_launch
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.running import Launch
from coder_tui.shell.sandbox.sandbox import NOT_LOOKED_FOR, SandboxKind, SandboxStatus
from coder_tui.shell.sandbox.seccomp import command_filter
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.repository import (
    USE_BASH,
    Repository,
    belongs_to_another,
    find_repository,
    foreign_owner,
    not_installed,
    require_own_worktree,
)
from coder_tui.workspace.git.settings import Entry, for_acting, for_reading, last_value, parse_listing
from coder_tui.workspace.programs import find_program

# No folder is writable, so there is nothing to guard in the workspace, and nothing is left behind there.
_PROFILE = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Everything readable, nothing writable, no network, no services; plain where there is no bubblewrap."""

    status: SandboxStatus

    def launch(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> Launch:
        """Whoever takes it closes it."""
        if self.status.kind is not SandboxKind.BUBBLEWRAP:
            return Launch(argv, environment)
        descriptor = os.memfd_create("coder-tui")
        os.write(descriptor, command_filter(sockets=False, internet=False))
        os.lseek(descriptor, 0, os.SEEK_SET)
        words = (self.status.program, *_PROFILE, "--seccomp", str(descriptor), "--")
        return Launch((*words, *argv), environment, (descriptor,))


READ_SECONDS = 30.0
ACT_SECONDS = 300.0
MOST_BYTES = 1_000_000
MOST_LISTED = 8_000_000
_LISTING = ("config", "--list", "--show-scope", "-z")
_LONGEST_SAID = 2_000
_NO_PERSON = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    # Stronger than any protocol.*.allow of the repository: an object that is missing is fetched from nowhere.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}


def nobody_watches(text: str) -> None:
    """Output that is only wanted at its end."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository that may be used, the program for it, and what its own settings say."""

    program: str
    repository: Repository
    entries: tuple[Entry, ...] = ()
    excludes: str = os.devnull
    """The person's own list of what is ignored in every repository."""
    is_foreign: bool = False
    """Another user's, which the person vouches for."""

    @property
    def top(self) -> Path:
        return self.repository.top


class Git:
    def __init__(self, workspace: Workspace, confined: ReadOnly) -> None:
        self._workspace = workspace
        self._confined = confined

    def program(self) -> str | None:
        """Git's absolute path, looked up anew: it may be installed while a session runs."""
        roots = (self._workspace.root, *self._workspace.extra_roots)
        return find_program("git", os.environ, roots)

    async def open(self) -> Opened:
        """Find the workspace's repository; `ToolError` says why there is none to use."""
        program = await asyncio.to_thread(self.program)
        if program is None:
            raise not_installed()
        repository = await asyncio.to_thread(find_repository, self._workspace.root)
        foreign = await asyncio.to_thread(foreign_owner, repository, os.environ)
        if foreign is not None and not await self._is_vouched_for(program, repository):
            raise belongs_to_another(foreign)
        bare = Opened(program, repository, is_foreign=foreign is not None)
        entries = parse_listing(await self.listed(bare, *_LISTING))
        return replace(bare, entries=entries, excludes=await self._ignored_everywhere(program))

    async def read(self, opened: Opened, *arguments: str, limit: int = MOST_BYTES) -> Completed:
        """Run a command that only looks, from the workspace; its exit code is the caller's to judge."""
        return await self._run(
            self.reading(opened, *arguments),
            directory=self._workspace.root,
            seconds=READ_SECONDS,
            limit=limit,
        )

    def reading(self, opened: Opened, *arguments: str) -> Launch:
        """A command that only looks, ready to start; whoever takes it closes it."""
        settings = _settings(for_reading(opened.entries, opened.excludes))
        environment = {**_bare_environment(opened.program), **_NO_PERSON, **_place(opened.repository)}
        # Without privileges root could not read what belongs to another user.
        confined = ReadOnly(NOT_LOOKED_FOR) if opened.is_foreign else self._confined
        return confined.launch((opened.program, "--no-pager", *arguments), {**environment, **settings})

    async def listed(self, opened: Opened, *arguments: str) -> str:
        """The whole output of a reading command, for us to take apart; part of a list is no list."""
        return whole(await self.read(opened, *arguments, limit=MOST_LISTED))

    async def person_entries(self, opened: Opened) -> tuple[Entry, ...]:
        """All settings, the person's and the system's too, as a commit would see them."""
        require_own_worktree(opened.repository, last_value(opened.entries, "core.worktree"))
        done = await self._run(
            Launch((opened.program, "--no-pager", *_LISTING), _person_environment(opened)),
            directory=opened.top,
            seconds=READ_SECONDS,
            limit=MOST_LISTED,
        )
        return parse_listing(whole(done))

    async def act(
        self,
        opened: Opened,
        entries: tuple[Entry, ...],
        *arguments: str,
        filters: bool = False,
        on_output: Callable[[str], None] = nobody_watches,
    ) -> Completed:
        """Run what a person approved, from the top of the repository, with their own settings."""
        return await self._run(
            Launch(
                (opened.program, "--no-pager", *arguments),
                {**_person_environment(opened), **_settings(for_acting(entries, filters=filters))},
            ),
            directory=opened.top,
            seconds=ACT_SECONDS,
            limit=MOST_BYTES,
            on_output=on_output,
        )

    async def _is_vouched_for(self, program: str, repository: Repository) -> bool:
        """Whether the person's or the system's `safe.directory` names it: no repository can."""
        named = [value.rstrip("/") for value in await self._person_values(program, "safe.directory")]
        return "*" in named or str(repository.top) in named

    async def _ignored_everywhere(self, program: str) -> str:
        named = await self._person_values(program, "core.excludesFile", "--type=path")
        return named[-1] if named else _default_excludes()

    async def _person_values(self, program: str, key: str, *options: str) -> list[str]:
        """Values that the system's and the person's own settings give a key; the repository has no say."""
        values: list[str] = []
        for scope in ("--system", "--global"):
            argv = (program, "config", scope, *options, "--get-all", "-z", key)
            done = await self._run(
                Launch(argv, clean_git_environment(os.environ)),
                directory=Path("/"),
                seconds=READ_SECONDS,
                limit=MOST_BYTES,
            )
            values += done.stdout.split("\0")[:-1]
        return values

    async def _run(
        self,
        launch: Launch,
        *,
        directory: Path,
        seconds: float,
        limit: int,
        on_output: Callable[[str], None] = nobody_watches,
    ) -> Completed:
        try:
            done = await run_launch(launch, Kept(limit, on_output), directory=directory, time_limit=seconds)
        except OSError as error:
            raise ToolError(ErrorType.EXECUTION_FAILED, f"git did not start: {error.strerror}.") from error
        finally:
            launch.close()
        if done.timed_out:
            raise ToolError(
                ErrorType.TIMEOUT, f"git took longer than {seconds:g} s and was stopped.", USE_BASH
            )
        return done


def _default_excludes() -> str:
    home = os.environ.get("HOME", "")
    config = os.environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    return f"{config}/git/ignore" if config else os.devnull


def whole(done: Completed) -> str:
    """What was printed, when all of it is there and the command went well."""
    require_success(done)
    if done.truncated:
        raise ToolError(ErrorType.TOO_LARGE, "There is too much to list.", "Narrow it with a path.")
    return done.stdout


def require_success(done: Completed) -> None:
    if done.exit_code:
        raise failed(done)


def failed(done: Completed) -> ToolError:
    """Git's own words; it says itself what is wrong with an index or an object."""
    said = (done.stderr.strip() or done.stdout.strip())[:_LONGEST_SAID]
    message = said.removeprefix("fatal: ").removeprefix("error: ") or f"git ended with {done.exit_code}."
    return ToolError(ErrorType.EXECUTION_FAILED, f"git: {message}", USE_BASH)


def clean_git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without secrets and without variables that steer git."""
    return {name: value for name, value in clean_environment(environ).items() if not name.startswith("GIT_")}


def _bare_environment(program: str) -> dict[str, str]:
    """Git finds its own parts by its own path; nothing else is to be found."""
    kept = {name: os.environ[name] for name in ("TMPDIR", "TZ") if name in os.environ}
    return {**kept, "PATH": f"{Path(program).parent}:/usr/bin:/bin"}


def _person_environment(opened: Opened) -> dict[str, str]:
    absolute = [
        folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder[:1] == "/"
    ]
    return {
        **clean_git_environment(os.environ),
        "PATH": os.pathsep.join(absolute),
        # Found where we found it, and no further up.
        "GIT_CEILING_DIRECTORIES": str(opened.top.parent),
        "GIT_EDITOR": ":",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _place(repository: Repository) -> dict[str, str]:
    # Named outright: the repository's own core.worktree does not send git elsewhere.
    return {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}


def _settings(pairs: Mapping[str, str]) -> dict[str, str]:
    """As variables, not as `-c`: the name of a filter may hold any character."""
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for place, (key, value) in enumerate(pairs.items()):
        variables |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return variables
