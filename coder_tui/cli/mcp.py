"""`coder-tui mcp`: which MCP servers there are, a new one, one less, and whether they work.

Starts MCP servers only to see whether they work, or to log in to one.
"""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

from coder_tui.bootstrap.mcp import Servers, build_servers, find_servers
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.cli.arguments import Parser, add_common
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import complain, say, say_json
from coder_tui.config.mcp_writer import add_to_project, add_to_settings, remove_server
from coder_tui.config.paths import display_path
from coder_tui.config.project import SERVERS_NAME
from coder_tui.config.sections import McpServerSection
from coder_tui.config.write import settings_file_in
from coder_tui.mcp.pool import Known, McpPool, ServerView
from coder_tui.mcp.prompts import RESERVED_NAMES
from coder_tui.mcp.servers import reach_of
from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.errors import UsageError
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.text.safe_text import safe_line

_LOGIN_SECONDS = 320.0


async def tried(setup: Setup, names: list[str]) -> tuple[ServerView, ...]:
    """Each of these servers, or all, as soon as it works or has given up; none runs on."""
    pool = _pool(setup, names)
    pool.start()
    try:
        await asyncio.gather(*(_ended(pool, view.name) for view in pool.views))
        return pool.views
    finally:
        await pool.close()


def _pool(setup: Setup, names: list[str]) -> McpPool:
    found = find_servers(setup)
    known = {server.name: server for server in found.known}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no MCP server {name}; there are {', '.join(known) or 'none'}")
    wanted = tuple(server for server in found.known if not names or server.name in names)
    return build_servers(setup, Servers(wanted))


async def _ended(pool: McpPool, name: str) -> None:
    """Until it works or has given up; a link to log in at is there while somebody waits behind it."""
    moved = asyncio.Event()
    deaf = pool.watch(moved.set)
    try:
        while (view := pool.view(name)) is not None and (view.state is ServerState.STARTING or view.link):
            await moved.wait()
            moved.clear()
    finally:
        deaf()


async def logged_in(setup: Setup, name: str, show: Callable[[str], None]) -> ServerView:
    """The server after a person logged in, or did not; `show` gets the address to go to."""
    pool = _pool(setup, [name])
    (view,) = pool.views
    if view.known.order is None or not view.known.order.url:
        raise UsageError(f"{name} cannot be logged in to: {view.detail or 'it runs on this machine'}")
    told: list[str] = []

    def tell() -> None:
        now = pool.view(name)
        if now is not None and now.link and now.link not in told:
            told.append(now.link)
            show(now.link)

    deaf = pool.watch(tell)
    try:
        pool.start()
        await _ended(pool, name)
        async with asyncio.timeout(_LOGIN_SECONDS):
            await pool.restart(name, logs_in=True)
            await _ended(pool, name)
        return pool.view(name) or view
    finally:
        deaf()
        await pool.close()


FAILED = 1


def main(argv: list[str]) -> int:
    words, command = _split(argv)
    arguments = mcp_parser().parse_args(words)
    match arguments.action:
        case "add":
            return _add(arguments, command)
        case "remove":
            return _remove(arguments)
        case "test":
            return _test(arguments)
        case "login":
            return _login(arguments)
        case _:
            return _list(arguments)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """What stands behind `--` is a command, whatever it looks like."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def mcp_parser() -> Parser:
    parser = Parser(prog="coder-tui mcp", description="Servers that bring tools, prompts and resources.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|add|remove|test|login")
    listing = commands.add_parser("list", help="every server that was found; starts none")
    listing.add_argument("--json", action="store_true", help="print JSON")
    add_common(listing)
    _add_parser(commands.add_parser("add", help="add one: mcp add NAME URL, or mcp add NAME -- COMMAND ARGS"))
    remove = commands.add_parser("remove", help="remove one from your settings, or from the project's file")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--project", action="store_true", help="from this project's .mcp.json")
    add_common(remove)
    test = commands.add_parser("test", help="start servers, and say what they bring")
    test.add_argument("names", nargs="*", metavar="NAME", help="default: all of them")
    test.add_argument("--json", action="store_true", help="print JSON")
    add_common(test)
    login = commands.add_parser("login", help="log in to a server with a browser")
    login.add_argument("name", metavar="NAME")
    add_common(login)
    return parser


def _add_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("target", nargs="*", metavar="URL|COMMAND", help="behind -- where it has flags")
    parser.add_argument(
        "--transport", choices=("stdio", "http", "sse"), default="", help="default: by target"
    )
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the command")
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE", help="for the address")
    parser.add_argument(
        "--writable",
        action="append",
        default=[],
        metavar="FOLDER",
        help="it may write there; . is the workspace",
    )
    parser.add_argument("--project", action="store_true", help="for everyone, in this project's .mcp.json")
    add_common(parser)


def _setup(arguments: argparse.Namespace) -> Setup:
    return prepare(read_invocation(arguments))


def _own_file(setup: Setup) -> Path:
    return setup.sources.file.path if setup.sources.file else settings_file_in(setup.directories.config)


def _list(arguments: argparse.Namespace) -> int:
    setup = _setup(arguments)
    found, kind = find_servers(setup), setup.sandbox.kind
    if arguments.json:
        servers = [_known_json(server, kind) for server in found.known]
        say_json({"servers": servers, "notices": [*found.notices]}, indent=2)
        return 0
    for notice in found.notices:
        complain(f"coder-tui mcp: {safe_line(notice)}")
    width = max((len(server.name) for server in found.known), default=0)
    for server in found.known:
        reach = reach_of(server.found.section, kind)
        line = f"{server.name:<{width}}  {_standing(server):<12}  {server.found.place}  {_target(server)}"
        say(safe_line(f"{line}  [{reach}]" if reach else line))
    if not found.known:
        say("There are none. 'coder-tui mcp add NAME -- COMMAND' adds one.")
    return 0


def _standing(server: Known) -> str:
    if server.is_off:
        return "waits" if server.problem else "off"
    return "unusable" if server.problem else "on"


def _target(server: Known) -> str:
    section = server.found.section
    target = " ".join(section.argv) or section.url
    return f"{target}  ({server.problem})" if server.problem else target


def _known_json(server: Known, kind: SandboxKind) -> dict[str, object]:
    section = server.found.section
    return {
        "name": server.name,
        "state": _standing(server),
        "place": server.found.place,
        "command": list(section.argv),
        "url": section.url,
        "problem": server.problem,
        "reach": reach_of(section, kind),
    }


def _add(arguments: argparse.Namespace, command: list[str]) -> int:
    if any(sign.isspace() or sign == ":" for sign in arguments.name):
        raise UsageError(f"'{safe_line(arguments.name)}' cannot be typed behind / or @: no blanks or colons")
    if arguments.name.lower() in RESERVED_NAMES:
        raise UsageError(f"'{arguments.name}' stands before commands of your own (/{arguments.name}:…)")
    target = [*arguments.target, *command]
    section = _section(arguments, target)
    setup = _setup(arguments)
    if arguments.project:
        if arguments.writable:
            raise UsageError("what a server may write is for each person's own settings to say")
        place = add_to_project(setup.directory, arguments.name, section)
        say(f"Written: {display_path(place)}")
        say("It is used once you trust it, as it is then: coder-tui trust")
        return 0
    place = add_to_settings(_own_file(setup), arguments.name, section)
    say(f"Written: {display_path(place)}")
    say(f"Try it: coder-tui mcp test {arguments.name}")
    return 0


def _section(arguments: argparse.Namespace, target: list[str]) -> dict[str, object]:
    """As it goes into a file: checked, and nothing that is usual anyway."""
    if not target:
        raise UsageError(
            "say what to start or where it is: mcp add NAME -- COMMAND ARGS, or mcp add NAME URL"
        )
    is_remote = target[0].startswith(("http://", "https://"))
    if not is_remote and "://" in target[0]:
        raise UsageError(f"{target[0]} is no address of a server: those begin with http:// or https://")
    if is_remote and len(target) > 1:
        raise UsageError(f"{target[1]} stands behind an address, which takes nothing more")
    given: dict[str, object] = (
        {"url": target[0], "headers": _pairs(arguments.header)}
        if is_remote
        else {"command": target[0], "args": target[1:], "env": _pairs(arguments.env)}
    )
    given["writable"] = arguments.writable
    given["transport"] = arguments.transport
    section = {key: value for key, value in given.items() if value}
    try:
        McpServerSection.model_validate(section)
    except ValueError as error:
        raise UsageError(f"this is no server: {error}") from error
    return section


def _pairs(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise UsageError(f"{name}: write NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _remove(arguments: argparse.Namespace) -> int:
    setup = _setup(arguments)
    file = setup.directory / SERVERS_NAME if arguments.project else _own_file(setup)
    place = remove_server(file, arguments.name)
    say(f"{arguments.name} is removed from {display_path(place)}.")
    return 0


def _test(arguments: argparse.Namespace) -> int:
    views = asyncio.run(tried(_setup(arguments), arguments.names))
    if arguments.json:
        say_json([*map(_view_json, views)], indent=2)
    else:
        for view in views:
            for line in _view_lines(view):
                say(safe_line(line))
    return 0 if all(view.state is ServerState.READY for view in views) else FAILED


def _view_lines(view: ServerView) -> list[str]:
    offer = view.offer
    counts = f", {len(offer.tools)} tools, {len(offer.prompts)} prompts, {len(offer.resources)} resources"
    state = f"{view.state}{counts}" if view.state is ServerState.READY else f"{view.state}: {view.detail}"
    tools = (f"  {tool.name}  {tool.description.partition(chr(10))[0]}".rstrip() for tool in offer.tools)
    return [f"{view.name}: {state}", *tools, *(f"  left out: {problem}" for problem in offer.problems)]


def _view_json(view: ServerView) -> dict[str, object]:
    return {
        "name": view.name,
        "state": str(view.state),
        "detail": view.detail,
        "protocol": view.offer.protocol,
        "tools": [tool.name for tool in view.offer.tools],
        "prompts": [prompt.name for prompt in view.offer.prompts],
        "resources": [resource.uri for resource in view.offer.resources],
        "problems": [*view.offer.problems],
    }


def _show_link(link: str) -> None:
    say(f"Open this in a browser on this machine:\n{safe_line(link)}")


def _login(arguments: argparse.Namespace) -> int:
    view = asyncio.run(logged_in(_setup(arguments), arguments.name, _show_link))
    say(safe_line(_view_lines(view)[0]))
    return 0 if view.state is ServerState.READY else FAILED
