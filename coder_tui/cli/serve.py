"""`coder-tui serve`: the screen in a browser."""

import argparse
import asyncio
import os
import signal
import sys
from urllib.parse import quote

from coder_tui.cli.arguments import serve_parser
from coder_tui.cli.invocation import existing_folder
from coder_tui.cli.output import complain, redactor
from coder_tui.config.log_file import start_log
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.serving.gate import EVERYWHERE, Gate, is_loopback, new_token
from coder_tui.serving.server import Served, listen

SHORTEST_TOKEN = 16
HIGHEST_PORT = 65535
OPEN_TO_OTHERS = (
    "coder-tui: this address can be reached from other machines, and what goes there is not encrypted: "
    "whoever reads along can use your session"
)
_PASSED_ON = {
    "model": "--model",
    "api_base": "--api-base",
    "config": "--config",
    "permission": "--permission",
    "agent": "--agent",
}


def main(argv: list[str]) -> int:
    arguments = serve_parser().parse_args(argv)
    _check(arguments)
    directories = find_directories(os.environ)
    directories.ensure()
    start_log(directories.log, redactor())
    gate = Gate(arguments.token or new_token(), arguments.host)
    return asyncio.run(_serve(Served(_command(arguments), os.environ, gate), arguments))


def _check(arguments: argparse.Namespace) -> None:
    if not 0 <= arguments.port <= HIGHEST_PORT:
        raise UsageError(f"there is no port {arguments.port}; choose one up to {HIGHEST_PORT}, or 0")
    if arguments.token is not None and len(arguments.token) < SHORTEST_TOKEN:
        raise UsageError(f"a token needs at least {SHORTEST_TOKEN} characters: who guesses it has your shell")


def _command(arguments: argparse.Namespace) -> list[str]:
    """What a tab runs: this program, wherever it was started from."""
    program = [sys.executable, "-P", "-m", "coder_tui"]
    theme = ["--theme", arguments.theme] if arguments.theme else []
    if arguments.demo:
        return [*program, "demo", *theme]
    given = vars(arguments)
    flags = [word for name, flag in _PASSED_ON.items() if given[name] for word in (flag, given[name])]
    added = [word for folder in arguments.add_dir for word in ("--add-dir", folder)]
    return [*program, *theme, *flags, *added, "--", str(existing_folder(arguments.path))]


async def _serve(served: Served, arguments: argparse.Namespace) -> int:
    try:
        runner, port = await listen(served, arguments.host, arguments.port)
    except OSError as error:
        raise UserError(f"cannot listen on {arguments.host}: {error.strerror or error}") from error
    _announce(served.gate, port)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    await ended.wait()
    await runner.cleanup()
    return 0


def _announce(gate: Gate, port: int) -> None:
    host = "127.0.0.1" if gate.host in EVERYWHERE else gate.host
    shown = f"[{host}]" if ":" in host else host
    if not is_loopback(gate.host):
        complain(OPEN_TO_OTHERS)
    # Not redacted: the token is what the person needs, and they asked for it here.
    sys.stdout.write(f"http://{shown}:{port}/?token={quote(gate.token, safe='')}\n")
    sys.stdout.flush()
    complain("coder-tui: open this address in a browser on this machine; Ctrl+C ends it and all its tabs")
