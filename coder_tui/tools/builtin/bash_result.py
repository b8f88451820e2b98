"""What a model learns of a command that ran: its end, its output, and a hint where one helps."""

import re

from coder_tui.protocol.errors import ErrorType
from coder_tui.shell.confinement import Confinement
from coder_tui.shell.process import Completed
from coder_tui.shell.sandbox import SandboxKind
from coder_tui.text.terminal_text import plain_output
from coder_tui.tools.base import JsonObject

_WANTED_INPUT = re.compile(
    r"EOFError|EOF when reading|not a (tty|terminal)|no tty|terminal is required|[Ii]nappropriate ioctl"
)
_WANTED_NETWORK = re.compile(
    r"[Cc]ould not resolve|[Tt]emporary failure in name resolution|[Nn]ame or service not known|EAI_AGAIN"
    r"|ENOTFOUND|ENETUNREACH|[Nn]etwork is unreachable|[Ff]ailed to establish a new connection"
    r"|[Ff]ailed to connect to|dns error|no such host|ECONNREFUSED|ConnectionRefused|nodename nor servname"
)
_WANTED_PLACE = re.compile(r"[Rr]ead-only file system|EROFS")
_WANTED_SERVICE = re.compile(
    r"docker daemon|/run/\S+\.sock|ssh-agent|gpg-agent|D-?Bus|AF_UNIX|[Uu]nix.?(domain )?socket"
    r"|multiprocessing/(connection|forkserver)"
)

NO_INPUT = "It wanted input, and there is none: pass answers as arguments or through a pipe."
NO_NETWORK = (
    "The sandbox gave it no network. A command that plainly uses it (curl, npm install) gets it with its "
    "approval; the setting bash.network names others."
)
NO_PLACE = "The sandbox lets it write in the workspace and /tmp, and where the command line plainly says so."
NO_SERVICE = "The sandbox has no unix sockets, for services of this machine listen there; pairs and TCP work."

NOT_REACHED = (
    "The sandbox gives it no network: no other command, no fetch and no browser reaches its ports. "
    "Start the server and try it in one command, or ask the person to name it in the setting bash.network."
)


def fields_of(command: str, completed: Completed, kind: SandboxKind, confinement: Confinement) -> JsonObject:
    fields: JsonObject = {
        "ok": completed.exit_code == 0,
        "command": command,
        "exit_code": completed.exit_code,
        "stdout": plain_output(completed.stdout),
        "stderr": plain_output(completed.stderr),
        "truncated": completed.truncated,
        "duration_ms": completed.duration_ms,
    }
    if completed.saved is not None:
        fields |= saved_output(str(completed.saved))
    if completed.exit_code:
        fields["error"] = _error(completed, kind, confinement)
    return fields


def saved_output(path: str) -> JsonObject:
    return {"output_file": path, "note": "output_file has all of it; grep and read can look into it."}


def _error(completed: Completed, kind: SandboxKind, confinement: Confinement) -> JsonObject:
    if completed.timed_out:
        message = f"The command was stopped after {completed.duration_ms} ms."
        hint = "Give a larger timeout_ms, or background for what should go on."
        return {"type": ErrorType.TIMEOUT.value, "message": message, "hint": hint}
    message = f"The command ended with exit code {completed.exit_code}."
    error = {"type": ErrorType.EXECUTION_FAILED.value, "message": message}
    if hint := _hint(completed, kind, confinement):
        error["hint"] = hint
    return error


def _hint(completed: Completed, kind: SandboxKind, confinement: Confinement) -> str:
    if _WANTED_INPUT.search(completed.stderr):
        return NO_INPUT
    if kind is SandboxKind.NONE:
        return ""
    if not confinement.network and _WANTED_NETWORK.search(completed.output):
        return NO_NETWORK
    if _WANTED_PLACE.search(completed.output):
        return NO_PLACE
    if not confinement.sockets and _WANTED_SERVICE.search(completed.stderr):
        return NO_SERVICE
    return ""
