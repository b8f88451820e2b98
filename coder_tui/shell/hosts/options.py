"""What a process that starts servers for us is told: how they are confined, and where their words go."""

from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxFolders, SandboxKind, SandboxStatus, SandboxWish
from coder_tui.text.redact import Redactor


@dataclass(frozen=True, slots=True)
class SandboxOrder:
    """What a sandbox is built from in the other process: paths as text."""

    kind: str
    program: str
    wish: str
    own: tuple[str, ...]
    readable: tuple[str, ...]
    cache: str
    home: str


@dataclass(frozen=True, slots=True)
class HostOptions:
    """`environment` is the process's own; `log` is the file for what it and its servers say."""

    sandbox: SandboxOrder
    environment: dict[str, str]
    log: Path
    redact: Redactor


def sandbox_of(order: SandboxOrder, *, is_confined: bool = True) -> Sandbox:
    """Without a root: nothing of the workspace can be written, and nothing in it has to be guarded."""
    own, readable = (tuple(map(Path, paths)) for paths in (order.own, order.readable))
    status = SandboxStatus(SandboxKind(order.kind), program=order.program)
    wish = SandboxWish(order.wish)
    if not is_confined:
        status, wish = replace(status, kind=SandboxKind.NONE), SandboxWish.OFF
    return Sandbox(status, wish, (), SandboxFolders(own, readable, Path(order.cache)), Path(order.home))
