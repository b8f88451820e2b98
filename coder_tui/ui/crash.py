"""The last words of a screen that failed: a traceback without secrets, and where to find it again."""

import logging
import os

from rich.text import Text

from coder_tui.text.crash_text import crash_text
from coder_tui.text.safe_text import safe_text

log = logging.getLogger(__name__)
WHERE = "coder-tui: internal error, see above; 'coder-tui doctor' names the log file that has it too"


def crash_report(error: BaseException | None) -> Text:
    # Imported here: the first paint must not pay for what is needed when all is over.
    from coder_tui.text.redact import Redactor

    log.error("the screen failed", exc_info=error)
    told = crash_text(error, Redactor(os.environ)) if error else ""
    return Text(f"{safe_text(told)}{WHERE}")
