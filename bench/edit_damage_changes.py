"""Make realistic changes to real text files, and write them as a model would write them."""

import difflib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

Op = tuple[str, str]
Files = dict[str, str]
Change = Callable[["Source", random.Random], list[str] | None]

SUFFIXES = frozenset([".py", ".js", ".ts", ".md", ".toml", ".yaml", ".sh", ".go", ".c", ".css", ".html"])
SHORTEST, LONGEST, WIDEST = 12, 700, 180
SKIPPED_FOLDERS = frozenset({".git", "__pycache__"})
WORDS = [
    "limit",
    "retry",
    "cursor",
    "buffer",
    "offset",
    "worker",
    "channel",
    "budget",
    "marker",
    "digest",
    "region",
    "ticket",
]
HASH, SLASHES = ("# ", ""), ("// ", "")
COMMENTS = {
    ".js": SLASHES,
    ".ts": SLASHES,
    ".go": SLASHES,
    ".c": SLASHES,
    ".css": ("/* ", " */"),
    ".html": ("<!-- ", " -->"),
    ".md": ("<!-- ", " -->"),
}
STATEMENTS = {
    ".py": ["{a}_count = max({b}_count, {n})", "log_{a}({b!r}, level={n})", "{a}.append(({n}, {b}_total))"],
    ".md": ["The {a} of every {b} is at most {n}.", "See also the {a} of the {b}, page {n}."],
    ".toml": ['{a}-{b} = "{n}"', "{a}_{b} = {n}"],
    ".yaml": ["{a}_{b}: {n}", "{b}-{a}: value {n}"],
    ".sh": ["{a}_{b}={n}", "check_{a} --{b} {n} || exit {n}"],
    ".css": ["--{a}-{b}: {n}px;", "--{b}-{a}-width: {n}em;"],
    ".html": ['<meta name="{a}-{b}" content="{n}">', "<p>The {a} of {b} {n}</p>"],
    ".c": ["{a}_count = {b}_count + {n};", "log_{a}({b}_name, {n});"],
    ".go": ["{a}Count := {b}Count + {n}", "log{a}({b}Name, {n})"],
}
SCRIPT = ["const {a}Count = {b}Count + {n};", "log_{a}({b}Name, {n});", "{a}List.push({b}, {n});"]


@dataclass(frozen=True, slots=True)
class Source:
    """Holds a text file as lines without their ends."""

    path: str
    lines: tuple[str, ...]
    eol: str = "\n"
    last_newline: bool = True

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    def text(self, lines: Sequence[str] | None = None) -> str:
        chosen = self.lines if lines is None else lines
        return self.eol.join(chosen) + (self.eol if self.last_newline and chosen else "")

    def comment(self, words: str) -> str:
        before, after = COMMENTS.get(self.suffix, HASH)
        return f"{before}{words}{after}"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Holds lines marked as in a diff; an empty mark is one that the model forgot."""

    start: int
    ops: tuple[Op, ...]

    def side(self, marks: str) -> list[str]:
        return [text for mark, text in self.ops if mark and mark in marks]

    @property
    def old(self) -> list[str]:
        return self.side(" -")

    @property
    def new(self) -> list[str]:
        return self.side(" +")

    def line_of(self, index: int) -> int:
        """Return which line of the file ops[index] is, or is written before."""
        return self.start + sum(mark in (" ", "-") for mark, _ in self.ops[:index])


@dataclass(frozen=True, slots=True)
class Draft:
    """Holds a change as it is meant and as the model writes it."""

    kind: str
    source: Source
    meant: tuple[Hunk, ...]
    written: tuple[Hunk, ...]
    other: Source
    numbers: str = "right"
    args: dict[str, Any] | None = None
    files: Files | None = None
    truth: Files | None = None

    def write(self, at: int, ops: Sequence[Op]) -> "Draft":
        """Return the draft with other ops in one written hunk."""
        hunks = list(self.written)
        hunks[at] = replace(hunks[at], ops=tuple(ops))
        return replace(self, written=tuple(hunks))

    def map_written(self, edit: Callable[[str], str], marks: str = " -+") -> "Draft":
        hunks = (
            replace(hunk, ops=tuple((m, edit(text) if m in marks else text) for m, text in hunk.ops))
            for hunk in self.written
        )
        return replace(self, written=tuple(hunks))

    def with_file_line(self, at: int, index: int, text: str) -> "Draft":
        """Return the draft with another line in the file where the model writes what it wrote before."""
        lines, hunks = list(self.source.lines), list(self.meant)
        ops = list(hunks[at].ops)
        lines[hunks[at].line_of(index)] = text
        ops[index] = (ops[index][0], text)
        hunks[at] = replace(hunks[at], ops=tuple(ops))
        return replace(self, source=replace(self.source, lines=tuple(lines)), meant=tuple(hunks))

    def result(self, hunks: Sequence[Hunk] | None = None) -> list[str]:
        return apply_hunks(self.source.lines, self.meant if hunks is None else hunks)


def read_sources(folder: Path, rng: random.Random, most: int) -> list[Source]:
    """Read the usable files below a folder, in an order that depends on the seed only."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES and path.is_file()]
    rng.shuffle(paths)
    found = (read_source(path) for path in paths if not SKIPPED_FOLDERS & set(path.parts))
    return list(islice(filter(None, found), most))


def read_source(path: Path) -> Source | None:
    if path.stat().st_size > 60_000:
        return None
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    text = text.replace("\r\n", "\n")
    lines = tuple(text.removesuffix("\n").split("\n"))
    is_odd = any((ord(c) < 32 and c not in "\n\t") or c in "\x85\u2028\u2029\ufeff" for c in text)
    if is_odd or not SHORTEST <= len(lines) <= LONGEST or max(map(len, lines)) > WIDEST:
        return None
    return Source(path.name, lines)


def vary(source: Source, number: int) -> Source:
    """Make one file in seven end its lines otherwise, lack its last newline, or be indented by tabs."""
    match number % 7:
        case 3:
            return replace(source, eol="\r\n")
        case 5:
            return replace(source, last_newline=False)
        case 6:
            return replace(source, lines=tuple(map(tabs_for_spaces, source.lines)))
        case _:
            return source


def lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def tabs_for_spaces(line: str) -> str:
    return lead(line).replace("    ", "\t") + line.lstrip(" \t")


@cache
def key(line: str) -> str:
    """Return a line without any blanks, to compare lines as the most lenient reader would."""
    return re.sub(r"\s+", "", line)


def make_statement(source: Source, rng: random.Random) -> str:
    a, b = rng.sample(WORDS, 2)
    return rng.choice(STATEMENTS.get(source.suffix, SCRIPT)).format(a=a, b=b, n=rng.randint(2, 99))


def pick_line(source: Source, rng: random.Random, pattern: str) -> int | None:
    found = [i for i, line in enumerate(source.lines) if re.search(pattern, line)]
    return rng.choice(found) if found else None


def change_line(source: Source, at: int | None, edit: Callable[[str], str]) -> list[str] | None:
    if at is None or edit(source.lines[at]) == source.lines[at]:
        return None
    return [*source.lines[:at], edit(source.lines[at]), *source.lines[at + 1 :]]


def rename(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\b[a-z_]{5,}\b")
    if at is None:
        return None
    name = rng.choice(re.findall(r"\b[a-z_]{5,}\b", source.lines[at]))
    window = range(max(0, at - 8), min(len(source.lines), at + 9))
    return [
        re.sub(rf"\b{name}\b", f"{name}_{rng.choice(WORDS[:1])}", line) if i in window else line
        for i, line in enumerate(source.lines)
    ]


def change_argument(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\w\([^()]+\)")
    word = rng.choice(WORDS)
    return change_line(source, at, lambda line: re.sub(r"(\w\([^()]+)\)", rf"\1, {word})", line, count=1))


def insert_lines(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\S")
    if at is None:
        return None
    indent = lead(source.lines[at])
    added = [indent + make_statement(source, rng) for _ in range(rng.randint(1, 4))]
    return [*source.lines[:at], *added, *source.lines[at:]]


def insert_spaced(source: Source, rng: random.Random) -> list[str] | None:
    """Insert two groups of lines with an empty line between them."""
    at = pick_line(source, rng, r"\S")
    if at is None:
        return None
    added = [lead(source.lines[at]) + make_statement(source, rng) for _ in range(4)]
    return [*source.lines[:at], *added[:2], "", *added[2:], *source.lines[at:]]


def delete_lines(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\S.{6}")
    return None if at is None else [*source.lines[:at], *source.lines[at + rng.randint(1, 3) :]]


def replace_block(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\S.{6}")
    if at is None:
        return None
    added = [lead(source.lines[at]) + make_statement(source, rng) for _ in range(rng.randint(2, 5))]
    return [*source.lines[:at], *added, *source.lines[at + rng.randint(2, 5) :]]


def add_function(source: Source, rng: random.Random) -> list[str] | None:
    heads = [i for i, line in enumerate(source.lines) if re.match(r"(def|class|function|func|#+) ", line)]
    at = rng.choice(heads) if heads else len(source.lines)
    body = ["    " + make_statement(source, rng) for _ in range(rng.randint(2, 4))]
    name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"
    match source.suffix:
        case ".py":
            added = [f"def {name}(value):", *body, "    return value", "", ""]
        case ".js" | ".ts":
            added = [f"function {name}(value) {{", *body, "    return value;", "}", ""]
        case _:
            return None
    return [*source.lines[:at], *added, *source.lines[at:]]


def change_value(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"[\w\"'-]\s*[:=]\s*(\d+|true|false|True|False)\b")
    turned = {"true": "false", "false": "true", "True": "False", "False": "True"}
    pattern = r"([:=]\s*)(\d+|true|false|True|False)\b"
    return change_line(
        source,
        at,
        lambda line: re.sub(
            pattern, lambda m: m[1] + (turned.get(m[2]) or str(int(m[2]) + 7)), line, count=1
        ),
    )


def change_version(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"\d+\.\d+")
    return change_line(
        source, at, lambda line: re.sub(r"(\d+)\.(\d+)", lambda m: f"{m[1]}.{int(m[2]) + 1}", line, count=1)
    )


def change_comment(source: Source, rng: random.Random) -> list[str] | None:
    at = pick_line(source, rng, r"(^\s*(#|//|\*)|^[A-Z]).*\b[a-z]{4,} [a-z]{3,}")
    word = rng.choice(WORDS)
    return change_line(source, at, lambda line: re.sub(r"\b[a-z]{4,} ", f"{word} ", line, count=1))


def change_first_line(source: Source, rng: random.Random) -> list[str] | None:
    return [source.comment(f"The {rng.choice(WORDS)} of {source.path}"), *source.lines]


def change_last_line(source: Source, rng: random.Random) -> list[str] | None:
    return [*source.lines[:-1], *([source.lines[-1]] * rng.randint(0, 1)), make_statement(source, rng)]


def several(source: Source, rng: random.Random) -> list[str] | None:
    """Make up to three small changes."""
    changed = source
    for edit in rng.sample([insert_lines, change_argument, change_value, delete_lines, replace_block], 3):
        lines = edit(changed, rng)
        changed = replace(changed, lines=tuple(lines)) if lines else changed
    return list(changed.lines)


CHANGES: tuple[Change, ...] = (
    insert_lines, rename, several, replace_block, change_argument, delete_lines, insert_spaced,
    change_value, several, add_function, change_version, change_comment, change_first_line, change_last_line,
)  # fmt: skip


def apply_hunks(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """Apply hunks by their position only."""
    result: list[str] = []
    position = 0
    for hunk in sorted(hunks, key=lambda hunk: hunk.start):
        if list(lines[hunk.start : hunk.start + len(hunk.old)]) != hunk.old:
            raise ValueError("a hunk is not of these lines")
        result += [*lines[position : hunk.start], *hunk.new]
        position = hunk.start + len(hunk.old)
    return [*result, *lines[position:]]


@lru_cache(64)
def compare(before: tuple[str, ...], after: tuple[str, ...]) -> difflib.SequenceMatcher[str]:
    return difflib.SequenceMatcher(None, before, after, autojunk=False)


def diff(before: Sequence[str], after: Sequence[str], context: int) -> list[Hunk]:
    hunks = []
    for group in compare(tuple(before), tuple(after)).get_grouped_opcodes(context):
        ops: list[Op] = []
        for tag, i, j, k, m in group:
            if tag == "equal":
                ops += [(" ", line) for line in before[i:j]]
            else:
                ops += [("-", line) for line in before[i:j]] + [("+", line) for line in after[k:m]]
        hunks.append(Hunk(group[0][1], tuple(ops)))
    return hunks


def is_distinct(lines: Sequence[str], hunk: Hunk) -> bool:
    """Check that no other place of the file is like the old lines of a hunk."""
    wanted = [key(line) for line in hunk.old]
    weight = sum(map(bool, wanted))
    if sum(map(len, wanted)) < 10:
        return False
    keys = [key(line) for line in lines]
    return not any(
        sum(a == b != "" for a, b in zip(keys[start:], wanted, strict=False)) >= 0.6 * weight
        for start in range(len(keys))
        if start != hunk.start
    )


def draft_change(
    kind: str, source: Source, other: Source, after: Sequence[str], rng: random.Random
) -> Draft | None:
    """Write a change exactly, with as much context as makes its places unmistakable."""
    for context in range(rng.randint(1, 3), 7):
        hunks = diff(source.lines, after, context)
        if kind == "edit" and hunks:
            hunks = [rng.choice(hunks)]
        if hunks and sum(len(h.ops) for h in hunks) < 90 and all(is_distinct(source.lines, h) for h in hunks):
            return Draft(kind, source, tuple(hunks), tuple(hunks), other)
    return None


def make_changes(folder: Path, count: int, seed: int) -> Iterator[tuple[str, Source, Source, list[str]]]:
    """Yield a name, a file, another file, and the changed lines of the first."""
    sources = read_sources(folder, random.Random(f"{seed}:files"), 3 * count + 10)
    if not sources:
        return
    for number in range(count):
        for attempt in range(20):
            rng = random.Random(f"{seed}:{number}:{attempt}")
            # The last change of a round is to a last line: it comes to a file without a last newline.
            source = vary(sources[(number + attempt * 7) % len(sources)], number + number // len(CHANGES) - 8)
            after = CHANGES[number % len(CHANGES)](source, rng)
            if after and after != list(source.lines):
                yield f"{folder.name}-{number}", source, sources[(number + 1) % len(sources)], after
                break
