"""What an undo and a redo must do to each file, independent of how they do it."""

import itertools
import os
import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

NAMES = tuple(
    f"{folder}{name}" for folder in ("", "src/", "src/deep/") for name in ("a.txt", "b.py", "c.bin")
)
FOLDERS = ("src", "src/deep")
COMMANDS = (
    "echo {n} >> {a}",
    "rm -f {a}",
    "mkdir -p $(dirname {a}) && printf '%s' {n} > {a}",
    "[ ! -f {a} ] || mv {a} {b}",
    "[ ! -f {a} ] || chmod 6{m}4 {a}",
    "[ ! -d src ] || chmod 7{m}5 src",
    "[ ! -d src/deep ] || chmod 7{m}0 src/deep",
    "[ ! -f {a} ] || cp {a} {b}",
    "rm -rf src/deep",
    "[ ! -f {a} ] || ln -sf $(basename {a}) {b}",
)
State = tuple[str, bytes, int] | None
States = dict[str, State]


def look(path: Path) -> State:
    if path.is_symlink():
        return "link", os.fsencode(path.readlink()), 0
    if path.is_dir():
        return "folder", b"", path.stat().st_mode & 0o777
    if not path.is_file():
        return None
    return "file", path.read_bytes(), path.stat().st_mode & 0o777


def states_of(root: Path) -> States:
    return {name: look(root / name) for name in (*NAMES, *FOLDERS)}


@dataclass
class Edge:
    """What one step of a turn did to one path."""

    name: str
    turn: int
    before: State
    after: State
    is_undone: bool = False


def edges_between(before: States, after: States, turn: int) -> list[Edge]:
    changed = (name for name in before if before[name] != after[name])
    return [Edge(name, turn, before[name], after[name]) for name in changed]


def by_hand(root: Path, choice: random.Random, edges: Iterable[Edge]) -> Path | None:
    """Write a file as the user, most often one that the agent changed."""
    touched = [edge.name for edge in edges if edge.name in NAMES and not edge.is_undone]
    path = root / choice.choice(touched if touched and choice.random() < 0.6 else NAMES)
    if path.is_symlink() or path.is_dir():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"user {choice.random()}\n")
    return path


def check(
    edges: Iterable[Edge], before: States, after: States, refused: Collection[str], *, is_undo: bool
) -> list[Edge]:
    """Check that `edges` are exactly gone or back, or that the path is named and unchanged.

    Returns the done.
    """
    by_name: dict[str, list[Edge]] = {}
    for edge in edges:
        by_name.setdefault(edge.name, []).append(edge)
    done: list[Edge] = []
    for name in NAMES:
        was, now, chain = before[name], after[name], by_name.get(name, [])
        if not chain:
            assert now == was, (name, "was touched")
            continue
        start, end = _ends(chain, is_undo=is_undo)
        if _is_linked(chain) and was == start:
            assert now == end or (name in refused and now == was), (name, was, now, "is not exact")
        else:
            assert now == was, (name, was, now, "the user's work was lost")
            assert was == end or name in refused, (name, "stayed without a report")
        if now == end:
            done += chain
    for name in FOLDERS:
        chain = by_name.get(name, [])
        done += _check_folder(name, chain, before[name], after[name], refused, is_undo=is_undo)
    for edge in done:
        edge.is_undone = is_undo
    return done


def _check_folder(
    name: str, chain: list[Edge], was: State, now: State, refused: Collection[str], *, is_undo: bool
) -> list[Edge]:
    """Check folders: they come and go with their content, but have the right mode where they are."""
    if not chain:
        assert was is None or now is None or now == was, (name, was, now, "has another mode")
        return []
    start, end = _ends(chain, is_undo=is_undo)
    is_free = _is_linked(chain) and was == start
    if is_free and end is not None:
        assert now == end or (name in refused and now == was), (
            name,
            was,
            now,
            "has another mode than it had",
        )
    elif not is_free and was is not None and now is not None:
        assert now == was, (name, was, now, "the user's folder was changed")
    return chain if now == end else []


def _ends(chain: list[Edge], *, is_undo: bool) -> tuple[State, State]:
    first, last = chain[0].before, chain[-1].after
    return (last, first) if is_undo else (first, last)


def _is_linked(chain: list[Edge]) -> bool:
    return all(left.after == right.before for left, right in itertools.pairwise(chain))
