"""Finds sessions by what was said in them, whatever a person types."""

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass

from coder_tui.storage.database import Database
from coder_tui.storage.index import list_infos
from coder_tui.storage.records import SessionInfo

MOST_WORDS = 12
_AROUND = 60
"""Characters that are shown before and behind what was found."""

_IN_INDEX = "id IN (SELECT rowid FROM passage_words WHERE passage_words MATCH ?)"
_CONTROLS = re.compile("[\x00-\x1f]")
# Writing without blanks between words is not cut into words by the index.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A session in which all words occur; `count` passages hold some of them, `excerpt` is from the best."""

    info: SessionInfo
    excerpt: str
    count: int


class Search:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, words: str, directory: str | None = None, limit: int = 50) -> tuple[Hit, ...]:
        """Sessions of a folder, or of all, that hold every word or its beginning; the one used last first."""
        # Bytes of an argument that are no text can be in nothing that was said; controls end a word.
        wanted = _CONTROLS.sub(" ", words.encode(errors="replace").decode()).split()[:MOST_WORDS]
        return await self._database.read(lambda connection: _search(connection, wanted, directory, limit))


def _search(
    connection: sqlite3.Connection, words: list[str], directory: str | None, limit: int
) -> tuple[Hit, ...]:
    found = _found(connection, words)
    infos = list_infos(connection, directory, limit, among=tuple(found))
    return tuple(
        Hit(info, _excerpt(connection, found[info.id], words), len(found[info.id])) for info in infos
    )


def _found(connection: sqlite3.Connection, words: list[str]) -> dict[str, Counter[int]]:
    """The passages of each session that holds all words, with how many of them each has."""
    passages: dict[str, Counter[int]] = {}
    for place, word in enumerate(words):
        sessions: dict[str, Counter[int]] = {}
        for session_id, passage in _passages(connection, word):
            if place == 0 or session_id in passages:
                sessions.setdefault(session_id, Counter()).update((passage,))
        passages = {key: passages.get(key, Counter()) + counted for key, counted in sessions.items()}
    return passages


def _passages(connection: sqlite3.Connection, word: str) -> list[tuple[str, int]]:
    if word.isalnum() and not _UNSPACED.search(word):
        # Words that begin with one letter are too many to be of use, and take long to be found.
        query, value = _IN_INDEX, f'"{word}"*' if len(word) > 1 else f'"{word}"'
    else:
        # Signs are no words to the index: `c++` and `a.py` are looked for as they are.
        escaped = re.sub(r"([%_!])", r"!\1", word)
        query, value = "text LIKE ? ESCAPE '!'", f"%{escaped}%"
    return connection.execute(f"SELECT session_id, id FROM passages WHERE {query}", (value,)).fetchall()


def _excerpt(connection: sqlite3.Connection, passages: Counter[int], words: list[str]) -> str:
    """From the passage with most of the words, the newest of equals; a title only if nothing else has any."""
    most = max(passages.values())
    best = [passage for passage, count in passages.items() if count == most]
    marks = ", ".join("?" for _ in best[-100:])
    (text,) = connection.execute(
        f"SELECT text FROM passages WHERE id IN ({marks}) ORDER BY message_id <> '' DESC, id DESC",
        best[-100:],
    ).fetchone()
    return around(text, words)


def around(text: str, words: list[str]) -> str:
    """The part of a text in which the first of the words stands, in one line."""
    line = " ".join(text.split())
    places = [at for word in words if (at := line.lower().find(word.lower())) >= 0]
    start = max(0, min(places, default=0) - _AROUND)
    end = start + 2 * _AROUND
    if start:
        start = line.find(" ", start, start + _AROUND // 2) + 1 or start
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
