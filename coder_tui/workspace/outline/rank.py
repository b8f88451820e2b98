"""Which files and definitions a project leans on, found by walking along its references."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from coder_tui.workspace.outline.languages import family_of
from coder_tui.workspace.outline.symbols import FileSymbols

_DAMPING = 0.85
_ROUNDS = 25
_MOST_DEFINERS = 12
"""A name that more files define says nothing about which of them is meant."""
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
    """Scores of files, and of the names that a file defines."""

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
    """How strongly a file refers to a name of another."""
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
    """Long names of several words are meant; plain words may be chance, most of all those of members."""
    weight = 1.0
    if name.islower() and "_" not in name.strip("_"):
        weight = 0.05 if level else 0.5
    elif len(name) >= _LONG:
        weight = 10.0
    return weight * 0.1 if name.startswith("_") else weight


def _is_test(path: str) -> bool:
    return any(part.startswith("test") or part.endswith(_TEST_ENDINGS) for part in path.split("/"))


def _walk(paths: list[str], edges: Edges, totals: dict[str, float]) -> dict[str, float]:
    # The walk begins anew in the program rather than in its tests, which refer to everything.
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
