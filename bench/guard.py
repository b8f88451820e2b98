"""Type at random into the real screen while requests arrive; count accidental answers and lost characters.

uv run python -m bench.guard [--scenes 2000] [--seed 1]

Time is virtual: gaps between keys are exact and cost nothing. A scene is a sentence of keys 0 to 300 ms
apart, and a request of one of six kinds: every other time before the first key, else at any time.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter

from tests.fakes.typist import KINDS, Typist, typist

KEYS = (*"abcdefghijklmnopqrstuvwxyz" * 2, *"yynnaadd123?[] " * 2, "enter")
LETTER, CHORD = 0.5, 0.1


def sentence(rng: random.Random) -> list[tuple[str, float]]:
    """Starts at any time, and ends in letters."""
    first = (rng.choice(KEYS), rng.uniform(0, 3))
    rest = [(rng.choice(KEYS), rng.uniform(0, 0.3)) for _ in range(rng.randint(2, 20))]
    return [first, *rest, ("a", 0.1), ("b", 0.1)]


def sweep(typing_user: Typist, scenes: int, rng: random.Random) -> Counter[str]:
    found: Counter[str] = Counter()
    for _ in range(scenes):
        kind, typed = rng.choice(sorted(KINDS)), sentence(rng)
        latest = typed[0][1] if rng.random() < 0.5 else sum(gap for _, gap in typed) + 1.5
        arrival = rng.uniform(0, latest)
        outcome = typing_user.scene(kind, arrival, typed)
        expected = "".join("".join(key for key, _ in typed if len(key) == 1).split())
        found["scenes"] += 1
        found["keys"] += len(typed)
        found["keys over a dialog"] += typing_user.over
        found["answers by accident"] += len(outcome.answers)
        if outcome.text != expected:
            found["scenes with lost or misplaced characters"] += 1
            print(f"{kind} at {arrival:.3f}: {typed}\n  expected {expected!r}\n  got      {outcome.text!r}")
    return found


async def latency(typing_user: Typist, kind: str, key: str) -> float:
    """Seconds from an intended key to the answer."""
    await typing_user.clear()
    typing_user.ask(kind)
    await typing_user.ready()
    pressed = typing_user.time.clock()
    typing_user.press(key)
    await asyncio.sleep(2)
    return typing_user.answered_at[0] - pressed if typing_user.answered_at else float("inf")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    with typist() as typing_user:
        began = time.perf_counter()
        found = sweep(typing_user, wanted.scenes, random.Random(wanted.seed))
        letter = typing_user.time.run(latency(typing_user, "edit", "y"))
        chord = typing_user.time.run(latency(typing_user, "command", "ctrl+y"))
    for what in ("scenes", "keys", "keys over a dialog"):
        print(f"{what:42} {found[what]}")
    for what in ("answers by accident", "scenes with lost or misplaced characters"):
        print(f"{what:42} {found[what]}   (limit 0)")
    print(f"{'a letter that is meant answers after':42} {letter:.3f} s   (limit {LETTER} s)")
    print(f"{'a chord':42} {chord:.3f} s   (limit {CHORD} s)")
    print(f"{'took':42} {time.perf_counter() - began:.0f} s")
    is_fine = not found["answers by accident"] and not found["scenes with lost or misplaced characters"]
    return 0 if is_fine and letter <= LETTER and chord <= CHORD else 1


if __name__ == "__main__":
    sys.exit(main())
