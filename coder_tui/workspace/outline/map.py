"""Rank the files and definitions of a project by its references, and render outlines within a budget."""

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coder_tui.workspace.outline.parse import FileSymbols, Symbol, family_of

_DAMPING = 0.85
_ROUNDS = 25
_MOST_DEFINERS = 12
"""If more files define a name, it says nothing about which of them is meant."""
_LONG = 8
_SHARE_OF_FILE = 0.01
_TEST_SHARE = 0.1
_TEST_ENDINGS = (
    "_test.go",
    ".test.ts",
    ".test.tsx",
    ".test.js",
    ".spec.ts",
    ".spec.js",
    "Test.java",
    "_spec.rb",
)

Edges = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The scores of files and of the names that they define."""

    files: dict[str, float]
    names: dict[tuple[str, str], float]


def rank(files: Mapping[str, FileSymbols]) -> Ranking:
    uses = _uses(files)
    edges: Edges = defaultdict(lambda: defaultdict(float))
    for (user, definer, _), weight in uses.items():
        edges[user][definer] += weight
    totals = {user: sum(targets.values()) for user, targets in edges.items()}
    scores = _walk(list(files), edges, totals)
    names: dict[tuple[str, str], float] = defaultdict(float)
    for path, file in files.items():
        share = _SHARE_OF_FILE * scores[path] / max(len(file.symbols), 1)
        for symbol in file.symbols:
            names[path, symbol.name] = share
    for (user, definer, name), weight in uses.items():
        names[definer, name] += scores[user] * weight / totals[user]
    return Ranking(scores, dict(names))


def _uses(files: Mapping[str, FileSymbols]) -> dict[tuple[str, str, str], float]:
    """Return how strongly each file refers to each name of another."""
    definers: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for path, file in files.items():
        family = family_of(path)
        for symbol in file.symbols:
            if symbol.name:
                definers[family, symbol.name].setdefault(path, symbol.level)
    uses: dict[tuple[str, str, str], float] = {}
    for path, file in files.items():
        family = family_of(path)
        for name, count in file.references:
            places = definers.get((family, name), {})
            if path in places or not 0 < len(places) <= _MOST_DEFINERS:
                continue
            for place, level in places.items():
                uses[path, place, name] = _weight(name, level) * math.sqrt(count) / len(places)
    return uses


def _weight(name: str, level: int) -> float:
    """Weigh a name: long names are deliberate; plain words may be coincidence, above all member names."""
    weight = 1.0
    if name.islower() and "_" not in name.strip("_"):
        weight = 0.05 if level else 0.5
    elif len(name) >= _LONG:
        weight = 10.0
    return weight * 0.1 if name.startswith("_") else weight


def _is_test(path: str) -> bool:
    return any(part.startswith("test") or part.endswith(_TEST_ENDINGS) for part in path.split("/"))


def _walk(paths: list[str], edges: Edges, totals: dict[str, float]) -> dict[str, float]:
    # The walk restarts in the program rather than in its tests, which refer to everything.
    starts = {path: _TEST_SHARE if _is_test(path) else 1.0 for path in paths}
    whole = sum(starts.values()) or 1.0
    scores = {path: start / whole for path, start in starts.items()}
    for _ in range(_ROUNDS):
        resting = sum(score for path, score in scores.items() if path not in totals)
        again = 1 - _DAMPING + _DAMPING * resting
        following = {path: again * start / whole for path, start in starts.items()}
        for user, targets in edges.items():
            flow = _DAMPING * scores[user] / totals[user]
            for definer, weight in targets.items():
                following[definer] += flow * weight
        scores = following
    return scores


_MAP_LEVELS = 2
_MOST_LINES = 1_500


def render_file(file: FileSymbols, depth: int | None, budget: int) -> str:
    """Render all symbols down to `depth`, fewer levels if they do not fit, at last only the first ones."""
    deepest = max((symbol.level for symbol in file.symbols), default=0) + 1
    levels = min(depth, deepest) if depth else deepest
    while True:
        lines = _lines([symbol for symbol in file.symbols if symbol.level < levels])
        if levels == 1 or _size(lines) <= budget:
            return _cut(lines, budget)
        levels -= 1


def render_map(files: Mapping[str, FileSymbols], ranking: Ranking, budget: int) -> str:
    """Render the best-ranked symbols under their files, as many as fit; files by rank."""
    order = sorted(files, key=lambda path: (-ranking.files[path], path))
    chosen = heapq.nsmallest(
        _MOST_LINES,
        (
            (-ranking.names[path, symbol.name], place, index)
            for place, path in enumerate(order)
            for index, symbol in enumerate(files[path].symbols)
            if symbol.level < _MAP_LEVELS and symbol.name
        ),
    )
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(_map_lines(files, order, chosen[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    return "\n".join(_with_rest(files, order, _map_lines(files, order, chosen[:low]), budget))


def _map_lines(
    files: Mapping[str, FileSymbols], order: Sequence[str], chosen: Sequence[tuple[float, int, int]]
) -> list[str]:
    picked: dict[int, set[int]] = {}
    for _, place, index in chosen:
        picked.setdefault(place, set()).add(index)
    lines: list[str] = []
    for place in sorted(picked):
        symbols = files[order[place]].symbols
        lines.append(order[place])
        lines += _lines([symbols[index] for index in sorted(_with_parents(symbols, picked[place]))], "  ")
    return lines


def _with_parents(symbols: Sequence[Symbol], picked: set[int]) -> set[int]:
    """Add the parents of members, even if they were not picked themselves."""
    whole = set(picked)
    around: list[int] = []
    for index, symbol in enumerate(symbols):
        del around[symbol.level :]
        if index in picked:
            whole.update(around)
        around.append(index)
    return whole


def _with_rest(
    files: Mapping[str, FileSymbols], order: Sequence[str], lines: list[str], budget: int
) -> list[str]:
    """Name further files while there is room, and count the others."""
    shown = {line for line in lines if line in files}
    room = budget - _size(lines)
    rest = [path for path in order if path not in shown]
    named: list[str] = []
    for path in rest:
        room -= len(path.encode()) + 1
        if room < 0:
            break
        named.append(path)
    left = len(rest) - len(named)
    return [*lines, *named, *([f"… {left} more files"] if left else [])]


def _lines(symbols: Sequence[Symbol], margin: str = "") -> list[str]:
    return [f"{margin}{'  ' * symbol.level}{symbol.line}: {symbol.signature}" for symbol in symbols]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _cut(lines: list[str], budget: int) -> str:
    kept: list[str] = []
    for line in lines:
        budget -= len(line.encode()) + 1
        if budget < 0:
            return "\n".join([*kept, f"… {len(lines) - len(kept)} more symbols"])
        kept.append(line)
    return "\n".join(kept)
