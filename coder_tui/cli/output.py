"""Writes to standard output and error, without secrets and safe for a terminal."""

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from coder_tui.protocol.errors import UsageError
from coder_tui.text.safe_text import safe_text

if TYPE_CHECKING:
    from coder_tui.text.redact import Redactor


def redactor() -> "Redactor":
    """Return the redactor that knows the secrets in this process's environment."""
    # Imported here: a start that prints nothing must not pay for it (4 ms).
    from coder_tui.text.redact import process_redactor

    return process_redactor()


def redacted(text: str) -> str:
    return redactor()(text)


def print_line(text: str) -> None:
    """Print a line on standard output."""
    _write(sys.stdout, text)


def print_error(text: str) -> None:
    """Print a line on standard error."""
    _write(sys.stderr, text)


def print_json(value: Any, *, indent: int | None = None) -> None:
    print_unredacted_json(redactor().value(value), indent=indent)


def print_unredacted_json(value: Any, *, indent: int | None = None) -> None:
    """Print JSON for a program that needs exactly what a model would get. The caller handles secrets."""
    # ASCII only: invalid Unicode (bytes of a file) survives, and no escape sequence reaches a terminal.
    import json  # the screen writes none

    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def _write(stream: TextIO, text: str) -> None:
    # A file or pipe gets the text unchanged; only a terminal interprets escape sequences.
    clean = redacted(text)
    shown = safe_text(clean) if stream.isatty() else clean.encode(errors="replace").decode()
    stream.write(shown + "\n")
    stream.flush()


def is_confirmed(question: str, reason: str) -> bool:
    """Ask the user yes or no. Without a terminal, raise `UsageError` with this reason."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(reason)
    sys.stderr.write(f"\n{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def silence_broken_pipe() -> None:
    """Keep the interpreter from reporting at exit that the reader went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
