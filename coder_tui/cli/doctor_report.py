"""`coder-tui doctor --report`: what a bug report needs in one file, without secrets."""

import io
import os
import time
import zipfile
from pathlib import Path

from coder_tui.cli.invocation import Invocation
from coder_tui.cli.output import redacted, say
from coder_tui.config.describe import describe
from coder_tui.config.paths import find_directories
from coder_tui.config.private_file import write_private
from coder_tui.config.settings import load_settings
from coder_tui.protocol.errors import StorageError, UsageError, UserError

FINDINGS = "doctor.txt"
SETTINGS = "settings.txt"
_MOST_OF_A_LOG = 2_000_000
_DEFAULT = "default"


def write_report(findings: str, invocation: Invocation | None, output: str) -> int:
    """Pack the findings, the settings that are not as they come, and the ends of the logs."""
    path = Path(output or time.strftime("coder-tui-report-%Y%m%d-%H%M%S.zip"))
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already; choose another name")
    texts = {FINDINGS: findings}
    if invocation is not None:
        texts[SETTINGS] = _settings(invocation)
    texts |= _logs(find_directories(os.environ).log)
    try:
        write_private(path, _packed(texts))
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    say(f"Wrote {path}: {', '.join(texts)}")
    say("Secrets that could be told as such were left out. Read it before you send it.")
    return 0


def _packed(texts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, redacted(text).encode("utf-8", "replace"))
    return file.getvalue()


def _settings(invocation: Invocation) -> str:
    try:
        lines = describe(load_settings(invocation.sources), invocation.sources)
    except UserError as error:
        return f"{error}\n"
    given = [f"{line.key} = {line.value}  # {line.origin}\n" for line in lines if line.origin != _DEFAULT]
    return "".join(given) or "nothing is set, defaults hold\n"


def _logs(folder: Path) -> dict[str, str]:
    """By name, links left out: they may lead to what is no log."""
    found = sorted(path for path in folder.glob("*.log*") if path.is_file() and not path.is_symlink())
    return {f"log/{path.name}": _end_of(path) for path in found}


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_OF_A_LOG))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        return f"cannot be read: {error.strerror}\n"
    # Half a line could be half a secret, which is not told as one.
    return text if size <= _MOST_OF_A_LOG else text.partition("\n")[2]
