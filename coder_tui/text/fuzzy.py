"""Rank many short texts against a few typed characters, fast enough for every key press."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

MOST_RANKED = 1_000
"""How many equally good matches are ranked. The rest keep their original order."""
_BOUNDARIES = frozenset("/_-. ")


@dataclass(frozen=True, slots=True)
class Match:
    """A match: the index of the text, and the positions of the characters that matched."""

    index: int
    positions: tuple[int, ...]


class FuzzyIndex:
    """Texts prepared for searching. Equal matches keep their original order.

    Texts that contain the whole query come first, those with it in the last part of a path before others.
    Only if there are too few are the letters searched one after another.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._folded = [_folded(text) for text in texts]
        self._names = [text.rstrip("/").rpartition("/")[2] for text in self._folded]
        self._last: tuple[str, Sequence[int]] = ("", range(len(self.texts)))

    def search(self, query: str, most: int) -> list[Match]:
        wanted = _folded(query).replace(" ", "")
        if not wanted:
            return [Match(index, ()) for index in range(min(most, len(self.texts)))]
        places = self._places(wanted)
        found: dict[int, Match] = {}
        for tier in (self._begun, self._named, self._whole, self._scattered):
            for match in tier(wanted, places, most):
                found.setdefault(match.index, match)
            if len(found) >= most:
                break
        return list(found.values())[:most]

    def _places(self, wanted: str) -> Sequence[int]:
        """Return texts that contain the letters in order.

        A longer query searches only the previous matches.
        """
        before, among = self._last
        if not wanted.startswith(before):
            among = range(len(self.texts))
        # One pattern: it never reads a character twice, and runs in C.
        matches = re.compile("".join(f"[^{re.escape(c)}]*+{re.escape(c)}" for c in wanted), re.DOTALL).match
        folded = self._folded
        places = [index for index in among if matches(folded[index])]
        self._last = (wanted, places)
        return places

    def _begun(self, wanted: str, places: Sequence[int], most: int) -> list[Match]:
        """Match names that begin with the query."""
        names = self._names
        return self._ranked_names(wanted, (at for at in places if names[at].startswith(wanted)), most)

    def _named(self, wanted: str, places: Sequence[int], most: int) -> list[Match]:
        """Match names that contain the query."""
        names = self._names
        return self._ranked_names(wanted, (at for at in places if wanted in names[at]), most)

    def _ranked_names(self, wanted: str, fitting: Iterable[int], most: int) -> list[Match]:
        ranked = sorted(
            islice(fitting, MOST_RANKED),
            key=lambda index: _name_rank(self._names[index], wanted, self._folded[index]),
        )
        return [_run(index, self._folded[index].rfind(wanted), wanted) for index in ranked[:most]]

    def _whole(self, wanted: str, places: Sequence[int], most: int) -> list[Match]:
        """Match paths that contain the query, shorter ones first."""
        folded = self._folded
        fitting = (index for index in places if wanted in folded[index])
        ranked = sorted(islice(fitting, MOST_RANKED), key=lambda index: len(folded[index]))
        return [_run(index, folded[index].find(wanted), wanted) for index in ranked[:most]]

    def _scattered(self, wanted: str, places: Sequence[int], most: int) -> list[Match]:
        candidates = ((index, _subsequence(wanted, self._folded[index])) for index in places[:MOST_RANKED])
        ranked = sorted(candidates, key=lambda item: (-_score(self._folded[item[0]], item[1]), item[0]))
        return [Match(index, positions) for index, positions in ranked[:most]]


def _run(index: int, start: int, wanted: str) -> Match:
    return Match(index, tuple(range(start, start + len(wanted))))


def _folded(text: str) -> str:
    """Lower the case, but keep the length: positions must be valid for the text itself."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _name_rank(name: str, wanted: str, text: str) -> tuple[bool, bool, bool, int]:
    """Rank by match: the whole name, its beginning, the beginning of a word; then the shorter path."""
    at = name.find(wanted)
    begins_word = at == 0 or name[at - 1] in _BOUNDARIES
    return name != wanted, at != 0, not begins_word, len(text)


def _subsequence(wanted: str, text: str) -> tuple[int, ...]:
    """Return the positions of the letters, each as far left as possible."""
    positions: list[int] = []
    at = -1
    for letter in wanted:
        at = text.index(letter, at + 1)
        positions.append(at)
    return tuple(positions)


def _score(text: str, positions: tuple[int, ...]) -> int:
    """Score letters that begin words or follow each other higher, and long texts lower."""
    score = 0
    for before, at in zip((-2, *positions), positions, strict=False):
        begins_word = at == 0 or text[at - 1] in _BOUNDARIES
        score += 8 * begins_word + 5 * (at == before + 1)
    return score * 4 - len(text)
