"""Which servers a session has: of all that were found the nearest of each name, its variables filled in.

Fills the variables of the environment into a server's settings.

A server's name as a part of its tools' names: no provider refuses it, and no two servers share it.

What a server may write, in a few words for the person who decides whether it may run.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from coder_tui.config.mcp_files import FoundServer, FoundServers
from coder_tui.config.sections import McpServerSection, McpTable
from coder_tui.mcp.pool import Known
from coder_tui.mcp.wire import ServerOrder, Transport
from coder_tui.shell.sandbox.sandbox import SandboxKind

_PLACE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class UnsetVariableError(Exception):
    """A setting needs a variable that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the variable {name} is not set; set it, or write ${{{name}:-what to take instead}}"
        )
        self.name = name


def filled(text: str, environ: Mapping[str, str]) -> str:
    """`UnsetVariableError` where a variable without a word to take instead is missing."""

    def value(found: re.Match[str]) -> str:
        name, instead = found[1], found[2]
        # As in a shell, an empty one counts as unset where there is a word for that.
        if environ.get(name) or (instead is None and name in environ):
            return environ[name]
        if instead is None:
            raise UnsetVariableError(name)
        return instead

    return _PLACE.sub(value, text)


_SECRETS = frozenset({"env", "headers"})
"""What a person keeps for a server of theirs: another's of the same name does not get it."""
_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`tokens` is the folder in which logins are kept."""

    roots: tuple[Path, ...]
    environ: Mapping[str, str]
    tokens: Path


def chosen(places: Iterable[FoundServers], own: McpTable) -> tuple[tuple[FoundServer, ...], tuple[str, ...]]:
    """The nearest of each name, `places` weakest first, and a word on each that gave way.

    `own` are the person's settings: what they say of a server without saying where it is holds for whoever
    brings it, but what could be a secret; and what they switch off is off.
    """
    found: dict[str, FoundServer] = {}
    notices: list[str] = []
    for place in places:
        notices += place.problems
        for server in place.servers:
            if (before := found.get(server.name)) is not None and before.fingerprint != server.fingerprint:
                notices.append(
                    f"two MCP servers are called {server.name}: that of {server.place} is used, "
                    f"that of {before.place} is not"
                )
            found[server.name] = server
    for name, section in own.items():
        if section.is_whole:
            continue
        if name not in found:
            notices.append(f"[mcp.{name}] has neither command nor url, and no other file has such a server")
        elif not found[name].is_own and (kept := _SECRETS & section.model_fields_set):
            notices.append(
                f"{' and '.join(sorted(kept))} of your [mcp.{name}] are not handed to the server of "
                f"{found[name].place}; give your table a command or url to have a server of your own"
            )
    return tuple(_changed(server, own.get(server.name)) for server in found.values()), tuple(notices)


def _changed(server: FoundServer, own: McpServerSection | None) -> FoundServer:
    section = server.section
    if not server.is_own:
        # How it is confined is the person's to say, not the project's.
        section = section.model_copy(update={"sandbox": "auto", "writable": ()})
    if own is not None:
        fields = own.model_fields_set if server.is_own else own.model_fields_set - _SECRETS
        said = {key: getattr(own, key) for key in fields} if not own.is_whole else {}
        section = section.model_copy(update=said)
        if own.enabled is False:
            section = section.model_copy(update={"enabled": False})
    return replace(server, section=section)


def known(server: FoundServer, around: Surroundings) -> Known:
    """How to reach it, or what is missing for that."""
    is_off = server.section.enabled is False
    try:
        order = _order(server, around)
    except UnsetVariableError as error:
        return Known(server, None, str(error), is_off)
    return Known(server, order, is_off=is_off)


def _order(server: FoundServer, around: Surroundings) -> ServerOrder:
    section, environ = server.section, around.environ
    root = around.roots[0]
    inherited = {name: environ[name] for name in _INHERITED if name in environ}
    given = {name: filled(value, environ) for name, value in section.env.items()}
    transport = Transport(section.transport or ("http" if section.url else "stdio"))
    folder = Path(filled(section.cwd, environ)).expanduser()
    return ServerOrder(
        name=server.name,
        transport=transport,
        argv=tuple(filled(word, environ) for word in section.argv),
        environment=inherited | given,
        directory=str(root / folder),
        url=filled(section.url, environ),
        headers={name: filled(value, environ) for name, value in section.headers.items()},
        start_seconds=section.start_timeout_sec,
        is_confined=section.sandbox == "auto",
        network=section.network,
        roots=tuple(map(str, around.roots)),
        writable=tuple(str(root / Path(filled(path, environ)).expanduser()) for path in section.writable),
        tokens=str(around.tokens / f"{server.fingerprint[:32]}.json"),
    )


def waiting(server: Known, reason: str) -> Known:
    """The same server, which must not be started yet."""
    return replace(server, order=None, is_off=True, problem=reason)


PREFIX = "mcp__"
_LONGEST = 28
_HASH = 8
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
# Two in a row part the server from its tool.
_RUN = re.compile(r"_{2,}")
# A name that ends so already could stand for another server, and would have what that one was granted.
_MARKED = re.compile(rf"-[0-9a-f]{{{_HASH}}}$")


def server_part(name: str) -> str:
    """What had to be changed or cut ends in a hash of the whole."""
    fit = _RUN.sub("_", _UNFIT.sub("_", name)).strip("_")
    if fit == name and len(fit) <= _LONGEST and not _MARKED.search(name):
        return fit
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{fit[: _LONGEST - _HASH - 1].rstrip('_-')}-{mark}".lstrip("-")


def tool_prefix(server: str) -> str:
    return f"{PREFIX}{server_part(server)}__"


UNCONFINED = "unconfined"
READS = "writes nothing of yours"


_REFUSED = ("read-only file system", "erofs", "permission denied", "eacces")
_HINT = (
    "If it wanted to write: a confined server writes only the folders that the person names, "
    'as in `writable = ["."]` of [mcp.{}] in their settings.'
)


def write_hint(server: str, words: str) -> str:
    """For words of a confined server that may be about a refused write; empty for others."""
    said = words.lower()
    return _HINT.format(server) if any(sign in said for sign in _REFUSED) else ""


def reach_of(section: McpServerSection, kind: SandboxKind) -> str:
    """Empty for a server elsewhere, which reaches nothing here."""
    if section.url:
        return ""
    if section.sandbox == "off":
        return UNCONFINED
    folders = ", ".join(section.writable)
    match kind:
        case SandboxKind.NONE:
            return f"{UNCONFINED}: there is no sandbox here"
        case SandboxKind.BUBBLEWRAP:
            return f"writes {folders}" if folders else READS
        case SandboxKind.LANDLOCK:
            return (
                f"writes {folders}, .git and settings there as well: Landlock cannot keep them"
                if folders
                else READS
            )
        case never:
            assert_never(never)
