"""Dispatches to a command; every failure ends in one sentence and an exit code."""

import gc
import logging
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper

from coder_tui.cli.arguments import split_command
from coder_tui.cli.output import complain, redacted, silence_broken_pipe
from coder_tui.protocol.errors import UserError
from coder_tui.text.crash_text import redact_crashes

log = logging.getLogger(__name__)
INTERRUPTED = 130
FAILED = 1

# Each command is imported when it is asked for: the screen must not pay for the others.
COMMAND_MODULES = {
    "": "coder_tui.cli.screen",
    "demo": "coder_tui.cli.demo",
    "run": "coder_tui.cli.run",
    "acp": "coder_tui.cli.acp",
    "serve": "coder_tui.cli.serve",
    "tool": "coder_tui.cli.tool",
    "policy": "coder_tui.cli.policy",
    "sessions": "coder_tui.cli.sessions",
    "replay": "coder_tui.cli.replay",
    "models": "coder_tui.cli.models",
    "skill": "coder_tui.cli.skill",
    "lsp": "coder_tui.cli.lsp",
    "mcp": "coder_tui.cli.mcp",
    "trust": "coder_tui.cli.trust",
    "completion": "coder_tui.cli.completion",
    "config": "coder_tui.cli.config",
    "doctor": "coder_tui.cli.doctor",
}
# These need no screen, and must not load what draws one.
_PLAIN_MODULES = {"": "coder_tui.cli.plain", "demo": "coder_tui.cli.plain_demo"}


def _prepare_output() -> None:
    """No character that a terminal's encoding lacks, and no early log record, may end in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.getLogger("coder_tui").addHandler(logging.NullHandler())
    redact_crashes(redacted)


def _module(name: str, arguments: Sequence[str]) -> str:
    is_plain = name in _PLAIN_MODULES and "--plain" in arguments
    return _PLAIN_MODULES[name] if is_plain else COMMAND_MODULES[name]


def _imported(module: str) -> Callable[[list[str]], int]:
    """The command; what its modules consist of lives to the end, so nobody need look at it for garbage."""
    command: Callable[[list[str]], int] = import_module(module).main
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    return command


def run_command(argv: Sequence[str]) -> int:
    name, rest = split_command(argv)
    _prepare_output()
    try:
        command = _imported(_module(name, rest))
        return command(rest)
    except UserError as error:
        complain(f"coder-tui: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence_broken_pipe()
        return FAILED
    except Exception as error:
        # The last resort: a bug is written to the log, and the person gets a sentence.
        log.exception("unexpected failure")
        complain(
            f"coder-tui: internal error: {error!r}; 'coder-tui doctor' names the log file with the details"
        )
        return FAILED
