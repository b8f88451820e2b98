"""Writing to standard output and error: without secrets, and safe for a terminal."""

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from coder_tui.text.safe_text import safe_text

if TYPE_CHECKING:
    from coder_tui.text.redact import Redactor


def redactor() -> "Redactor":
    """Knows the secrets of this process's environment."""
    # Imported here: a start that prints nothing must not pay for it (four milliseconds).
    from coder_tui.text.redact import process_redactor

    return process_redactor()


def redacted(text: str) -> str:
    return redactor()(text)


def say(text: str) -> None:
    """A line on standard output."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """A line on standard error."""
    _write(sys.stderr, text)


def say_json(value: Any, *, indent: int | None = None) -> None:
    say_as_is(redactor().value(value), indent=indent)


def say_as_is(value: Any, *, indent: int | None = None) -> None:
    """JSON for a program that needs what a model would get: its secrets are the caller's to hide."""
    # ASCII only: what is not valid Unicode (bytes of a file) survives, and no escape reaches a terminal.
    import json  # the screen writes none

    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def _write(stream: TextIO, text: str) -> None:
    # A file or pipe gets the text as it is; only a terminal could be steered by it.
    clean = redacted(text)
    shown = safe_text(clean) if stream.isatty() else clean.encode(errors="replace").decode()
    stream.write(shown + "\n")
    stream.flush()


def silence_broken_pipe() -> None:
    """The reader went away: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
