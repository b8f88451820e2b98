"""Writes outlines down: a file's symbols by line, a project's most used ones by file, within a budget."""

import heapq
from collections.abc import Mapping, Sequence

from coder_tui.workspace.outline.rank import Ranking
from coder_tui.workspace.outline.symbols import FileSymbols, Symbol

_MAP_LEVELS = 2
_MOST_LINES = 1_500


def render_file(file: FileSymbols, depth: int | None, budget: int) -> str:
    """All symbols down to `depth`, fewer levels where they would not fit, at last the first ones."""
    deepest = max((symbol.level for symbol in file.symbols), default=0) + 1
    levels = min(depth, deepest) if depth else deepest
    while True:
        lines = _lines([symbol for symbol in file.symbols if symbol.level < levels])
        if levels == 1 or _size(lines) <= budget:
            return _cut(lines, budget)
        levels -= 1


def render_map(files: Mapping[str, FileSymbols], ranking: Ranking, budget: int) -> str:
    """The best-ranked symbols under their files, as many as fit; files by rank."""
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
    """Members stand under what they belong to, also where that was not picked itself."""
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
