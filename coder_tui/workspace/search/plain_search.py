"""A child program that answers like ripgrep, for systems where no `rg` can run.

It takes the few arguments that `search.py` passes and prints the same records. It is a separate process
because a runaway regular expression would block the interpreter of the program itself.
"""

import argparse
import os
import re
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from coder_tui.workspace.search.ignore import IgnoreChain

_LARGEST = 64 * 1024 * 1024
_SECONDS_A_FILE = 2.0
_TROUBLE = 2


class _TooSlowError(Exception):
    """One file took longer than a sane pattern needs."""


def main() -> int:
    options = _options()
    for file in _files(options.target):
        if options.files:
            sys.stdout.buffer.write(os.fsencode(file) + b"\0")
        elif (trouble := _search(file, options)) is not None:
            sys.stderr.write(trouble)
            return _TROUBLE
    sys.stdout.buffer.flush()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--ignore-case", action="store_true")
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("--max-count", type=int, default=sys.maxsize)
    parser.add_argument("--max-columns", type=int, default=sys.maxsize)
    parser.add_argument("--regexp", type=_pattern, default=re.compile(""))
    parser.add_argument("target")
    return parser.parse_known_args()[0]


def _pattern(text: str) -> re.Pattern[str]:
    if "\n" in text or r"\n" in text:
        sys.stderr.write("a newline cannot be matched: lines are searched one by one")
        sys.exit(_TROUBLE)
    try:
        return re.compile(text, re.IGNORECASE if "--ignore-case" in sys.argv else 0)
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}")
        sys.exit(_TROUBLE)


def _files(target: str) -> Iterator[str]:
    """Walk in the order of the path names, folders and files alike."""
    if not Path(target).is_dir():
        yield target
        return
    top = IgnoreChain.for_folder(Path(target).resolve())
    pending = _children(target.rstrip("/"), top)
    while pending:
        path, chain = pending.pop()
        if chain is None:
            yield path
        else:
            pending.extend(_children(path, chain.enter(path.rpartition("/")[2])))


def _children(folder: str, chain: IgnoreChain) -> list[tuple[str, IgnoreChain | None]]:
    """List what is not ignored, in reverse order; folders come with the chain that applies around them."""
    children: list[tuple[str, IgnoreChain | None]] = []
    for entry in sorted(_entries(folder), key=lambda entry: os.fsencode(entry.name), reverse=True):
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or chain.ignores(entry.name, is_folder=is_folder):
            continue
        if is_folder or entry.is_file(follow_symlinks=False):
            children.append((f"{folder}/{entry.name}", chain if is_folder else None))
    return children


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        # Unreadable folders are skipped, as ripgrep does with --no-messages.
        return []


def _search(file: str, options: argparse.Namespace) -> str | None:
    lines = _text_lines(file)
    if lines is None:
        return None
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_A_FILE)
    try:
        found = _matching(lines, options.regexp, options.max_count)
    except _TooSlowError:
        return f"the pattern takes too long on {file}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    _report(file, lines, found, options)
    return None


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _TooSlowError


def _text_lines(file: str) -> list[str] | None:
    """Return a text file's lines; None for binary, special, unreadable and huge files."""
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        data = Path(file).read_bytes()
    except OSError:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        return None
    else:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _matching(lines: list[str], pattern: re.Pattern[str], most: int) -> dict[int, int]:
    """Map the index of each matching line to the column of its first match."""
    found: dict[int, int] = {}
    for index, line in enumerate(lines):
        match = pattern.search(line)
        if match is not None:
            found[index] = len(line[: match.start()].encode()) + 1
            if len(found) >= most:
                break
    return found


def _report(file: str, lines: list[str], found: dict[int, int], options: argparse.Namespace) -> None:
    shown = {near for at in found for near in range(at - options.context, at + options.context + 1)}
    for index in sorted(shown.intersection(range(len(lines)))):
        mark = f"{index + 1}:{found[index]}:" if index in found else f"{index + 1}-"
        text = lines[index].encode()[: options.max_columns]
        sys.stdout.buffer.write(os.fsencode(file) + b"\0" + mark.encode() + text + b"\n")


if __name__ == "__main__":
    sys.exit(main())
