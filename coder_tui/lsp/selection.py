"""Decides which language servers check a file, and says why one is not used."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.find_server import Places, find_program, find_root, lies_within, missing_checker
from coder_tui.lsp.servers import Catalog, Language, ServerSpec, language_of
from coder_tui.lsp.wire import ServerOrder
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus

_LOOK_AGAIN = 30.0
_HOLDS = 5.0
"""Seconds that a choice for a folder stays valid: one edit follows another."""
MOST_FOLDERS = 8
"""The most folders that one server runs in; files of other folders go to the workspace's server."""
NO_SANDBOX = (
    "it may run code from the project, and there is no sandbox here to confine it; "
    "set bash.sandbox to 'off' to run it anyway"
)


@dataclass(frozen=True, slots=True)
class Selected:
    """A server for a file: ready to start, or with the reason why it is not."""

    spec: ServerSpec
    order: ServerOrder | None
    status: ServerStatus = ServerStatus.FRESH
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """`language` is None if no server is known for such files."""

    language: Language | None
    servers: tuple[Selected, ...] = ()

    @property
    def orders(self) -> tuple[ServerOrder, ...]:
        return tuple(chosen.order for chosen in self.servers if chosen.order is not None)

    @property
    def hint(self) -> str:
        """How to install what is missing."""
        return "; ".join(chosen.detail for chosen in self.servers if chosen.detail)


@dataclass(frozen=True, slots=True)
class LspContext:
    """`distrust` says why no server may start in this folder, or ""; it blocks, and so does `places`."""

    roots: tuple[Path, ...]
    """The folders of the workspace, its own first."""
    catalog: Catalog
    places: Callable[[], Places]
    distrust: Callable[[], str]
    sandbox: SandboxStatus
    environment: Mapping[str, str]


class Selector:
    """Remembers what it found; a missing server or checker is searched for again after a while."""

    def __init__(self, surroundings: LspContext) -> None:
        self._around = surroundings
        self._found: dict[tuple[str, Path], Selected] = {}
        self._looked_at: dict[tuple[str, Path], float] = {}
        self._recent: dict[tuple[Path, str], tuple[float, tuple[Selected, ...]]] = {}

    async def for_file(self, path: Path, text: str) -> Selection:
        language = language_of(path, text, self._around.catalog.suffixes)
        if language is None:
            return Selection(None)
        place = (path.parent, language.key)
        known = self._recent.get(place)
        if known is None or time.monotonic() - known[0] > _HOLDS:
            specs = self._around.catalog.of_language(language.key)
            known = time.monotonic(), await asyncio.to_thread(self._select, specs, path)
            # A refusal is checked every time: the user may trust the folder at any moment.
            if all(chosen.status is not ServerStatus.UNTRUSTED for chosen in known[1]):
                self._recent[place] = known
        return Selection(language, known[1])

    async def for_workspace(self) -> tuple[Selected, ...]:
        """Return every known server, as selected for a file at the top of the workspace."""
        here = self._around.roots[0] / "file"
        return await asyncio.to_thread(
            lambda: tuple(
                found for spec in self._around.catalog.servers if (found := self._of(spec, here)) is not None
            )
        )

    async def renewed(self, order: ServerOrder) -> ServerOrder:
        """Return how to start this server now: what it lacked may have been installed since."""
        spec = next((spec for spec in self._around.catalog.servers if spec.name == order.name), None)
        if spec is None:
            return order
        self._recent.clear()
        found = await asyncio.to_thread(self._look_for, spec, Path(order.root))
        return found.order or order

    def _select(self, specs: tuple[ServerSpec, ...], path: Path) -> tuple[Selected, ...]:
        known = [found for spec in specs if (found := self._of(spec, path)) is not None]
        ready = [found for found in known if found.status is not ServerStatus.NOT_INSTALLED]
        replaced = {found.spec.replaces for found in ready}
        missed = [found for found in known if found not in ready and found.spec.is_default]
        kept = [found for found in (*ready, *missed) if found.spec.name not in replaced]
        # If only optional servers are missing, name one, so that it does not look as if there were none.
        return tuple(kept) or tuple(found for found in known if not found.spec.only_local)[:1]

    def _of(self, spec: ServerSpec, path: Path) -> Selected | None:
        roots = self._around.roots
        base = next((root for root in roots if path.is_relative_to(root)), roots[0])
        root = find_root(spec, path, base)
        if root is None:
            return None
        if (spec.name, root) not in self._found and self._count_of(spec) >= MOST_FOLDERS:
            root = base
        key = (spec.name, root)
        found = self._found.get(key)
        if found is None or (
            found.status is not ServerStatus.FRESH and time.monotonic() - self._looked_at[key] > _LOOK_AGAIN
        ):
            found = self._look_for(spec, root)
        if found.order is not None and (reason := self._refusal(spec, found.order.argv[0])):
            return Selected(spec, None, ServerStatus.UNTRUSTED, f"{spec.name}: {reason}")
        return found

    def _count_of(self, spec: ServerSpec) -> int:
        return sum(name == spec.name for name, _ in self._found)

    def _refusal(self, spec: ServerSpec, program: str) -> str:
        sandbox = self._around.sandbox
        # A tool call may have changed the project's files since the user trusted them.
        runs_project_code = spec.runs_project_code or lies_within(program, self._around.roots)
        if runs_project_code and sandbox.kind is SandboxKind.NONE and not sandbox.is_chosen:
            return NO_SANDBOX
        return self._around.distrust()

    def _look_for(self, spec: ServerSpec, root: Path) -> Selected:
        key = (spec.name, root)
        self._looked_at[key] = time.monotonic()
        found = self._found[key] = self._look(spec, root)
        return found

    def _look(self, spec: ServerSpec, root: Path) -> Selected:
        program = find_program(spec, root, self._around.places())
        if not program:
            detail = f"{spec.name} not installed, run: {spec.install_command}"
            return Selected(spec, None, ServerStatus.NOT_INSTALLED, detail)
        environment = {**clean_environment(self._around.environment), **spec.environment}
        lacks = missing_checker(spec, program, environment, self._around.roots)
        order = ServerOrder(
            key=f"{spec.name} {root}",
            name=spec.name,
            argv=(program, *spec.command[1:]),
            root=str(root),
            environment=environment,
            settings=dict(spec.settings),
            initialization=None if spec.initialization is None else dict(spec.initialization),
            network=spec.network,
            lacks=lacks,
        )
        detail = f"{spec.name}: {lacks}" if lacks else ""
        return Selected(spec, order, ServerStatus.LINTER_MISSING if lacks else ServerStatus.FRESH, detail)
