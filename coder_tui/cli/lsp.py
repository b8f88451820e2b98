"""`coder-tui lsp`: which language servers there are, and getting those that are missing."""

import argparse
import asyncio
import sys

from coder_tui.bootstrap.language_servers import build_pool, catalogue_of, installed_folder, tell_nobody
from coder_tui.bootstrap.open_session import prepare
from coder_tui.bootstrap.setup import Setup
from coder_tui.cli.arguments import Parser, add_common
from coder_tui.cli.invocation import read_invocation
from coder_tui.cli.output import complain, say, say_json
from coder_tui.lsp.install import InstallFailedError, InstallPlan, plans_for, run_plan
from coder_tui.lsp.pool import ServerLine, state_words
from coder_tui.lsp.servers import Installer, ServerSpec
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import UsageError
from coder_tui.text.safe_text import safe_line

FAILED = 1


def main(argv: list[str]) -> int:
    arguments = lsp_parser().parse_args(argv)
    setup = prepare(read_invocation(arguments))
    return _install(setup, arguments) if arguments.action == "install" else _status(setup, arguments)


def lsp_parser() -> Parser:
    parser = Parser(prog="coder-tui lsp", description="Language servers: what finds problems in code.")
    commands = parser.add_subparsers(dest="action", required=True, metavar="status|install")
    status = commands.add_parser("status", help="every server that is known, and whether it can be used here")
    status.add_argument("--json", action="store_true", help="print JSON")
    add_common(status)
    install = commands.add_parser("install", help="get servers into this program's own folder")
    install.add_argument(
        "names", nargs="*", metavar="NAME", help="servers or languages (default: what is usual and missing)"
    )
    install.add_argument("--yes", action="store_true", help="do not ask")
    add_common(install)
    return parser


def _status(setup: Setup, arguments: argparse.Namespace) -> int:
    lines = asyncio.run(build_pool(setup, tell_nobody).servers())
    if arguments.json:
        say_json([_json(line) for line in lines], indent=2)
        return 0
    if not lines:
        say("No language server is in use here: the settings switch all of them off.")
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        more = line.detail or _program(line)
        say(safe_line(f"{line.language:<5} {line.name:<{width}}  {state_words(line):<19}  {more}".rstrip()))
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
    wanted, is_whole = _named_ones(setup, arguments.names) if arguments.names else _missing_ones(setup)
    if not wanted and is_whole:
        say("There is nothing to install: what is usual is there.")
        return 0
    ours = [spec for spec in wanted if spec.installer is not Installer.OTHER]
    for spec in wanted:
        if spec not in ours:
            complain(f"{spec.name} is not installed from here; run: {spec.install_command}")
    plans = plans_for(ours, installed_folder(setup))
    for plan in plans:
        for command in plan.shown:
            say(f"  {command}")
    if not plans or not (arguments.yes or _is_agreed()):
        return FAILED
    return _run(plans)


def _run(plans: list[InstallPlan]) -> int:
    for plan in plans:
        try:
            run_plan(plan)
        except InstallFailedError as error:
            complain(f"coder-tui lsp: {error}")
            return FAILED
        say(f"{plan.spec.name} is installed.")
        if plan.spec.checkers:
            say(f"It finds problems by {' or '.join(plan.spec.checkers)}: {plan.spec.checker_hint}")
    return 0


def _named_ones(setup: Setup, names: list[str]) -> tuple[tuple[ServerSpec, ...], bool]:
    servers = catalogue_of(setup).servers
    return tuple(_named(servers, name) for name in names), True


def _missing_ones(setup: Setup) -> tuple[tuple[ServerSpec, ...], bool]:
    """What is usual and is not there, or lacks what comes with it; whether there is nothing else to get."""
    status = {line.name: line for line in asyncio.run(build_pool(setup, tell_nobody).servers())}
    wanted: list[ServerSpec] = []
    is_whole = True
    for spec in catalogue_of(setup).servers:
        line = status.get(spec.name)
        if line is None or not spec.is_default:
            continue
        lacks_checker = line.status is ServerStatus.LINTER_MISSING
        if line.status is ServerStatus.NOT_INSTALLED or (lacks_checker and spec.modules):
            wanted.append(spec)
        elif lacks_checker:
            complain(f"{spec.name}: {line.detail}")
            is_whole = False
    return tuple(wanted), is_whole


def _named(servers: tuple[ServerSpec, ...], name: str) -> ServerSpec:
    """By its own name, or the language's first that can be installed."""
    for spec in servers:
        if spec.name == name:
            return spec
    of_language = [spec for spec in servers if spec.language == name and not spec.only_local]
    if not of_language:
        known = ", ".join(spec.name for spec in servers)
        raise UsageError(f"no language server or language is called {name}; there are {known}")
    return of_language[0]


def _is_agreed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("to install needs a terminal to ask on, or --yes")
    sys.stderr.write("\nRun this? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
