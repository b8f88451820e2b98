"""Search stored sessions: what the migration of an old store, a search, a fork and a message cost.

    python -m bench.session_search --messages 10000

The store is made as a version without search left it; words are drawn with a fixed seed.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.database import Database
from coder_tui.storage.migrations import MIGRATIONS
from coder_tui.storage.store import Store

COMMON = ("the", "prices", "round", "decimal", "shop", "corner", "test", "file", "error", "heron", "egret")
WORDS = list(COMMON) * 25 + [f"w{number}" for number in range(20_000)]
QUERIES = (
    "w77",
    "heron",
    "heron egret w5",
    "prices round decimal shop corner",
    "w1 w2 w3 w4",
    "a_b.py",
    "c++",
)
PER_SESSION = 100
ADDED = 200
T = TypeVar("T")


def fill(path: Path, messages: int) -> None:
    chance = random.Random(1)
    sessions = max(1, messages // PER_SESSION)
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO sessions (id, title, directory, model, mode, created, updated, activity) "
            "VALUES (?, ?, '/w', 'm', 'ask', 0, 0, ?)",
            [(f"s{number:06}", f"title {number}", number) for number in range(sessions)],
        )
        for number in range(messages):
            session, text = f"s{number % sessions:06}", " ".join(chance.choices(WORDS, k=150))
            role = "assistant" if number % 2 else "user"
            body = json.dumps({"role": role, "id": f"m{number}", "text": text})
            connection.execute(
                "INSERT INTO messages (session_id, seq, message_id, role, body, created) "
                "VALUES (?, ?, ?, ?, ?, 0)",
                (session, number, f"m{number}", role, body),
            )


def before_search() -> int:
    return next(at for at, steps in enumerate(MIGRATIONS) if any("passage_words" in step for step in steps))


async def timed(work: Awaitable[T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = await work
    return 1000 * (time.perf_counter() - began), result


async def measure(path: Path, messages: int) -> None:
    await (await Database.open(path, MIGRATIONS[: before_search()])).close()
    await asyncio.to_thread(fill, path, messages)
    took, store = await timed(Store.open(path))
    print(f"migration of {messages} messages  {took:8.0f} ms")
    for query in QUERIES:
        took, hits = await timed(store.search.find(query))
        print(f"search {query:<33} {took:8.0f} ms, {len(hits)} sessions")
    took, _ = await timed(store.forks.create("s000000"))
    print(f"fork of {PER_SESSION} messages {took:24.0f} ms")
    said = [
        store.messages.add("s000000", UserMessage(f"n{at}", " ".join(WORDS[:150]))) for at in range(ADDED)
    ]
    took = sum([(await timed(each))[0] for each in said])
    print(f"a message, stored and found {took / ADDED:19.2f} ms")
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=10_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        asyncio.run(measure(path, parser.parse_args().messages))
        print(f"{path.stat().st_size / 1e6:.1f} MB at the end")


if __name__ == "__main__":
    main()
