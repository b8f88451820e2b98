"""Confine commands: with bubblewrap, else with Landlock, else visibly not at all."""

import base64
import contextlib
import hashlib
import json
import os
import platform
import pwd
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell.environment import Scratch, cache_variables, split_loading_variables
from coder_tui.shell.running import Launch
from coder_tui.shell.sandbox.bubblewrap import Layout, find_bubblewrap, profile
from coder_tui.shell.sandbox.confinement import NOTHING_MORE, Confinement
from coder_tui.shell.sandbox.landlock import landlock_version, rules
from coder_tui.shell.sandbox.protected import (
    GUARDED,
    START_FILES,
    Placeholders,
    git_folders,
    remove_new_setup,
)
from coder_tui.shell.sandbox.seccomp import command_filter, is_supported

_LAUNCHER = Path(__file__).with_name("launcher.py")
_PROBE_SECONDS = 10.0
_TEMPORARY = Path("/tmp")  # the folder that is replaced, whatever TMPDIR says


class SandboxSetting(StrEnum):
    """The setting `bash.sandbox`."""

    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


class SandboxKind(StrEnum):
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """Which sandbox works here. `detail` says why it is not a better one, `fix` what to do about it."""

    kind: SandboxKind
    detail: str = ""
    fix: str = ""
    program: str = ""
    is_chosen: bool = False
    """Whether the user switched it off."""

    @property
    def guards_everything(self) -> bool:
        """Whether commands may run without asking because of it. Landlock cannot protect `.git`."""
        return self.kind is SandboxKind.BUBBLEWRAP

    def describe(self, confinement: Confinement = NOTHING_MORE) -> str:
        """Describe for an approval how a command would be confined."""
        match self.kind:
            case SandboxKind.NONE:
                fix = f" ({self.fix})" if self.fix else ""
                return f"none: {self.detail}{fix}"
            case SandboxKind.BUBBLEWRAP | SandboxKind.LANDLOCK:
                network = "with network" if confinement.network else "no network"
                return f"{self.kind}: {network}, {_writes(confinement)}"


NOT_LOOKED_FOR = SandboxStatus(SandboxKind.NONE, "it was not checked")


def _writes(confinement: Confinement) -> str:
    more = [*confinement.folders, *confinement.files, *confinement.git, *confinement.unguarded]
    return f"writes here and {', '.join(dict.fromkeys(more))}" if more else "writes only here"


@dataclass(frozen=True, slots=True)
class SandboxFolders:
    """The program's own folders that matter to commands."""

    own: tuple[Path, ...]
    readable: tuple[Path, ...]
    cache: Path


class Sandbox:
    """The sandbox of one session."""

    def __init__(
        self,
        status: SandboxStatus,
        setting: SandboxSetting,
        roots: tuple[Path, ...],
        folders: SandboxFolders,
        home: Path,
    ) -> None:
        self.status = status
        self.roots = roots
        self.home = Path(os.path.realpath(home))
        self._setting = setting
        self._folders = folders
        self._scratch = Scratch(folders.cache / "sandbox" / "tmp")
        self._placeholders = Placeholders(folders.cache / "sandbox" / "guards")

    @contextlib.contextmanager
    def launch(
        self, argv: Sequence[str], environment: Mapping[str, str], confinement: Confinement
    ) -> Iterator[Launch]:
        """Prepare a command, and keep what it needs until the context closes. Blocks."""
        if self.status.kind is SandboxKind.NONE and self._setting is SandboxSetting.REQUIRED:
            raise _required(self.status)
        with ExitStack() as stack:
            match self.status.kind:
                case SandboxKind.BUBBLEWRAP:
                    made = self._in_bubblewrap(stack, tuple(argv), environment, confinement)
                case SandboxKind.LANDLOCK | SandboxKind.NONE:
                    made = self._by_launcher(tuple(argv), environment, confinement)
            stack.callback(made.close)
            yield made

    def close(self) -> None:
        """Remove the temporary files of this session. Blocks."""
        self._scratch.remove()

    def _in_bubblewrap(
        self,
        stack: ExitStack,
        argv: tuple[str, ...],
        environment: Mapping[str, str],
        confinement: Confinement,
    ) -> Launch:
        layout = self._layout()
        guarded = tuple(
            path
            for root in self.roots
            for path in stack.enter_context(
                self._placeholders.reserve(root, self._guarded(root, layout, confinement))
            )
        )
        written = [folder for git in confinement.git for folder in git_folders(Path(git)) if folder.is_dir()]
        stack.enter_context(remove_new_setup(written, is_setup=confinement.git_setup))
        words = profile(self.status.program, layout, confinement, tuple(guarded))
        code = command_filter(sockets=confinement.sockets, internet=True)
        theirs = _descriptor(code)
        report, reporter = os.pipe()
        outer, inner = split_loading_variables(environment)
        within = (word for name, value in inner.items() for word in ("--setenv", name, value))
        options = ("--seccomp", str(theirs), "--info-fd", str(reporter), *within, "--")
        return Launch(
            (*words, *options, *argv),
            {**outer, **self._variables(layout, environment, confinement), "TMPDIR": "/tmp"},
            (theirs, reporter),
            report,
        )

    def _by_launcher(
        self, argv: tuple[str, ...], environment: Mapping[str, str], confinement: Confinement
    ) -> Launch:
        if platform.system() != "Linux":
            return Launch(argv, environment)
        environment, inner = split_loading_variables(environment)
        order: dict[str, object] = {"rules": None, "filter": "", "environment": inner}
        if self.status.kind is SandboxKind.LANDLOCK:
            layout = self._layout()
            order["rules"] = rules(layout, confinement, landlock_version())
            code = command_filter(sockets=confinement.sockets, internet=confinement.network)
            order["filter"] = base64.b64encode(code).decode()
            more = self._variables(layout, environment, confinement)
            environment = {**environment, **more, "TMPDIR": str(layout.scratch)}
        theirs = _descriptor(json.dumps(order).encode())
        python = (sys.executable, "-I", "-S", str(_LAUNCHER), str(theirs))
        return Launch((*python, *argv), environment, (theirs,))

    def _layout(self) -> Layout:
        # One folder per project: files that one puts there must not run in another.
        name = hashlib.sha256(b"\0".join(os.fsencode(root) for root in self.roots)).hexdigest()[:16]
        caches = self._folders.cache / "sandbox" / "caches" / name
        caches.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = tuple(Path(os.path.realpath(folder)) for folder in self._folders.own)
        readable = tuple(Path(os.path.realpath(folder)) for folder in self._folders.readable)
        roots = tuple(root for root in self.roots if root.is_dir())
        return Layout(roots, home_folders(self.home), own, readable, self._scratch.path(), caches)

    def _guarded(self, root: Path, layout: Layout, confinement: Confinement) -> tuple[Path, ...]:
        names = [root / name for name in GUARDED]
        names += (path for path in layout.own if path.is_relative_to(root) and not path.is_dir())
        for home in layout.homes:
            if home.is_relative_to(root):
                names += (home / name for name in START_FILES if (home / name).exists())
        granted = {*confinement.git, *confinement.unguarded}
        return tuple(name for name in names if str(name) not in granted)

    def _variables(
        self, layout: Layout, environment: Mapping[str, str], confinement: Confinement
    ) -> dict[str, str]:
        found = cache_variables(layout.caches, self.home, environment, network=confinement.network)
        if os.getuid() == 0:
            # Without privileges, root cannot change owners, which its tar would try.
            found["TAR_OPTIONS"] = "--no-same-owner"
        return found


def folders_in_tmp(words: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of files in /tmp that a server's command names.

    Its /tmp is otherwise private. Blocks.
    """
    named = (Path(word) for word in words if Path(word).is_relative_to(_TEMPORARY))
    return tuple(str(path.parent) for path in named if path.is_file() and path.parent != _TEMPORARY)


def home_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # without a home folder there are no secrets in it
        return Path("/nonexistent")


def home_folders(home: Path) -> tuple[Path, ...]:
    """Return the home folder, and the one in the system's user list if it differs. Links are resolved."""
    home = Path(os.path.realpath(home))
    try:
        named = Path(os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir))
    except KeyError:  # the user of a container, without an entry
        return (home,)
    return (home,) if named == home else (home, named)


def probe(
    setting: SandboxSetting, roots: tuple[Path, ...], folders: SandboxFolders, home: Path
) -> SandboxStatus:
    """Return the best sandbox that works here, tested by running a command in it. Blocks."""
    if setting is SandboxSetting.OFF:
        return SandboxStatus(SandboxKind.NONE, "switched off by the setting bash.sandbox", is_chosen=True)
    if platform.system() != "Linux" or not is_supported():
        system = f"{platform.system()} on {platform.machine()}"
        return SandboxStatus(SandboxKind.NONE, f"not available for {system} yet")
    Placeholders(folders.cache / "sandbox" / "guards").remove_abandoned()
    program = find_bubblewrap(roots)
    wanted = SandboxStatus(SandboxKind.BUBBLEWRAP, program=program)
    trouble = _try(wanted, roots, folders, home) if program else "bubblewrap is not installed"
    if not trouble:
        return wanted
    fix = _how_to_fix(program)
    fallback = SandboxStatus(SandboxKind.LANDLOCK, f"{trouble}; .git is not protected", fix)
    if landlock_version() and not _try(fallback, roots, folders, home):
        return fallback
    return SandboxStatus(SandboxKind.NONE, trouble, fix)


def _try(status: SandboxStatus, roots: tuple[Path, ...], folders: SandboxFolders, home: Path) -> str:
    """Run `true` in the sandbox. Returns what went wrong, or an empty string."""
    # Without roots nothing is guarded: the test must not touch the workspace.
    sandbox = Sandbox(status, SandboxSetting.AUTO, (), folders, home)
    try:
        with sandbox.launch(("/bin/sh", "-c", "true"), dict(os.environ), NOTHING_MORE) as launch:
            ended = subprocess.run(
                launch.argv,
                env=launch.environment,
                pass_fds=launch.descriptors,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_SECONDS,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{status.kind} does not start: {error}"
    finally:
        sandbox.close()
    if ended.returncode == 0:
        return ""
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"{status.kind} does not work here: {said[-1] if said else f'exit code {ended.returncode}'}"


def _how_to_fix(program: str) -> str:
    if not program:
        return "apt install bubblewrap, or dnf install bubblewrap"
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap"
    return "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"


def _required(status: SandboxStatus) -> ToolError:
    fix = f"{status.fix}; or " if status.fix else ""
    return ToolError(
        ErrorType.NOT_INSTALLED,
        f"The setting bash.sandbox is 'required', but no sandbox works here: {status.detail}.",
        f"The user can fix this: {fix}set bash.sandbox to 'auto'. Nothing was run.",
    )


def _descriptor(data: bytes) -> int:
    """Return the descriptor of a file in memory with `data`, at its beginning."""
    number = os.memfd_create("coder-tui")
    os.write(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number
