"""Which servers a session has: of all that were found the nearest of each name, its variables filled in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.config.mcp_formats import FoundServer, FoundServers
from coder_tui.config.mcp_section import McpServerSection, McpTable
from coder_tui.mcp.pool import Known
from coder_tui.mcp.variables import UnsetVariableError, filled
from coder_tui.mcp.wire import ServerOrder, Transport

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
