"""Write drafts as calls of a tool, and damage what concerns one form of call only."""

import difflib
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from bench.edit_damage_changes import Draft, Hunk, Op, diff, is_distinct, key, lead, make_statement
from bench.edit_damage_hunks import DAMAGES, DIFFS, Damage, Maker, damage, edit_args

BEGIN, END = "*** Begin Patch", "*** End Patch"
ENVELOPE, UNIFIED, EDIT = ("apply_patch",), ("patch",), ("edit",)
TEXTUAL_LISTS = (".md", ".yaml")


def arguments(draft: Draft) -> dict[str, Any]:
    """Return the arguments of the call."""
    if draft.args is not None:
        return draft.args
    if draft.kind == "edit":
        return edit_args(draft, *sides(draft))
    return {"patch": unified(draft) if draft.kind == "patch" else envelope(draft)}


def sides(draft: Draft) -> tuple[str, str]:
    return "\n".join(draft.written[0].old), "\n".join(draft.written[0].new)


def unified(draft: Draft) -> str:
    path = draft.source.path
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", *numbered_hunks(draft)]) + "\n"


def numbered_hunks(draft: Draft) -> list[str]:
    """Write hunks with line numbers that are right, shifted, counted wrong, or missing."""
    lines, shift = [], 0
    for meant, hunk in zip(draft.meant, draft.written, strict=False):
        old, new = len(meant.old), len(meant.new)
        start, off = meant.start + bool(old), {"shifted": 7 + meant.start % 20}.get(draft.numbers, 0)
        more = 2 if draft.numbers == "counts" else 0
        moved = start + shift + (not old) - (not new)
        head = f"@@ -{start + off},{old + more} +{moved + off},{max(1, new - more) if more else new} @@"
        lines.append("@@" if draft.numbers == "bare" else head)
        lines += body(hunk)
        shift += new - old
    return lines


def body(hunk: Hunk) -> list[str]:
    return [mark + text for mark, text in hunk.ops]


def section(draft: Draft, heads: Sequence[str] | None = None) -> list[str]:
    """Write the part of an envelope that changes the file."""
    lines = [f"*** Update File: {draft.source.path}"]
    for number, hunk in enumerate(draft.written):
        lines += [heads[number] if heads else "@@", *body(hunk)]
    return lines


def envelope(draft: Draft, heads: Sequence[str] | None = None) -> str:
    return "\n".join([BEGIN, *section(draft, heads), END]) + "\n"


def with_patch(draft: Draft, patch: str) -> Draft:
    return replace(draft, args={"patch": patch})


def rewrite(name: str, kinds: tuple[str, ...], edit: Callable[[str], str]) -> None:
    """Register a damage of the whole text of a patch."""

    def make(draft: Draft, rng: random.Random) -> Draft | None:
        return with_patch(draft, edit(arguments(draft)["patch"]))

    DAMAGES.append(Damage(name, kinds, make))


def rewrite_path(name: str, path: str) -> None:
    rewrite(
        name, ENVELOPE, lambda text: re.sub(r"^(\*\*\* Update File: )(\S+)$", rf"\1{path}", text, flags=re.M)
    )


rewrite("patch_fenced", DIFFS, lambda text: f"```diff\n{text}```\n")
rewrite("patch_in_json", DIFFS, lambda text: json.dumps({"patch": text}))
rewrite("patch_in_input_json", ENVELOPE, lambda text: json.dumps({"input": text}))
rewrite("patch_in_cmd_json", ENVELOPE, lambda text: json.dumps({"cmd": ["apply_patch", text]}))
rewrite("patch_in_quotes", DIFFS, json.dumps)
rewrite("patch_crlf", DIFFS, lambda text: text.replace("\n", "\r\n"))
rewrite("patch_cdata", DIFFS, lambda text: f"<![CDATA[{text}]]>")
rewrite("prose_before", DIFFS, lambda text: f"Here is the patch that makes this change:\n\n{text}")
rewrite("prose_after", DIFFS, lambda text: f"{text}\nThis patch makes the change that was asked for.\n")
rewrite("fence_and_prose", DIFFS, lambda text: f"```diff\n{text}```\n\nI kept everything else as it was.\n")
rewrite("heredoc", ENVELOPE, lambda text: f"apply_patch <<'EOF'\n{text}EOF\n")
rewrite("shell_heredoc", ENVELOPE, lambda text: f"bash -lc \"apply_patch <<'PATCH'\n{text}PATCH\"\n")
rewrite("begin_lost", ENVELOPE, lambda text: text.replace(f"{BEGIN}\n", ""))
rewrite("end_lost", ENVELOPE, lambda text: text.replace(f"{END}\n", ""))
rewrite(
    "markers_with_stars",
    ENVELOPE,
    lambda text: text.replace(BEGIN, f"{BEGIN} ***").replace(END, f"{END} ***"),
)
rewrite("patch_indented", ENVELOPE, lambda text: re.sub("^(?=.)", "  ", text, flags=re.M))
rewrite("update_without_colon", ENVELOPE, lambda text: text.replace("*** Update File:", "*** Update File"))
rewrite("modify_for_update", ENVELOPE, lambda text: text.replace("*** Update File:", "*** Modify File:"))
rewrite("blank_lines_between", ENVELOPE, lambda text: re.sub(r"^(@@|\*\*\* End)", r"\n\1", text, flags=re.M))
rewrite("marks_on_headers", ENVELOPE, lambda text: text.replace("*** Update File", "+*** Update File"))
rewrite(
    "paths_without_prefix", UNIFIED, lambda text: re.sub(r"^(---|\+\+\+) [ab]/", r"\1 ", text, flags=re.M)
)
rewrite("time_after_path", UNIFIED, lambda text: re.sub(
    r"^((?:---|\+\+\+) [ab]/.*)$", "\\1\t2026-01-02 03:04:05", text, flags=re.M))  # fmt: skip
rewrite("old_header_lost", UNIFIED, lambda text: text.split("\n", 1)[1])
rewrite(
    "header_in_backticks", UNIFIED, lambda text: re.sub(r"^(---|\+\+\+) (.*)$", r"\1 `\2`", text, flags=re.M)
)
rewrite("headers_of_git", UNIFIED, lambda text: "diff --git a/x b/x\nindex 11..22 100644\n" + text)
rewrite("hunk_heads_of_dots", UNIFIED, lambda text: re.sub(r"^@@.*$", "@@ ... @@", text, flags=re.M))
rewrite_path("path_with_a", r"a/\2")
rewrite_path("path_with_dot", r"./\2")
rewrite_path("path_in_backticks", r"`\2`")
rewrite_path("path_in_quotes", r'"\2"')
rewrite_path("path_with_stars", r"\2 ***")


@damage(*ENVELOPE)
def diff_headers_inside(draft: Draft, rng: random.Random) -> Draft | None:
    path, lines = draft.source.path, section(draft)
    return with_patch(draft, "\n".join([BEGIN, lines[0], f"--- a/{path}", f"+++ b/{path}", *lines[1:], END]))


@damage(*ENVELOPE)
def git_diff_inside(draft: Draft, rng: random.Random) -> Draft | None:
    path = draft.source.path
    return with_patch(draft, "\n".join([BEGIN, f"diff --git a/{path} b/{path}", unified(draft) + END]))


@damage(*ENVELOPE)
def numbers_inside(draft: Draft, rng: random.Random) -> Draft | None:
    numbered = numbered_hunks(replace(draft, numbers=rng.choice(["right", "shifted"])))
    return with_patch(draft, "\n".join([BEGIN, section(draft)[0], *numbered, END]))


@damage(*ENVELOPE)
def section_for_each_hunk(draft: Draft, rng: random.Random) -> Draft | None:
    parts = [section(replace(draft, written=(hunk,))) for hunk in draft.written]
    return with_patch(draft, "\n".join([BEGIN, *chain.from_iterable(parts), END])) if len(parts) > 1 else None


def numbering(name: str) -> Maker:
    return lambda draft, rng: replace(draft, numbers=name)


DAMAGES += [Damage(f"numbers_{name}", UNIFIED, numbering(name)) for name in ("shifted", "counts", "bare")]


@damage(*DIFFS)
def hunks_out_of_order(draft: Draft, rng: random.Random) -> Draft | None:
    if len(draft.written) < 2:
        return None
    turned = replace(draft, meant=draft.meant[::-1], written=draft.written[::-1], numbers="right")
    return with_patch(draft, arguments(turned)["patch"])


def unmark(
    draft: Draft, rng: random.Random, fits: Callable[[Sequence[Op], int], bool], is_all: bool
) -> Draft | None:
    """Lose the marks of one or all lines that fit, unless the line would then begin with another mark."""
    at = rng.randrange(len(draft.written))
    ops = draft.written[at].ops
    there = {key(line) for line in draft.source.lines} - {""}
    places = [
        i
        for i, (mark, text) in enumerate(ops)
        if fits(ops, i)
        and not text.startswith(("-", "+", "@", "*", "\\"))
        and not (mark == "+" and key(text) in there)
    ]
    if not places:
        return None
    chosen = places if is_all else [rng.choice(places)]
    return draft.write(at, [("", op[1]) if i in chosen else op for i, op in enumerate(ops)])


def is_amid_added(ops: Sequence[Op], i: int) -> bool:
    return 0 < i < len(ops) - 1 and all(mark == "+" for mark, _ in ops[i - 1 : i + 2])


@damage(*DIFFS)
def plus_lost_amid_run(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: is_amid_added(ops, i) and bool(ops[i][1].strip()), False)


@damage(*DIFFS)
def plus_lost_on_blank(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: is_amid_added(ops, i) and not ops[i][1].strip(), True)


@damage(*DIFFS)
def plus_lost_on_all(draft: Draft, rng: random.Random) -> Draft | None:
    if any(not {"-", "+"} <= {mark for mark, _ in hunk.ops} for hunk in draft.written):
        return None
    return unmark(draft, rng, lambda ops, i: ops[i][0] == "+", True)


@damage(*DIFFS)
def plus_lost_after_first(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: i > 0 and ops[i - 1][0] == ops[i][0] == "+", True)


def is_rewritten(ops: Sequence[Op], i: int) -> bool:
    """Check that a line is the only one removed, and that a very similar one is added right after it."""
    if ops[i][0] != "-" or i + 1 == len(ops) or sum(mark == "-" for mark, _ in ops) > 1:
        return False
    likeness = difflib.SequenceMatcher(None, ops[i][1], ops[i + 1][1]).ratio()
    return ops[i + 1][0] == "+" and likeness > 0.7 and not lead(ops[i][1])


@damage(*DIFFS)
def minus_lost_before_new(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(replace(draft, numbers="right"), rng, is_rewritten, False)


@damage(*DIFFS)
def context_without_blank(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: ops[i][0] == " ", True)


@damage(*DIFFS)
def one_context_without_blank(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: ops[i][0] == " " and bool(ops[i][1].strip()), False)


@damage(*DIFFS)
def empty_context_unmarked(draft: Draft, rng: random.Random) -> Draft | None:
    return unmark(draft, rng, lambda ops, i: ops[i] == (" ", ""), True)


@damage(*DIFFS)
def blank_after_marks(draft: Draft, rng: random.Random) -> Draft | None:
    return draft.map_written(lambda text: " " + text if text else text)


@damage(*DIFFS)
def added_before_removed(draft: Draft, rng: random.Random) -> Draft | None:
    at = rng.randrange(len(draft.written))
    ops = list(draft.written[at].ops)
    removed = [i for i, (mark, _) in enumerate(ops) if mark == "-"]
    added = [i for i, (mark, _) in enumerate(ops) if mark == "+"]
    if (
        not removed
        or not added
        or removed[-1] + 1 != added[0]
        or added[-1] - removed[0] + 1 != len(removed + added)
    ):
        return None
    turned = [ops[i] for i in added + removed]
    return draft.write(at, [*ops[: removed[0]], *turned, *ops[added[-1] + 1 :]])


@damage(*DIFFS)
def numbers_after_marks(draft: Draft, rng: random.Random) -> Draft | None:
    form = rng.choice(["{:>4}\t", "{}: ", "{}|"])
    hunks = []
    for hunk in draft.written:
        new = hunk.start + 1
        ops: list[Op] = []
        for i, (mark, text) in enumerate(hunk.ops):
            number = hunk.line_of(i) + 1 if mark in (" ", "-") else new
            ops.append((mark, form.format(number) + text))
            new += mark in (" ", "+")
        hunks.append(replace(hunk, ops=tuple(ops)))
    return replace(draft, written=tuple(hunks))


def insert_in_file(draft: Draft, rng: random.Random, line: str, is_removal: bool) -> Draft | None:
    """Put a confusing line into the file, and make a change next to it, or remove it."""
    at = rng.randrange(2, len(draft.source.lines) - 2)
    head, tail = draft.source.lines[:at], draft.source.lines[at:]
    before = (*head, line, *tail)
    statement = lead(tail[0]) + make_statement(draft.source, rng)
    after = (*head, *tail) if is_removal else (*head, line, statement, *tail)
    hunks = tuple(diff(before, after, 2))
    if len(hunks) != 1 or not is_distinct(before, hunks[0]):
        return None
    source = replace(draft.source, lines=before)
    return replace(draft, source=source, meant=hunks, written=hunks, numbers="right")


def confusing(line: str, is_removal: bool) -> Maker:
    return lambda draft, rng: insert_in_file(draft, rng, line, is_removal)


CONFUSING = {
    "delete_file": "*** Delete File: x",
    "end_patch": END,
    "add_file": "*** Add File: y.txt",
    "hunk": "@@ -1 +1 @@",
}
DAMAGES += [Damage(f"context_like_{name}", DIFFS, confusing(line, False)) for name, line in CONFUSING.items()]
DAMAGES += [
    Damage("removed_like_header", DIFFS, confusing("-- a/x.sql", True)),
    Damage("context_like_removed", DIFFS, confusing("- removed?", False)),
]


def anchors(draft: Draft, edit: Callable[[str], str], is_stack: bool = False) -> Draft | None:
    """Name the def or class around each hunk, or both of them."""
    heads = []
    for hunk in draft.written:
        indent = lead(next((line for line in hunk.old if line.strip()), ""))
        above = [
            line
            for line in draft.source.lines[: hunk.start]
            if re.match(r"\s*(async def|def|class|function|func) ", line)
        ]
        above = [line for line in above if len(lead(line)) < len(indent)]
        if not above:
            return None
        outer = [line for line in above if len(lead(line)) < len(lead(above[-1]))][-1:] if is_stack else []
        heads.append("\n".join(f"@@ {edit(line.strip())}" for line in (*outer, above[-1])))
    return with_patch(draft, envelope(draft, heads))


@damage(*ENVELOPE)
def anchor_of_def(draft: Draft, rng: random.Random) -> Draft | None:
    return anchors(draft, str)


@damage(*ENVELOPE)
def anchor_of_class_and_def(draft: Draft, rng: random.Random) -> Draft | None:
    return anchors(draft, str, is_stack=True)


@damage(*ENVELOPE)
def anchor_closed_by_marks(draft: Draft, rng: random.Random) -> Draft | None:
    return anchors(draft, lambda text: f"{text} @@")


@damage(*ENVELOPE)
def anchor_without_arguments(draft: Draft, rng: random.Random) -> Draft | None:
    return anchors(draft, lambda text: text.split("(")[0])


@damage(*ENVELOPE)
def anchor_of_flat_line(draft: Draft, rng: random.Random) -> Draft | None:
    """Name an earlier line that occurs once, as one does with a heading or a table of a flat file."""
    if draft.source.suffix not in (".md", ".toml", ".yaml", ".css", ".sh") or len(draft.written) > 1:
        return None
    earlier = [line for line in draft.source.lines[: draft.written[0].start] if len(key(line)) > 3]
    earlier = [line for line in earlier if draft.source.lines.count(line) == 1]
    return with_patch(draft, envelope(draft, [f"@@ {earlier[-1].strip()}"])) if earlier else None


@damage(*ENVELOPE)
def anchor_repeats_context(draft: Draft, rng: random.Random) -> Draft | None:
    firsts = [hunk.ops[0] for hunk in draft.written]
    if any(mark != " " or not text.strip() or draft.source.lines.count(text) > 1 for mark, text in firsts):
        return None
    return with_patch(draft, envelope(draft, [f"@@ {text.strip()}" for _, text in firsts]))


def add_file(draft: Draft, rng: random.Random, mark: Callable[[int], str]) -> Draft:
    added = [line for line in draft.other.lines if line.strip() and line[0] not in "+-*@\\ "][:12]
    lines = [f"{mark(number)}{line}" for number, line in enumerate(added)]
    made = with_patch(draft, "\n".join([BEGIN, f"*** Add File: {draft.source.path}", *lines, END]))
    return replace(made, truth={draft.source.path: "\n".join(added) + "\n"})


@damage(*ENVELOPE)
def add_onto_existing(draft: Draft, rng: random.Random) -> Draft | None:
    return add_file(draft, rng, lambda number: "+")


@damage(*ENVELOPE)
def add_without_plus(draft: Draft, rng: random.Random) -> Draft | None:
    return replace(add_file(draft, rng, lambda number: ""), files={})


@damage(*ENVELOPE)
def add_with_one_plus_lost(draft: Draft, rng: random.Random) -> Draft | None:
    return replace(add_file(draft, rng, lambda number: "" if number == 2 else "+"), files={})


@damage(*ENVELOPE)
def move_onto_existing(draft: Draft, rng: random.Random) -> Draft | None:
    lines = section(draft)
    made = with_patch(draft, "\n".join([BEGIN, lines[0], "*** Move to: moved.txt", *lines[1:], END]))
    files = {draft.source.path: draft.source.text(), "moved.txt": draft.other.text()}
    return replace(made, files=files, truth={"moved.txt": draft.source.text(draft.result())})
