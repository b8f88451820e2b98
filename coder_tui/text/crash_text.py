"""Report crashes without secrets: the traceback of an uncaught error passes the redactor."""

import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

Redact = Callable[[str], str]


def crash_text(error: BaseException, redact: Redact) -> str:
    """Return the traceback as Python prints it, without secrets. It never has local variables."""
    return redact("".join(traceback.format_exception(error)))


def redact_crashes(redact: Redact) -> None:
    """Print uncaught errors of all threads to standard error without secrets."""

    def in_main(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and args.exc_type is not SystemExit:
            sys.stderr.write(crash_text(args.exc_value, redact))

    sys.excepthook = in_main
    threading.excepthook = in_thread
