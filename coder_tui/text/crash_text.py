"""A crash told without secrets: the traceback of what nobody caught goes through the redactor first."""

import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

Redact = Callable[[str], str]


def crash_text(error: BaseException, redact: Redact) -> str:
    """The traceback as Python would print it; local variables are never part of it."""
    return redact("".join(traceback.format_exception(error)))


def redact_crashes(redact: Redact) -> None:
    """Have what nobody catches, in any thread, printed to standard error without secrets."""

    def in_main(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))

    def in_thread(told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None and told.exc_type is not SystemExit:
            sys.stderr.write(crash_text(told.exc_value, redact))

    sys.excepthook = in_main
    threading.excepthook = in_thread
