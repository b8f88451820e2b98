"""Redirections as what they are: reading and writing files."""

import re
from dataclasses import replace

from coder_tui.policy.shell.call import read_contents
from coder_tui.policy.shell.notes import STANDARD_STREAMS, Notes
from coder_tui.policy.shell.words import Redirect

_DESCRIPTOR = re.compile(r"[0-9]|-")
_NETWORK = re.compile(r"/+dev/+(tcp|udp)/+([^/]*)")
_SPECIAL = ("/dev/", "/proc/", "/sys/")
_READING = frozenset({"<"})


def note_redirect(redirect: Redirect, notes: Notes) -> None:
    target, operator = redirect.target, redirect.operator
    if operator in {">&", "<&"} and _DESCRIPTOR.fullmatch(target.text) and target.is_bare:
        return
    if match := _NETWORK.match(target.text):
        notes.network(match[2], f"{operator} {target.text}")
        notes.doubt("a redirection opens a connection")
        return
    if target.glob:
        notes.doubt("a pattern after a redirection may become any file")
    if target.text == "-":
        # Only as an argument does it stand for a stream; here it is a file of that name.
        target = replace(target, text="./-")
    if target.text in STANDARD_STREAMS and not target.doubt:
        return
    if target.text.startswith(_SPECIAL):
        notes.doubt(f"{target.text} is a device or belongs to the kernel")
    if operator in _READING:
        read_contents([target], notes)
        return
    if operator not in {">", ">>"}:
        notes.doubt(f"{operator} is not a plain redirection")
    notes.write(target, f"{operator} sends output there")
