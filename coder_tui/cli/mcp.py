"""`coder-tui mcp`: lists, adds, removes and tests MCP servers, and logs in to them.

Only `test` and `login` start servers.
"""

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

from coder_tui.bootstrap.mcp import Servers, build_servers, find_servers
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.cli.arguments import Parser, add_common, make_parser, read_invocation
from coder_tui.cli.output import print_error, print_json, print_line
from coder_tui.config.paths import display_path
from coder_tui.config.project import SERVERS_NAME
from coder_tui.config.sections import McpServerSection
from coder_tui.config.write import add_to_project, add_to_settings, remove_server, settings_file_in
from coder_tui.mcp.pool import KnownServer, McpPool, ServerView
from coder_tui.mcp.servers import RESERVED_NAMES, describe_write_access
from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.errors import UsageError
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.text.safe_text import safe_line

_LOGIN_SECONDS = 320.0


async def probe_servers(setup: Setup, names: list[str]) -> tuple[ServerView, ...]:
    """Start these servers, or all, and return how each did. None keeps running."""
    pool = _pool(setup, names)
    pool.start()
    try:
        await asyncio.gather(*(_wait_until_settled(pool, view.name) for view in pool.views))
        return pool.views
    finally:
        await pool.close()


def _pool(setup: Setup, names: list[str]) -> McpPool:
    found = find_servers(setup)
    known = {server.name: server for server in found.known}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no MCP server {name}; known servers: {', '.join(known) or 'none'}")
    wanted = tuple(server for server in found.known if not names or server.name in names)
    return build_servers(setup, Servers(wanted))


async def _wait_until_settled(pool: McpPool, name: str) -> None:
    """Wait until a server works or has given up. A login link means that it still waits for the user."""
    moved = asyncio.Event()
    unwatch = pool.watch(moved.set)
    try:
        while (view := pool.view(name)) is not None and (view.state is ServerState.STARTING or view.link):
            await moved.wait()
            moved.clear()
    finally:
        unwatch()


async def log_in(setup: Setup, name: str, show: Callable[[str], None]) -> ServerView:
    """Let the user log in, and return the server afterwards. `show` receives the address to open."""
    pool = _pool(setup, [name])
    (view,) = pool.views
    if view.known.order is None or not view.known.order.url:
        raise UsageError(f"cannot log in to {name}: {view.detail or 'it runs on this machine'}")
    shown: list[str] = []

    def show_new_link() -> None:
        now = pool.view(name)
        if now is not None and now.link and now.link not in shown:
            shown.append(now.link)
            show(now.link)

    unwatch = pool.watch(show_new_link)
    try:
        pool.start()
        await _wait_until_settled(pool, name)
        async with asyncio.timeout(_LOGIN_SECONDS):
            await pool.restart(name, logs_in=True)
            await _wait_until_settled(pool, name)
        return pool.view(name) or view
    finally:
        unwatch()
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
    """Split at `--`: what follows is a command, even if it looks like a flag."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def mcp_parser() -> Parser:
    parser = make_parser("mcp", "Manage MCP servers, which provide tools, prompts and resources.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="list|add|remove|test|login")
    listing = commands.add_parser("list", help="list the configured servers; starts none")
    listing.switch("--json", "print JSON")
    add_common(listing)
    _add_parser(
        commands.add_parser("add", help="add a server: mcp add NAME URL, or mcp add NAME -- COMMAND ARGS")
    )
    remove = commands.add_parser(
        "remove", help="remove a server from your settings, or from the project's file"
    )
    remove.add_argument("name", metavar="NAME", help="the server")
    remove.switch("--project", "remove it from this project's .mcp.json")
    add_common(remove)
    test = commands.add_parser("test", help="start servers and show what they provide")
    test.add_argument("names", nargs="*", metavar="NAME", help="the servers to test (default: all)")
    test.switch("--json", "print JSON")
    add_common(test)
    login = commands.add_parser("login", help="log in to a server with a browser")
    login.add_argument("name", metavar="NAME", help="the server")
    add_common(login)
    return parser


def _add_parser(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a name for the server")
    parser.add_argument(
        "target", nargs="*", metavar="URL|COMMAND", help="its address or command; put -- before a command"
    )
    parser.add_argument(
        "--transport",
        choices=("stdio", "http", "sse"),
        default="",
        help="how to talk to it (default: stdio for a command, http for a URL)",
    )
    parser.repeated("--env", "NAME=VALUE", "an environment variable for the command")
    parser.repeated("--header", "NAME=VALUE", "an HTTP header for the address")
    parser.repeated("--writable", "FOLDER", "a folder that it may write to (. is the workspace)")
    parser.switch("--project", "add it to this project's .mcp.json, for everyone")
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
        print_json({"servers": servers, "notices": [*found.notices]}, indent=2)
        return 0
    for notice in found.notices:
        print_error(f"coder-tui mcp: {safe_line(notice)}")
    width = max((len(server.name) for server in found.known), default=0)
    for server in found.known:
        reach = describe_write_access(server.found.section, kind)
        line = f"{server.name:<{width}}  {_standing(server):<12}  {server.found.place}  {_target(server)}"
        print_line(safe_line(f"{line}  [{reach}]" if reach else line))
    if not found.known:
        print_line("No MCP servers. Add one with 'coder-tui mcp add NAME -- COMMAND'.")
    return 0


def _standing(server: KnownServer) -> str:
    if server.is_off:
        return "waits" if server.problem else "off"
    return "unusable" if server.problem else "on"


def _target(server: KnownServer) -> str:
    section = server.found.section
    target = " ".join(section.argv) or section.url
    return f"{target}  ({server.problem})" if server.problem else target


def _known_json(server: KnownServer, kind: SandboxKind) -> dict[str, object]:
    section = server.found.section
    return {
        "name": server.name,
        "state": _standing(server),
        "place": server.found.place,
        "command": list(section.argv),
        "url": section.url,
        "problem": server.problem,
        "reach": describe_write_access(section, kind),
    }


def _add(arguments: argparse.Namespace, command: list[str]) -> int:
    if any(sign.isspace() or sign == ":" for sign in arguments.name):
        raise UsageError(f"the name '{safe_line(arguments.name)}' must not contain spaces or colons")
    if arguments.name.lower() in RESERVED_NAMES:
        raise UsageError(
            f"the name '{arguments.name}' is reserved for your own commands (/{arguments.name}:…)"
        )
    target = [*arguments.target, *command]
    section = _section(arguments, target)
    setup = _setup(arguments)
    if arguments.project:
        if arguments.writable:
            raise UsageError(
                "--writable does not work with --project: each user grants write access in their own settings"
            )
        place = add_to_project(setup.directory, arguments.name, section)
        print_line(f"Written: {display_path(place)}")
        print_line("It is used once you trust the project: coder-tui trust")
        return 0
    place = add_to_settings(_own_file(setup), arguments.name, section)
    print_line(f"Written: {display_path(place)}")
    print_line(f"Try it: coder-tui mcp test {arguments.name}")
    return 0


def _section(arguments: argparse.Namespace, target: list[str]) -> dict[str, object]:
    """Return the server's entry for a settings file: validated, without defaults."""
    if not target:
        raise UsageError("no command or URL given; use 'mcp add NAME -- COMMAND ARGS' or 'mcp add NAME URL'")
    is_remote = target[0].startswith(("http://", "https://"))
    if not is_remote and "://" in target[0]:
        raise UsageError(f"{target[0]} is not a server address: it must begin with http:// or https://")
    if is_remote and len(target) > 1:
        raise UsageError(f"unexpected {target[1]} after the address")
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
        raise UsageError(f"invalid server: {error}") from error
    return section


def _pairs(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise UsageError(f"{name}: expected NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _remove(arguments: argparse.Namespace) -> int:
    setup = _setup(arguments)
    file = setup.directory / SERVERS_NAME if arguments.project else _own_file(setup)
    place = remove_server(file, arguments.name)
    print_line(f"Removed {arguments.name} from {display_path(place)}.")
    return 0


def _test(arguments: argparse.Namespace) -> int:
    views = asyncio.run(probe_servers(_setup(arguments), arguments.names))
    if arguments.json:
        print_json([*map(_view_json, views)], indent=2)
    else:
        for view in views:
            for line in _view_lines(view):
                print_line(safe_line(line))
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


def _login(arguments: argparse.Namespace) -> int:
    def show(link: str) -> None:
        print_line(f"Open this address in a browser on this machine:\n{safe_line(link)}")

    view = asyncio.run(log_in(_setup(arguments), arguments.name, show))
    print_line(safe_line(_view_lines(view)[0]))
    return 0 if view.state is ServerState.READY else FAILED
