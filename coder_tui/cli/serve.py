"""`coder-tui serve`: serves the screen to a browser."""

import argparse
import asyncio
import os
import signal
import stat
import sys
from pathlib import Path
from urllib.parse import quote

from coder_tui.bootstrap.invocation import existing_folder
from coder_tui.cli.arguments import serve_parser
from coder_tui.cli.output import print_error, redactor
from coder_tui.config.own_files import start_log
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.serve.server import EVERYWHERE, Gate, TabServer, is_loopback, listen, new_token

SHORTEST_TOKEN = 16
LONGEST_TOKEN = 1_000
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH
HIGHEST_PORT = 65535
OPEN_TO_OTHERS = (
    "coder-tui: warning: other machines can reach this address, and the connection is not encrypted. "
    "Anyone who can read the traffic can use your session."
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
    token = _token(arguments)
    directories = find_directories(os.environ)
    directories.ensure()
    start_log(directories.log, redactor())
    gate = Gate(token, arguments.host)
    return asyncio.run(_serve(TabServer(_command(arguments), os.environ, gate), arguments))


def _token(arguments: argparse.Namespace) -> str:
    """Return the token. It is never an argument: other users of this machine could read it."""
    if not 0 <= arguments.port <= HIGHEST_PORT:
        raise UsageError(f"invalid port {arguments.port}; choose 0 to {HIGHEST_PORT}")
    if arguments.token_file is None:
        return new_token()
    token = _read_token(arguments.token_file).strip()
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token needs at least {SHORTEST_TOKEN} characters: anyone who guesses it controls your shell"
        )
    if not token.isprintable() or not token.isascii():
        raise UsageError("the token must be one line of printable ASCII characters")
    return token


def _read_token(name: str) -> str:
    if name == "-":
        return sys.stdin.readline()
    try:
        with Path(name).open(encoding="utf-8") as file:
            state = os.fstat(file.fileno())
            if stat.S_ISREG(state.st_mode) and state.st_mode & _OTHERS_READ:
                raise UsageError(f"other users can read {name}; run: chmod 600 {name}")
            return file.read(LONGEST_TOKEN)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"cannot read the token from {name}: {reason}") from error


def _command(arguments: argparse.Namespace) -> list[str]:
    """Return the command that a tab runs: this program, wherever it was started from."""
    program = [sys.executable, "-P", "-m", "coder_tui"]
    theme = ["--theme", arguments.theme] if arguments.theme else []
    if arguments.demo:
        return [*program, "demo", *theme]
    given = vars(arguments)
    flags = [word for name, flag in _PASSED_ON.items() if given[name] for word in (flag, given[name])]
    added = [word for folder in arguments.add_dir for word in ("--add-dir", folder)]
    return [*program, *theme, *flags, *added, "--", str(existing_folder(arguments.path))]


async def _serve(served: TabServer, arguments: argparse.Namespace) -> int:
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
        print_error(OPEN_TO_OTHERS)
    # Not redacted: the user needs the token and asked for it here.
    sys.stdout.write(f"http://{shown}:{port}/?token={quote(gate.token, safe='')}\n")
    sys.stdout.flush()
    print_error(
        "coder-tui: open this address in a browser on this machine. Press Ctrl+C to stop and close all tabs."
    )
