"""Run git on the workspace's repository, so that reading runs nothing but git itself.

Reading commands also run in a read-only sandbox, as a second barrier behind the settings. `GitObjects` reads
file contents that git stores, so that they need no copy of ours.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.command import Completed, OutputCollector, run_launch
from coder_tui.shell.environment import clean_environment, find_program
from coder_tui.shell.running import Launch
from coder_tui.shell.sandbox.sandbox import NOT_LOOKED_FOR, SandboxKind, SandboxStatus
from coder_tui.shell.sandbox.seccomp import command_filter
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.repository import (
    USE_BASH,
    Entry,
    Repository,
    belongs_to_another,
    find_repository,
    for_acting,
    for_reading,
    foreign_owner,
    last_value,
    not_installed,
    parse_listing,
    require_own_worktree,
)

# No folder is writable, so nothing in the workspace needs guarding and nothing is left behind.
_PROFILE = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Everything is readable, nothing writable, no network or services; unconfined without bubblewrap."""

    status: SandboxStatus

    def launch(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> Launch:
        """Return the launch of a confined command; the caller closes it."""
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
_NO_USER_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    # Overrides any protocol.*.allow of the repository: a missing object is never fetched.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}


def discard_output(text: str) -> None:
    """Ignore output while the command runs."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository that may be used, the git program, and the repository's settings."""

    program: str
    repository: Repository
    entries: tuple[Entry, ...] = ()
    excludes: str = os.devnull
    """The user's list of files that are ignored in every repository."""
    is_foreign: bool = False
    """Whether it belongs to another user but is trusted by this one."""

    @property
    def top(self) -> Path:
        return self.repository.top


class Git:
    def __init__(self, workspace: Workspace, confined: ReadOnly) -> None:
        self._workspace = workspace
        self._confined = confined

    def program(self) -> str | None:
        """Return git's absolute path.

        It is looked up each time, because git may be installed while a session runs.
        """
        roots = (self._workspace.root, *self._workspace.extra_roots)
        return find_program("git", os.environ, roots)

    async def open(self) -> Opened:
        """Find the workspace's repository; the `ToolError` says why there is none."""
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
        """Run a read-only command from the workspace; the caller checks its exit code."""
        return await self._run(
            self.reading(opened, *arguments),
            directory=self._workspace.root,
            seconds=READ_SECONDS,
            limit=limit,
        )

    def reading(self, opened: Opened, *arguments: str) -> Launch:
        """Return a read-only command, ready to start; the caller closes it."""
        settings = _settings(for_reading(opened.entries, opened.excludes))
        environment = {**_bare_environment(opened.program), **_NO_USER_SETTINGS, **_place(opened.repository)}
        # Without privileges, root could not read what belongs to another user.
        confined = ReadOnly(NOT_LOOKED_FOR) if opened.is_foreign else self._confined
        return confined.launch((opened.program, "--no-pager", *arguments), {**environment, **settings})

    async def listed(self, opened: Opened, *arguments: str) -> str:
        """Return the whole output of a read-only command; raise if it was cut."""
        return complete_output(await self.read(opened, *arguments, limit=MOST_LISTED))

    async def user_entries(self, opened: Opened) -> tuple[Entry, ...]:
        """Return all settings, including the user's and the system's, as a commit would see them."""
        require_own_worktree(opened.repository, last_value(opened.entries, "core.worktree"))
        done = await self._run(
            Launch((opened.program, "--no-pager", *_LISTING), _user_environment(opened)),
            directory=opened.top,
            seconds=READ_SECONDS,
            limit=MOST_LISTED,
        )
        return parse_listing(complete_output(done))

    async def act(
        self,
        opened: Opened,
        entries: tuple[Entry, ...],
        *arguments: str,
        filters: bool = False,
        on_output: Callable[[str], None] = discard_output,
    ) -> Completed:
        """Run what the user approved, from the top of the repository, with the user's settings."""
        return await self._run(
            Launch(
                (opened.program, "--no-pager", *arguments),
                {**_user_environment(opened), **_settings(for_acting(entries, filters=filters))},
            ),
            directory=opened.top,
            seconds=ACT_SECONDS,
            limit=MOST_BYTES,
            on_output=on_output,
        )

    async def _is_vouched_for(self, program: str, repository: Repository) -> bool:
        """Return whether the user's or the system's `safe.directory` names it.

        A repository's own setting does not count.
        """
        named = [value.rstrip("/") for value in await self._user_values(program, "safe.directory")]
        return "*" in named or str(repository.top) in named

    async def _ignored_everywhere(self, program: str) -> str:
        named = await self._user_values(program, "core.excludesFile", "--type=path")
        return named[-1] if named else _default_excludes()

    async def _user_values(self, program: str, key: str, *options: str) -> list[str]:
        """Return the values of a key in the system's and the user's settings, ignoring the repository's."""
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
        on_output: Callable[[str], None] = discard_output,
    ) -> Completed:
        try:
            done = await run_launch(
                launch, OutputCollector(limit, on_output), directory=directory, time_limit=seconds
            )
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


def complete_output(done: Completed) -> str:
    """Return the output; raise if it was cut or the command failed."""
    require_success(done)
    if done.truncated:
        raise ToolError(ErrorType.TOO_LARGE, "The list is too long.", "Narrow it with a path.")
    return done.stdout


def require_success(done: Completed) -> None:
    if done.exit_code:
        raise failed(done)


def failed(done: Completed) -> ToolError:
    """Return git's own error message, which explains what is wrong."""
    said = (done.stderr.strip() or done.stdout.strip())[:_LONGEST_SAID]
    message = said.removeprefix("fatal: ").removeprefix("error: ") or f"git ended with {done.exit_code}."
    return ToolError(ErrorType.EXECUTION_FAILED, f"git: {message}", USE_BASH)


def clean_git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without secrets and without variables that control git."""
    return {name: value for name, value in clean_environment(environ).items() if not name.startswith("GIT_")}


def _bare_environment(program: str) -> dict[str, str]:
    """Return an environment in which only git's own programs are found."""
    kept = {name: os.environ[name] for name in ("TMPDIR", "TZ") if name in os.environ}
    return {**kept, "PATH": f"{Path(program).parent}:/usr/bin:/bin"}


def _user_environment(opened: Opened) -> dict[str, str]:
    absolute = [
        folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder[:1] == "/"
    ]
    return {
        **clean_git_environment(os.environ),
        "PATH": os.pathsep.join(absolute),
        # Found here, and no further up.
        "GIT_CEILING_DIRECTORIES": str(opened.top.parent),
        "GIT_EDITOR": ":",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _place(repository: Repository) -> dict[str, str]:
    # Set explicitly, so that the repository's core.worktree cannot send git elsewhere.
    return {"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}


def _settings(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return settings as variables instead of `-c`: a filter's name may contain any character."""
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for place, (key, value) in enumerate(pairs.items()):
        variables |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return variables


SHA1_DIGITS = 40
_BATCH = ("cat-file", "--batch")


@dataclass(frozen=True, slots=True)
class TrackedFiles:
    """The files that git tracks below the workspace's root, and the ids of contents that it stores."""

    paths: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()


NOTHING_TRACKED = TrackedFiles()


class GitObjects:
    def __init__(self, git: Git, root: Path) -> None:
        self._git = git
        self._root = root

    async def tracked(self) -> TrackedFiles:
        """Return what the index lists; nothing if there is no usable repository."""
        try:
            opened = await self._git.open()
            listing = await self._git.listed(opened, "ls-files", "--stage", "-z")
        except ToolError:
            return NOTHING_TRACKED
        rows = [row.partition("\t") for row in listing.split("\0") if row]
        names = frozenset(head.split(" ")[1] for head, _, _ in rows)
        paths = tuple(f"{self._root}/{path}" for _, _, path in rows)
        return TrackedFiles(paths, frozenset(name for name in names if len(name) == SHA1_DIGITS))

    async def open(self) -> Opened:
        return await self._git.open()

    def contents(self, opened: Opened, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the contents in the order of `names`, None for one that is gone. Blocks."""
        launch = self._git.reading(opened, *_BATCH)
        try:
            with subprocess.Popen(
                launch.argv,
                env=dict(launch.environment),
                cwd=self._root,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=launch.descriptors,
            ) as process:
                yield from _read_objects(process, names)
        finally:
            launch.close()


def _read_objects(process: "subprocess.Popen[bytes]", names: Iterable[str]) -> Iterator[bytes | None]:
    """Read objects one by one, so that neither side waits for the other to read."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("git was started without pipes")
    for name in names:
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            yield None
            continue
        size = int(head[2])
        content = process.stdout.read(size)
        process.stdout.read(1)
        yield content if len(content) == size else None
    process.stdin.close()
