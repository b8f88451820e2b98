"""A program in a pty, timed from outside: what was typed, and when it appeared."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
# Letters that no screen of ours shows on its own: each is typed once and searched for in the output.
LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюяѐђѓєѕіїјљњћќѝўџѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿ"


@dataclass
class Terminal:
    """`seen` is all output so far; `at` is when the last of it was read."""

    pid: int
    fd: int
    began: float
    seen: bytes = b""
    watched: bytes = b""
    watched_at: float = 0.0
    """When `watched` was first read, whatever else was being waited for."""

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        columns: int = 100,
        rows: int = 30,
    ) -> "Terminal":
        fd, inner = pty.openpty()
        # Without echo from the start, so that a letter that appears was drawn by the program.
        attributes = termios.tcgetattr(inner)
        attributes[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(inner, termios.TCSANOW, attributes)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        began = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            os.close(fd)
            os.login_tty(inner)
            os.chdir(folder)
            os.execvpe(command[0], list(command), dict(environment))
        os.close(inner)
        return cls(pid, fd, began)

    def type(self, text: str) -> float:
        os.write(self.fd, text.encode())
        return time.perf_counter()

    def read_until(self, wanted: str, patience: float = 60.0) -> float:
        """Return when `wanted` was read, searching from what has not been searched yet."""
        end, start = time.perf_counter() + patience, len(self.seen)
        needle = wanted.encode()
        while needle not in self.seen[max(0, start - len(needle)) :]:
            if not self.read(max(0.0, end - time.perf_counter())):
                raise TimeoutError(f"{wanted!r} did not appear; the end: {self.seen[-400:]!r}")
        return time.perf_counter()

    def read(self, patience: float) -> bytes:
        """Return one piece of output, empty if none arrives in time."""
        if not select.select([self.fd], [], [], patience)[0]:
            return b""
        piece = os.read(self.fd, 65536)
        self.seen += piece
        if (
            self.watched
            and not self.watched_at
            and self.watched in self.seen[-len(piece) - len(self.watched) :]
        ):
            self.watched_at = time.perf_counter()
        return piece

    def drain(self, seconds: float) -> int:
        """Read for a while; return how many bytes came."""
        end, before = time.perf_counter() + seconds, len(self.seen)
        while (left := end - time.perf_counter()) > 0:
            self.read(left)
        return len(self.seen) - before

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def busy_seconds(pid: int) -> float:
    """Return the CPU time of all threads in nanoseconds, because ticks are too coarse for a start."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    direct = [int(child) for child in text.split()]
    return direct + [grandchild for child in direct for grandchild in children(child)]


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
