"""Time start, keys and streaming of the real screen in a pty, relative to a Textual hello-world.

uv run python -m bench.latency [--starts 7] [--tokens 5000] [--rate 500]
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.terminal import LETTERS, Terminal, busy_seconds, children, cpu_seconds, percentile, resident_mb
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.script import JsonObject, Reply

ROOT = Path(__file__).resolve().parents[1]
HELLO = [sys.executable, str(ROOT / "bench" / "hello.py")]
PROGRAM = [str(Path(sys.executable).with_name("coder-tui"))]
LAST_WORD = "END"
LAST_WORDS = 5
"""Replies whose last word is timed."""


@dataclass(frozen=True, slots=True)
class Figures:
    name: str
    p50: float
    p95: float

    def row(self, floor: "Figures | None" = None) -> str:
        ratio = f"   {self.p50 / floor.p50:5.2f} × hello" if floor else ""
        return f"{self.name:<34} p50 {self.p50 * 1000:8.1f} ms   p95 {self.p95 * 1000:8.1f} ms{ratio}"


def figures(name: str, values: list[float]) -> Figures:
    return Figures(name, percentile(values, 0.5), percentile(values, 0.95))


def environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "OPENAI_API_KEY": "sk-bench",
    }


def start_once(command: list[str], home: Path) -> tuple[float, float]:
    """Return the time from the spawn to the first letter on the screen, by the clock and in CPU."""
    terminal = Terminal.start(command, home, environment(home))
    terminal.type(LETTERS[0])
    shown = terminal.read_until(LETTERS[0]) - terminal.began
    busy = busy_seconds(terminal.pid)
    terminal.stop()
    return shown, busy


def keys(terminal: Terminal, letters: str, gap: float) -> Iterator[float]:
    for letter in letters:
        terminal.drain(gap)
        typed = terminal.type(letter)
        yield terminal.read_until(letter) - typed


def starts(home: Path, count: int) -> None:
    """Alternate, so that a noisy moment hits both; CPU time is disturbed least by other work."""
    runs = [(start_once(HELLO, home), start_once(PROGRAM, home)) for _ in range(count)]
    for place, kind in enumerate(("spawn to typed text", "CPU until then")):
        hello = figures(f"hello: {kind}", [floor[place] for floor, _ in runs])
        print(hello.row())
        print(figures(f"coder-tui: {kind}", [ours[place] for _, ours in runs]).row(hello))


def idle_keys(command: list[str], home: Path) -> Figures:
    terminal = Terminal.start(command, home, environment(home))
    terminal.type(LETTERS[0])
    terminal.read_until(LETTERS[0])
    terminal.drain(8.0)
    name = "hello" if command is HELLO else "coder-tui"
    result = figures(f"{name}: key to echo, idle", list(keys(terminal, LETTERS[1:], 0.05)))
    idle = terminal.drain(5.0)
    print(f"{name}: bytes written in 5 s of idling: {idle}")
    terminal.stop()
    return result


class Clocked(OpenAIServer):
    """Records when it sent the last word."""

    last_word_at = 0.0

    def events(self, reply: Reply, request: JsonObject) -> Iterator[bytes]:
        for event in super().events(reply, request):
            if LAST_WORD.encode() in event:
                self.last_word_at = time.perf_counter()
            yield event


PARAGRAPH = "\n\n## Part\n\nThis paragraph has some `code` and **weight** in it, as answers do."
LIST = "\n\n- a first point\n- a second one with more words in it"
CODE = "\n\n```python\ndef f(x):\n    return x\n```\n"


def prose(tokens: int, number: int = 0) -> str:
    """Return Markdown as models write it.

    It has paragraphs, lists and code; its last word has a number to find it by.
    """
    piece = (PARAGRAPH + LIST + CODE).split(" ")
    words = piece * (tokens // len(piece) + 1)
    return " ".join(words[: tokens - 1]) + f"\n\n{LAST_WORD}{number}"


def streaming(home: Path, tokens: int, rate: int) -> None:
    sizes = [tokens] + [tokens // LAST_WORDS] * (LAST_WORDS - 1)
    texts = [prose(size, number) for number, size in enumerate(sizes)]
    server = Clocked([Reply(text="warm"), *(Reply(text=text, chunk_delay=1 / rate) for text in texts)])
    with server:
        command = [*PROGRAM, "--model", "openai/x", "--api-base", server.url]
        terminal = Terminal.start(command, home, environment(home))
        terminal.drain(8.0)
        terminal.type("hi\r")
        terminal.read_until("warm")
        terminal.drain(2.0)
        idle = _memory(terminal.pid)
        before = _cpu(terminal.pid)
        terminal.watched = f"{LAST_WORD}0".encode()
        terminal.type("go\r")
        terminal.drain(1.0)
        typed = list(keys(terminal, LETTERS, max(0.05, (tokens / rate - 2) / len(LETTERS))))
        words = [_last_word(terminal, server)]
        after, full = _cpu(terminal.pid), _memory(terminal.pid)
        for number in range(1, LAST_WORDS):
            terminal.drain(1.0)
            terminal.watched, terminal.watched_at = f"{LAST_WORD}{number}".encode(), 0.0
            # The first Ctrl+C clears the prompt; a second one in an empty prompt would quit.
            terminal.type("\x03go\r" if number == 1 else "go\r")
            words.append(_last_word(terminal, server))
        terminal.stop()
    print(figures("coder-tui: key while streaming", typed).row(), f"  all {len(typed)} keys appeared")
    print(figures("last word sent to last word shown", words).row())
    print(f"CPU for {tokens} tokens: screen {after[0] - before[0]:.2f} s, tree {after[1] - before[1]:.2f} s")
    print(f"memory, screen: {idle[0]:.0f} → {full[0]:.0f} MB; tree: {idle[1]:.0f} → {full[1]:.0f} MB")


def _last_word(terminal: Terminal, server: Clocked) -> float:
    while not terminal.watched_at:
        if not terminal.read(60.0):
            raise TimeoutError("the last word did not appear")
    return terminal.watched_at - server.last_word_at


def _cpu(pid: int) -> tuple[float, float]:
    return cpu_seconds(pid), cpu_seconds(pid) + sum(cpu_seconds(child) for child in children(pid))


def _memory(pid: int) -> tuple[float, float]:
    return resident_mb(pid), resident_mb(pid) + sum(resident_mb(child) for child in children(pid))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=5000)
    parser.add_argument("--rate", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        starts(home, arguments.starts)
        floor = idle_keys(HELLO, home)
        print(floor.row())
        print(idle_keys(PROGRAM, home).row(floor))
        streaming(home, arguments.tokens, arguments.rate)


if __name__ == "__main__":
    main()
