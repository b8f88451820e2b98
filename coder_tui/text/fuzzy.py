"""Ranks many short texts against a few typed characters, quickly enough for every key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BOUNDARIES = frozenset("/_-. ")


@dataclass(frozen=True, slots=True)
class Match:
    """`index` is the text's place in what was searched, `positions` the characters that matched."""

    index: int
    positions: tuple[int, ...]


class FuzzyIndex:
    """Texts prepared for searching; the order in which they came decides between equals.

    What contains the query as it is comes first, in the last part of a path before the rest of it; only
    where that finds too little are its letters sought one after another.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._folded = [_folded(text) for text in texts]
        self._names = [text.rstrip("/").rpartition("/")[2] for text in self._folded]

    def search(self, query: str, most: int) -> list[Match]:
        wanted = _folded(query).replace(" ", "")
        if not wanted:
            return [Match(index, ()) for index in range(min(most, len(self.texts)))]
        found = self._whole(wanted, most)
        if len(found) < most:
            found += self._scattered(wanted, most - len(found), {match.index for match in found})
        return found

    def _whole(self, wanted: str, most: int) -> list[Match]:
        in_name = [index for index, name in enumerate(self._names) if wanted in name]
        in_name.sort(key=lambda index: _name_rank(self._names[index], wanted, self._folded[index]))
        found = [self._run(index, self._folded[index].rfind(wanted), wanted) for index in in_name[:most]]
        if len(found) < most:
            taken = set(in_name)
            elsewhere = [
                index for index, text in enumerate(self._folded) if wanted in text and index not in taken
            ]
            elsewhere.sort(key=lambda index: (len(self._folded[index]), index))
            found += [
                self._run(index, self._folded[index].find(wanted), wanted)
                for index in elsewhere[: most - len(found)]
            ]
        return found

    def _run(self, index: int, start: int, wanted: str) -> Match:
        return Match(index, tuple(range(start, start + len(wanted))))

    def _scattered(self, wanted: str, most: int, taken: set[int]) -> list[Match]:
        candidates: Iterable[tuple[int, tuple[int, ...]]] = (
            (index, positions)
            for index, text in enumerate(self._folded)
            if index not in taken and (positions := _subsequence(wanted, text))
        )
        ranked = sorted(candidates, key=lambda item: (-_score(self._folded[item[0]], item[1]), item[0]))
        return [Match(index, positions) for index, positions in ranked[:most]]


def _folded(text: str) -> str:
    """Without case, but with as many characters: positions must hold for the text itself."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _name_rank(name: str, wanted: str, text: str) -> tuple[bool, bool, bool, int]:
    """The whole name, its beginning, the beginning of a word in it; then the shorter path."""
    at = name.find(wanted)
    begins_word = at == 0 or name[at - 1] in _BOUNDARIES
    return name != wanted, at != 0, not begins_word, len(text)


def _subsequence(wanted: str, text: str) -> tuple[int, ...]:
    """Where the letters stand, each as far left as possible; empty when one is missing."""
    positions: list[int] = []
    at = -1
    for letter in wanted:
        at = text.find(letter, at + 1)
        if at < 0:
            return ()
        positions.append(at)
    return tuple(positions)


def _score(text: str, positions: tuple[int, ...]) -> int:
    """Letters that begin words or follow each other tell more; a long text tells less."""
    score = 0
    for before, at in zip((-2, *positions), positions, strict=False):
        begins_word = at == 0 or text[at - 1] in _BOUNDARIES
        score += 8 * begins_word + 5 * (at == before + 1)
    return score * 4 - len(text)
