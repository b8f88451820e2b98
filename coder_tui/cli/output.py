"""Writing to standard output and error; text from outside is made safe for a terminal."""

import json
import os
import sys
from typing import Any, TextIO

from coder_tui.text.safe_text import safe_text


def say(text: str) -> None:
    """A line on standard output."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """A line on standard error."""
    _write(sys.stderr, text)


def say_json(value: Any, *, indent: int | None = None) -> None:
    # ASCII only: what is not valid Unicode (bytes of a file) survives, and no escape reaches a terminal.
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def _write(stream: TextIO, text: str) -> None:
    # A file or pipe gets the text as it is; only a terminal could be steered by it.
    shown = safe_text(text) if stream.isatty() else text.encode(errors="replace").decode()
    stream.write(shown + "\n")
    stream.flush()


def silence_broken_pipe() -> None:
    """The reader went away: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
