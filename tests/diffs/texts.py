"""Random pairs of texts, with all the line ends that files have."""

import random

from hypothesis import strategies as st

WORDS = (
    "alpha",
    "beta",
    "return value",
    "x = 1",
    "\tif x:",
    "",
    "  ",
    "日本語",
    "a\x0cb",
    "u\u2028v",
    "\x85",
    "e\u0301",
)
ENDS = ("\n", "\n", "\n", "\r\n")

LINES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)).map("".join), max_size=30)
TEXTS = st.tuples(LINES, st.sampled_from(["", "", "end", "\r"])).map(lambda pair: "".join(pair[0]) + pair[1])


def random_text(chance: random.Random, most: int = 40) -> str:
    lines = [chance.choice(WORDS) + chance.choice(ENDS) for _ in range(chance.randint(0, most))]
    return "".join(lines) + chance.choice(["", "", "end", "no newline"])


def random_edit(chance: random.Random, text: str) -> str:
    """Some lines deleted, added, changed or moved."""
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(0, 6)):
        at = chance.randint(0, len(lines))
        match chance.randint(0, 4):
            case 0:
                del lines[at : at + chance.randint(1, 4)]
            case 1:
                lines[at:at] = random_text(chance, 4).splitlines(keepends=True)
            case 2 if at < len(lines):
                lines[at] = lines[at].replace("a", "o").replace("\t", "    ")
            case 3 if at < len(lines):
                lines[at] = lines[at].rstrip("\r\n") + chance.choice(["\n", "\r\n", " \n"])
            case _:
                lines[at : at + 2] = reversed(lines[at : at + 2])
    return "".join(lines)
