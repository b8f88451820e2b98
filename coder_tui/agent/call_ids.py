"""Remembers which ids calls had: thousands of them, in one piece of memory."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable


class CallIds:
    """May take an id for one that was there, once in some billion: whoever asks then makes another."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._hashes = array("q", sorted(set(map(hash, ids))))

    def __contains__(self, call_id: object) -> bool:
        place = bisect_left(self._hashes, hash(call_id))
        return place < len(self._hashes) and self._hashes[place] == hash(call_id)

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, call_id: str) -> None:
        if call_id not in self:
            self._hashes.insert(bisect_left(self._hashes, hash(call_id)), hash(call_id))
