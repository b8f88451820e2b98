"""Runs a command. Every failure ends in one sentence and an exit code."""

import gc
import logging
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper

from coder_tui.cli.arguments import split_command
from coder_tui.cli.output import print_error, redacted, silence_broken_pipe
from coder_tui.protocol.errors import UserError
from coder_tui.text.crash_text import redact_crashes

log = logging.getLogger(__name__)
INTERRUPTED = 130
FAILED = 1


def _prepare_output() -> None:
    """Keep unencodable characters and early log records from ending in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.getLogger("coder_tui").addHandler(logging.NullHandler())
    redact_crashes(redacted)


def module_of(name: str, arguments: Sequence[str] = ()) -> str:
    """Return the module of a command. Only that is imported: the screen must not pay for the others."""
    if name not in ("", "demo"):
        return f"coder_tui.cli.{name}"
    # Plain text draws no screen and must not load Textual.
    return "coder_tui.cli.plain" if "--plain" in arguments else "coder_tui.cli.screen"


def _imported(name: str, module: str) -> Callable[[list[str]], int]:
    """Import a command. Its modules live until the end, so the garbage collector need not visit them."""
    command: Callable[[list[str]], int] = getattr(import_module(module), "demo" if name == "demo" else "main")
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    return command


def run_command(argv: Sequence[str]) -> int:
    name, rest = split_command(argv)
    _prepare_output()
    try:
        command = _imported(name, module_of(name, rest))
        return command(rest)
    except UserError as error:
        print_error(f"coder-tui: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence_broken_pipe()
        return FAILED
    except Exception as error:
        # The last resort: a bug is written to the log, and the user gets one sentence.
        log.exception("unexpected failure")
        print_error(
            f"coder-tui: internal error: {error!r}. See the log file; 'coder-tui doctor' shows where it is."
        )
        return FAILED
