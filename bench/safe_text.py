"""Send random byte streams, cut anywhere, through the gates for untrusted text: no control sequence gets out.

python -m bench.safe_text [STREAMS] [SEED]
"""

import codecs
import random
import sys
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from coder_tui.text.safe_text import safe_text
from coder_tui.text.terminal import OutputReader, plain_output

STREAMS = 1_000_000
SEED = 20_260
_MOST_PARTS = 12
_MOST_CUTS = 5
_FINALS = b"@ABCDEFGHJKLMPSTXZ`abcdefghilmnpqrstuvwxyz{|}~"

# By Unicode's own tables, not by the gate's: controls, format characters, surrogates, separators, fillers.
_IGNORABLE = (
    0x34F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    *range(0x180B, 0x1810),
    0x3164,
    *range(0xFE00, 0xFE0E),
    0xFFA0,
)
UNSAFE = frozenset(
    chr(code)
    for code in range(sys.maxunicode + 1)
    if chr(code) not in "\n\t"
    and (
        unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or code in _IGNORABLE
        or 0xE0000 <= code <= 0xE0FFF
    )
)
_REAL = (
    *(
        b"\x1b[2J",
        b"\x1b[H",
        b"\x1b[1;31m",
        b"\x1b[0m",
        b"\x1b[K",
        b"\x1b[1K",
        b"\x1b[2K",
        b"\x1b[3A",
        b"\x1b[5B",
    ),
    *(
        b"\x1b[12C",
        b"\x1b[2D",
        b"\x1b[10G",
        b"\x1b[4;7H",
        b"\x1b[?1049h",
        b"\x1b[?25l",
        b"\x1b[6n",
        b"\x1b[>c",
    ),
    *(b"\x1b]52;c;aGVsbG8=\x07", b"\x1b]0;title\x07", b"\x1b]8;;http://a.example\x1b\\", b"\x1b]8;;\x1b\\"),
    *(
        b"\x1b]1337;File=:AAAA\x07",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b_Gf=100;AAAA\x1b\\",
        b"\x1b^x\x1b\\",
        b"\x1bX\x1b\\",
    ),
    *(b"\x1b7", b"\x1b8", b"\x1bc", b"\x1bM", b"\x1bD", b"\x1bE", b"\x1b(0", b"\x1b#8", b"\x1b=", b"\x1bZ"),
    *(b"\r", b"\n", b"\r\n", b"\t", b"\x08", b"\x07", b"\x0b", b"\x0c", b"\x0e", b"\x00", b"\x7f", b"\x1b"),
    *(
        b"progress 10%",
        b"done",
        b" ",
        b"[@click=app.quit]x[/]",
        "漢字".encode(),
        "é✓".encode(),
        b"\xe2\x9a\xa0\xef\xb8\x8f",
    ),
)
_HIDDEN = (
    0x202E,
    0x2066,
    0x200B,
    0x200D,
    0x2028,
    0xFEFF,
    0xAD,
    0x61C,
    0xE0041,
    0x3164,
    0xFE0F,
    0xFE01,
    0x1D173,
)


@dataclass(slots=True)
class Score:
    streams: int = 0
    size: int = 0
    failures: list[str] = field(default_factory=list)


def stream_of(chance: random.Random) -> bytes:
    """Return noise, real sequences, made-up ones, cut characters and invisible ones, in any mixture."""
    return b"".join(_part(chance) for _ in range(chance.randint(1, _MOST_PARTS)))


def _part(chance: random.Random) -> bytes:
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.randint(1, 12))
    if kind == 1:
        numbers = ";".join(
            str(chance.choice((0, 1, 2, 5, 99, 4096, ""))) for _ in range(chance.randint(0, 3))
        )
        private = chance.choice(("", "", "?", ">", "="))
        return f"\x1b[{private}{numbers}".encode() + bytes([chance.choice(_FINALS)])
    if kind == 2:
        end = chance.choice((b"\x07", b"\x1b\\", b"\x9c", b"\n", b""))
        return b"\x1b" + chance.choice((b"]", b"P", b"_", b"^", b"X")) + chance.choice(_REAL)[1:6] + end
    if kind == 3:
        whole = chr(chance.choice((chance.randrange(0xD800), chance.randrange(0xE000, 0x110000)))).encode()
        return whole[: chance.randint(1, len(whole))]
    if kind == 4:
        return chr(chance.choice(_HIDDEN)).encode() if chance.random() < 0.8 else b"\xed\xa0\x80"
    if kind == 5:
        return chr(chance.randrange(0x80, 0xA0)).encode()
    return chance.choice(_REAL)


def pieces_of(data: bytes, chance: random.Random) -> list[str]:
    """Return the stream as a reader gets it: bytes in random pieces, decoded as they arrive."""
    errors = chance.choice(("replace", "surrogateescape"))
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randint(0, _MOST_CUTS)))
    ends = [*cuts, len(data)]
    pieces = [decoder.decode(data[start:end]) for start, end in zip([0, *cuts], ends, strict=True)]
    return [*pieces, decoder.decode(b"", True)]


def faults_of(pieces: list[str]) -> Iterator[str]:
    """Return what is wrong with the output of the gates for these pieces."""
    whole = "".join(pieces)
    shown = "".join(map(safe_text, pieces))
    if not UNSAFE.isdisjoint(shown):
        yield "safe_text let through"
    if not _is_cut_within_a_pair(pieces) and shown != safe_text(whole):
        yield "safe_text depends on the pieces"
    reader = OutputReader()
    read = "".join([reader.feed(piece) for piece in pieces])
    pending = reader.pending
    read += reader.finish()
    if not UNSAFE.isdisjoint(read + pending):
        yield "OutputReader let through"
    if read != plain_output(whole):
        yield "OutputReader depends on the pieces"


def _is_cut_within_a_pair(pieces: list[str]) -> bool:
    """CR LF, or a selector and its sign, are only known together; shown separately they are safe as well."""
    texts = [piece for piece in pieces if piece]
    return any(text[0] in "\n\ufe0e\ufe0f" for text in texts[1:])


def measure(streams: int, seed: int) -> Score:
    chance, score = random.Random(seed), Score()
    for _ in range(streams):
        data = stream_of(chance)
        pieces = pieces_of(data, chance)
        score.streams += 1
        score.size += len(data)
        score.failures += [f"{fault}: {data!r} as {pieces!r}" for fault in faults_of(pieces)]
    return score


def main() -> int:
    streams = int(sys.argv[1]) if len(sys.argv) > 1 else STREAMS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    began = time.monotonic()
    score = measure(streams, seed)
    print(f"{score.streams:,} streams, {score.size:,} bytes, seed {seed}, {time.monotonic() - began:.0f} s")
    print(f"{len(score.failures)} failures")
    for failure in score.failures[:20]:
        print(f"  {failure}")
    return 1 if score.failures else 0


if __name__ == "__main__":
    sys.exit(main())
