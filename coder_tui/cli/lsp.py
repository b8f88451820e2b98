"""`coder-tui lsp`: shows language servers, and installs missing ones."""

import argparse
import asyncio

from coder_tui.bootstrap.language_servers import build_pool, installed_folder, server_catalog, tell_nobody
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.cli.arguments import Parser, add_common, make_parser, read_invocation
from coder_tui.cli.output import is_confirmed, print_error, print_json, print_line
from coder_tui.lsp.find_server import InstallFailedError, InstallPlan, plans_for, run_plan
from coder_tui.lsp.pool import ServerLine, state_words
from coder_tui.lsp.servers import Installer, ServerSpec
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import UsageError
from coder_tui.text.safe_text import safe_line

FAILED = 1
CANNOT_ASK = "cannot ask without a terminal; add --yes to install without asking"


def main(argv: list[str]) -> int:
    arguments = lsp_parser().parse_args(argv)
    setup = prepare(read_invocation(arguments))
    return _install(setup, arguments) if arguments.action == "install" else _status(setup, arguments)


def lsp_parser() -> Parser:
    parser = make_parser("lsp", "Show and install language servers, which find problems in code.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="status|install")
    status = commands.add_parser("status", help="show each known server and whether it can be used here")
    status.switch("--json", "print JSON")
    add_common(status)
    install = commands.add_parser("install", help="install servers into coder-tui's own folder")
    install.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="servers or languages (default: common ones that are missing)",
    )
    install.switch("--yes", "install without asking")
    add_common(install)
    return parser


def _status(setup: Setup, arguments: argparse.Namespace) -> int:
    lines = asyncio.run(build_pool(setup, tell_nobody).servers())
    if arguments.json:
        print_json([_json(line) for line in lines], indent=2)
        return 0
    if not lines:
        print_line("No language server is used here: your settings turn all of them off.")
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        more = line.detail or _program(line)
        columns = f"{line.language:<5} {line.name:<{width}}  {state_words(line):<19}  {more}"
        print_line(safe_line(columns.rstrip()))
    return 0


def _program(line: ServerLine) -> str:
    return line.command[0] if line.command else ""


def _json(line: ServerLine) -> dict[str, object]:
    return {
        "language": line.language,
        "server": line.name,
        "status": str(line.status),
        "program": _program(line),
        "detail": line.detail,
    }


def _install(setup: Setup, arguments: argparse.Namespace) -> int:
    servers = server_catalog(setup).servers
    named = tuple(_named(servers, name) for name in arguments.names)
    wanted, is_whole = (named, True) if named else _missing_ones(setup)
    if not wanted and is_whole:
        print_line("Nothing to install: all common language servers are installed.")
        return 0
    ours = [spec for spec in wanted if spec.installer is not Installer.OTHER]
    for spec in wanted:
        if spec not in ours:
            print_error(f"coder-tui cannot install {spec.name}; install it with: {spec.install_command}")
    plans = plans_for(ours, installed_folder(setup))
    for plan in plans:
        for command in plan.shown:
            print_line(f"  {command}")
    if not plans or not (arguments.yes or is_confirmed("Run this?", CANNOT_ASK)):
        return FAILED
    return _run(plans)


def _run(plans: list[InstallPlan]) -> int:
    for plan in plans:
        try:
            run_plan(plan)
        except InstallFailedError as error:
            print_error(f"coder-tui lsp: {error}")
            return FAILED
        print_line(f"{plan.spec.name} is installed.")
        if plan.spec.checkers:
            print_line(
                f"It needs {' or '.join(plan.spec.checkers)} to find problems: {plan.spec.checker_hint}"
            )
    return 0


def _missing_ones(setup: Setup) -> tuple[tuple[ServerSpec, ...], bool]:
    """Return common servers that are missing or incomplete, and whether nothing else is missing."""
    status = {line.name: line for line in asyncio.run(build_pool(setup, tell_nobody).servers())}
    wanted: list[ServerSpec] = []
    is_whole = True
    for spec in server_catalog(setup).servers:
        line = status.get(spec.name)
        if line is None or not spec.is_default:
            continue
        lacks_checker = line.status is ServerStatus.LINTER_MISSING
        if line.status is ServerStatus.NOT_INSTALLED or (lacks_checker and spec.modules):
            wanted.append(spec)
        elif lacks_checker:
            print_error(f"{spec.name}: {line.detail}")
            is_whole = False
    return tuple(wanted), is_whole


def _named(servers: tuple[ServerSpec, ...], name: str) -> ServerSpec:
    """Find a server by its name, or the first installable one of a language."""
    for spec in servers:
        if spec.name == name:
            return spec
    of_language = [spec for spec in servers if spec.language == name and not spec.only_local]
    if not of_language:
        known = ", ".join(spec.name for spec in servers)
        raise UsageError(f"unknown language server or language {name}; choose one of {known}")
    return of_language[0]
