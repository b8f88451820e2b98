"""Starts a git that only looks where it can do nothing else: the second wall behind its settings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from coder_tui.shell.launch import Launch
from coder_tui.shell.sandbox import SandboxKind, SandboxStatus
from coder_tui.shell.seccomp import command_filter

# No folder is writable, so there is nothing to guard in the workspace, and nothing is left behind there.
_PROFILE = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Everything readable, nothing writable, no network, no services; plain where there is no bubblewrap."""

    status: SandboxStatus

    def launch(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> Launch:
        """Whoever takes it closes it."""
        if self.status.kind is not SandboxKind.BUBBLEWRAP:
            return Launch(argv, environment)
        descriptor = os.memfd_create("coder-tui")
        os.write(descriptor, command_filter(sockets=False, internet=False))
        os.lseek(descriptor, 0, os.SEEK_SET)
        words = (self.status.program, *_PROFILE, "--seccomp", str(descriptor), "--")
        return Launch((*words, *argv), environment, (descriptor,))
