"""Which MCP servers a session has: the nearest of each name, with its variables filled in.

Also turns a server's name into a part of its tools' names that every provider accepts and no two servers
share, and describes what a server may write, for the user who decides whether it may run. Its prompts are
what the user calls by `/server:prompt arguments`.
"""

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from coder_tui.config.mcp_files import FoundServer, FoundServers
from coder_tui.config.sections import McpServerSection, McpTable
from coder_tui.mcp.pool import KnownServer
from coder_tui.mcp.wire import PromptInfo, ServerOrder, Transport
from coder_tui.shell.sandbox.sandbox import SandboxKind

_PLACE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class UnsetVariableError(Exception):
    """A setting needs a variable that is not set."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the variable {name} is not set; set it, or write ${{{name}:-default}}")
        self.name = name


def fill_variables(text: str, environ: Mapping[str, str]) -> str:
    """Replace `${NAME}` and `${NAME:-default}`; raise `UnsetVariableError` if neither value exists."""

    def value(found: re.Match[str]) -> str:
        name, instead = found[1], found[2]
        # As in a shell, an empty variable counts as unset if there is a default.
        if environ.get(name) or (instead is None and name in environ):
            return environ[name]
        if instead is None:
            raise UnsetVariableError(name)
        return instead

    return _PLACE.sub(value, text)


_SECRETS = frozenset({"env", "headers"})
"""Settings of the user's own server that another server of the same name must not get."""
_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG")


@dataclass(frozen=True, slots=True)
class McpContext:
    """`tokens` is the folder that keeps logins."""

    roots: tuple[Path, ...]
    environ: Mapping[str, str]
    tokens: Path


def choose_servers(
    places: Iterable[FoundServers], own: McpTable
) -> tuple[tuple[FoundServer, ...], tuple[str, ...]]:
    """Return the nearest server of each name, and a notice for each that is not used; `places` weakest first.

    `own` are the user's settings. A table without command or url changes a server from another file, except
    for settings that could be secrets. What the user switches off is off.
    """
    found: dict[str, FoundServer] = {}
    notices: list[str] = []
    for place in places:
        notices += place.problems
        for server in place.servers:
            if (before := found.get(server.name)) is not None and before.fingerprint != server.fingerprint:
                notices.append(
                    f"two MCP servers are named {server.name}: the one in {server.place} is used, "
                    f"the one in {before.place} is not"
                )
            found[server.name] = server
    for name, section in own.items():
        if section.is_whole:
            continue
        if name not in found:
            notices.append(f"[mcp.{name}] has neither command nor url, and no other file defines this server")
        elif not found[name].is_own and (kept := _SECRETS & section.model_fields_set):
            notices.append(
                f"{' and '.join(sorted(kept))} of your [mcp.{name}] are not passed to the server from "
                f"{found[name].place}; add a command or url to your table to define your own server"
            )
    return tuple(_changed(server, own.get(server.name)) for server in found.values()), tuple(notices)


def _changed(server: FoundServer, own: McpServerSection | None) -> FoundServer:
    section = server.section
    if not server.is_own:
        # The user decides how a server is confined, not the project.
        section = section.model_copy(update={"sandbox": "auto", "writable": ()})
    if own is not None:
        fields = own.model_fields_set if server.is_own else own.model_fields_set - _SECRETS
        said = {key: getattr(own, key) for key in fields} if not own.is_whole else {}
        section = section.model_copy(update=said)
        if own.enabled is False:
            section = section.model_copy(update={"enabled": False})
    return replace(server, section=section)


def known(server: FoundServer, around: McpContext) -> KnownServer:
    """Return how to reach a server, or what is missing."""
    is_off = server.section.enabled is False
    try:
        order = _order(server, around)
    except UnsetVariableError as error:
        return KnownServer(server, None, str(error), is_off)
    return KnownServer(server, order, is_off=is_off)


def _order(server: FoundServer, around: McpContext) -> ServerOrder:
    section, environ = server.section, around.environ
    root = around.roots[0]
    inherited = {name: environ[name] for name in _INHERITED if name in environ}
    given = {name: fill_variables(value, environ) for name, value in section.env.items()}
    transport = Transport(section.transport or ("http" if section.url else "stdio"))
    folder = Path(fill_variables(section.cwd, environ)).expanduser()
    return ServerOrder(
        name=server.name,
        transport=transport,
        argv=tuple(fill_variables(word, environ) for word in section.argv),
        environment=inherited | given,
        directory=str(root / folder),
        url=fill_variables(section.url, environ),
        headers={name: fill_variables(value, environ) for name, value in section.headers.items()},
        start_seconds=section.start_timeout_sec,
        is_confined=section.sandbox == "auto",
        network=section.network,
        roots=tuple(map(str, around.roots)),
        writable=tuple(
            str(root / Path(fill_variables(path, environ)).expanduser()) for path in section.writable
        ),
        tokens=str(around.tokens / f"{server.fingerprint[:32]}.json"),
    )


def waiting(server: KnownServer, reason: str) -> KnownServer:
    """Return the same server marked as not to be started yet."""
    return replace(server, order=None, is_off=True, problem=reason)


PREFIX = "mcp__"
_LONGEST = 28
_HASH = 8
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
# Two in a row separate the server from its tool.
_RUN = re.compile(r"_{2,}")
# A name that already ends like this could pass for another server, and use what that one was granted.
_MARKED = re.compile(rf"-[0-9a-f]{{{_HASH}}}$")


def server_part(name: str) -> str:
    """Return the name for use in tool names; if it was changed or cut, it ends in a hash of the full name."""
    fit = _RUN.sub("_", _UNFIT.sub("_", name)).strip("_")
    if fit == name and len(fit) <= _LONGEST and not _MARKED.search(name):
        return fit
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{fit[: _LONGEST - _HASH - 1].rstrip('_-')}-{mark}".lstrip("-")


def tool_prefix(server: str) -> str:
    return f"{PREFIX}{server_part(server)}__"


UNCONFINED = "unconfined"
READS = "writes none of your files"


_REFUSED = ("read-only file system", "erofs", "permission denied", "eacces")
_HINT = (
    "If it tried to write: a confined server may write only to the folders that the user's settings name, "
    'as with `writable = ["."]` in [mcp.{}].'
)


def write_hint(server: str, words: str) -> str:
    """Return a hint if a confined server's message may be about a refused write, else ""."""
    said = words.lower()
    return _HINT.format(server) if any(sign in said for sign in _REFUSED) else ""


def describe_write_access(section: McpServerSection, kind: SandboxKind) -> str:
    """Describe what a server may write; "" for a remote one, which writes nothing here."""
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
                f"writes {folders}, including .git and settings there: Landlock cannot protect them"
                if folders
                else READS
            )
        case never:
            assert_never(never)


_UNFIT_IN_COMMAND = re.compile(r"[^\w-]")
# Prefixes of the user's and the project's own commands, which no server may use. A server whose name already
# has our prefix gets it once more, so that no two servers share a name.
RESERVED_NAMES = frozenset({"user", "project"})
_BEFORE = "mcp-"
_RESERVED = re.compile(rf"(?:{_BEFORE})*(?:{'|'.join(sorted(RESERVED_NAMES))})")


class PromptArgumentsError(Exception):
    """The arguments do not fit the prompt; the message says what it takes."""


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    server: str
    info: PromptInfo

    @property
    def command(self) -> str:
        """The command without its slash."""
        server = server_part(self.server).lower()
        if _RESERVED.fullmatch(server):
            server = f"{_BEFORE}{server}"
        return f"{server}:{_UNFIT_IN_COMMAND.sub('_', self.info.name)}".lower()

    @property
    def usage(self) -> str:
        """The arguments, optional ones in brackets."""
        needed = [each.name for each in self.info.arguments if each.is_required]
        others = [f"[{each.name}]" for each in self.info.arguments if not each.is_required]
        return " ".join((*needed, *others))

    def filled(self, text: str) -> dict[str, str]:
        """Read `name=value` or values in order; the last takes the rest. Raises `PromptArgumentsError`."""
        arguments = self.info.arguments
        known = [each.name for each in arguments]
        given: dict[str, str] = {}
        for word in _words(text):
            name, equals, value = word.partition("=")
            if equals and name in known:
                given[name] = value
                continue
            free = [each for each in known if each not in given]
            if free:
                given[free[0]] = word
            elif known:
                given[known[-1]] += f" {word}"
            else:
                raise PromptArgumentsError(f"/{self.command} takes no arguments")
        missing = [each.name for each in arguments if each.is_required and not given.get(each.name)]
        if missing:
            raise PromptArgumentsError(f"/{self.command} needs {', '.join(missing)}: {self.usage}")
        return given


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote is an apostrophe
        return text.split()
