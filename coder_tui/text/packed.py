"""A list for long sessions: items that are rarely read are kept compressed."""

import pickle
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
PAGE = 64
"""How many items are compressed together."""
_QUICK = 1


class Pages:
    """The bytes of all pages in one buffer: thousands of small ones would fragment the memory."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def room(self) -> int:
        return len(self._bytes)

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._bytes[self._begin(number) : self._ends[number]])

    def __setitem__(self, number: int, page: bytes) -> None:
        begin, end = self._begin(number), self._ends[number]
        self._bytes[begin:end] = page
        for later in range(number, len(self)):
            self._ends[later] += len(page) - (end - begin)

    def append(self, page: bytes) -> None:
        self._bytes += page
        self._ends.append(len(self._bytes))

    def pop(self) -> bytes:
        page = self[len(self) - 1]
        self._ends.pop()
        del self._bytes[len(self._bytes) - len(page) :]
        return page

    def _begin(self, number: int) -> int:
        return self._ends[number - 1] if number else 0


class PackedList(Generic[T]):
    """A list with compressed pages. Any index works; the page that was unpacked last is cached.

    Items must be values: an item from a compressed page is an equal copy of the one that was stored.
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._pages = Pages()
        self._live: list[T] = list(items)
        self._at_hand: tuple[int, list[T]] | None = None

    def __len__(self) -> int:
        return self._packed + len(self._live)

    def __getitem__(self, index: int) -> T:
        index = self._checked(index)
        if index >= self._packed:
            return self._live[index - self._packed]
        return self._page(index // PAGE)[index % PAGE]

    def __setitem__(self, index: int, item: T) -> None:
        index = self._checked(index)
        if index >= self._packed:
            self._live[index - self._packed] = item
            return
        page = self._page(index // PAGE)
        page[index % PAGE] = item
        self._pages[index // PAGE] = _packed(page)

    def __iter__(self) -> Iterator[T]:
        """Iterate. The list may grow and be packed while this runs."""
        index = 0
        while index < len(self):
            yield self[index]
            index += 1

    def __reversed__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self) - 1, -1, -1))

    def append(self, item: T) -> None:
        self._live.append(item)

    def since(self, index: int) -> list[T]:
        """Return the items from `index` on."""
        if index >= self._packed:
            return self._live[index - self._packed :]
        return [self[place] for place in range(index, len(self))]

    def unpack_from(self, index: int) -> None:
        """Compress the pages before `index`, and unpack those after it."""
        while self._packed + PAGE <= index and len(self._live) >= PAGE:
            self._pages.append(_packed(self._live[:PAGE]))
            del self._live[:PAGE]
        while len(self._pages) and self._packed > index:
            self._live[:0] = _unpacked(self._pages.pop())
            self._at_hand = None

    @property
    def room(self) -> int:
        """The size of the compressed pages in bytes."""
        return self._pages.room

    @property
    def _packed(self) -> int:
        return len(self._pages) * PAGE

    def _checked(self, index: int) -> int:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return place

    def _page(self, number: int) -> list[T]:
        if self._at_hand is None or self._at_hand[0] != number:
            self._at_hand = number, _unpacked(self._pages[number])
        return self._at_hand[1]


def _packed(items: Sequence[object]) -> bytes:
    return zlib.compress(pickle.dumps(items, pickle.HIGHEST_PROTOCOL), _QUICK)


def _unpacked(page: bytes) -> list[Any]:
    """Unpack a page. Only data of this module is read, so pickle is safe here."""
    items: list[Any] = pickle.loads(zlib.decompress(page))
    return items
