"""Uncaught errors are printed without secrets, in the main thread and in others."""

import subprocess
import sys

PROGRAM = """
import os, sys, threading
from coder_tui.text.crash_text import redact_crashes
from coder_tui.text.redact import Redactor

redact_crashes(Redactor(os.environ))

def fail():
    raise RuntimeError("said " + os.environ["A_SECRET"] + " https://u:p@host")

thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_tracebacks_contain_no_secret() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env={"A_SECRET": "canary-71", "PYTHONPATH": ":".join(sys.path)},
    )
    assert ended.returncode == 1
    assert ended.stderr.count("RuntimeError: said [redacted] https://[redacted]@host") == 2
    assert "canary-71" not in ended.stderr + ended.stdout
