"""Make calls that only a refusal answers rightly, and calls with placeholders for omitted lines."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bench.edit_damage_calls import arguments, envelope, with_patch
from bench.edit_damage_changes import Draft, Hunk, Op, Source, diff, is_distinct, key, lead, make_statement
from bench.edit_damage_hunks import ALL, DAMAGES, DIFFS, Damage, Maker, alter, common_lead, damage

ENVELOPE = ("apply_patch",)
# In these, the old text must not be in the file.
STALE_TRAPS = ("trap_removed", "trap_already", "trap_other", "trap_inside", "trap_between")


OMISSIONS = {
    "in_slashes": "// ... existing code ...",
    "existing_code": "... existing code ...",
    "rest_unchanged": "rest of the code unchanged",
    "remains_the_same": "... (the rest remains the same) ...",
}


def holds(lines: Sequence[str], part: Sequence[str]) -> bool:
    """Check whether lines are somewhere in others, whatever their blanks."""
    wanted, keys = [key(line) for line in part], [key(line) for line in lines]
    return any(keys[i : i + len(wanted)] == wanted for i in range(len(keys)))


def with_lines(draft: Draft, lines: Sequence[str]) -> Draft:
    return replace(draft, source=replace(draft.source, lines=tuple(lines)))


def applied(draft: Draft, edit: Callable[[str], str]) -> Draft | None:
    """Give the file the change already, with its new lines written in another way."""
    hunks = [
        replace(hunk, ops=tuple((mark, edit(text) if mark == "+" else text) for mark, text in hunk.ops))
        for hunk in draft.meant
    ]
    after = draft.result(hunks)
    if any(holds(after, hunk.old) or not any(mark == "+" for mark, _ in hunk.ops) for hunk in draft.meant):
        return None
    return with_lines(draft, after)


@damage(*ALL)
def trap_already_applied(draft: Draft, rng: random.Random) -> Draft | None:
    return applied(draft, str)


@damage(*ALL)
def trap_already_applied_indented(draft: Draft, rng: random.Random) -> Draft | None:
    return applied(draft, lambda text: f"    {text}")


@damage(*ALL)
def trap_already_applied_trailing_blanks(draft: Draft, rng: random.Random) -> Draft | None:
    return applied(draft, lambda text: f"{text}  ")


@damage(*ALL)
def trap_already_applied_respaced(draft: Draft, rng: random.Random) -> Draft | None:
    return applied(draft, lambda text: re.sub(r"([=,:]) (?=\S)", r"\1  ", text))


@damage(*ALL)
def trap_already_applied_dedented(draft: Draft, rng: random.Random) -> Draft | None:
    """Quote everything without its indentation after the change was made."""
    made = applied(draft, str)
    return made.map_written(str.lstrip) if made else None


def removed_places(draft: Draft) -> list[tuple[int, int]]:
    """List the removed lines that say enough to be missed."""
    return [
        (at, index)
        for at, hunk in enumerate(draft.meant)
        for index, (mark, text) in enumerate(hunk.ops)
        if mark == "-" and len(re.sub(r"\W", "", text)) > 6
    ]


def change_removed(draft: Draft, rng: random.Random, edit: Callable[[str], str | None]) -> Draft | None:
    """Change in the file one line that the call removes; None takes the line away."""
    lines = draft.source.lines
    places = [(at, draft.meant[at].line_of(index)) for at, index in removed_places(draft)]
    places = [(at, number) for at, number in places if edit(lines[number]) != lines[number]]
    if not places:
        return None
    at, number = rng.choice(places)
    text = edit(lines[number])
    changed = [*lines[:number], *([] if text is None else [text]), *lines[number + 1 :]]
    is_there = any(key(line) == key(lines[number]) for line in changed)
    is_new = text is not None and any(key(text) == key(line) for line in draft.meant[at].side("+"))
    return None if is_there or is_new else with_lines(draft, changed)


@damage(*ALL)
def trap_removed_line_gone(draft: Draft, rng: random.Random) -> Draft | None:
    if not any(mark == "+" for hunk in draft.meant for mark, _ in hunk.ops):
        return None
    return change_removed(draft, rng, lambda text: None)


@damage(*ALL)
def trap_removed_line_rewritten(draft: Draft, rng: random.Random) -> Draft | None:
    statement = make_statement(draft.source, rng)
    return change_removed(draft, rng, lambda text: lead(text) + statement)


@damage(*ALL)
def trap_removed_number_differs(draft: Draft, rng: random.Random) -> Draft | None:
    return change_removed(
        draft, rng, lambda text: re.sub(r"\b\d+\b", lambda m: str(int(m[0]) + 31), text, count=1)
    )


@damage(*ALL)
def trap_removed_name_differs(draft: Draft, rng: random.Random) -> Draft | None:
    return change_removed(draft, rng, lambda text: re.sub(r"\b[a-z_]{5,}\b", "quota_share", text, count=1))


@damage(*ALL)
def trap_removed_line_longer(draft: Draft, rng: random.Random) -> Draft | None:
    """Let the removed line go on in the file with something that the model did not see."""
    words = draft.source.comment("keep: agreed with the vendor")
    return change_removed(draft, rng, lambda text: f"{text}  {words}")


def widen(draft: Draft, count: int = 9) -> Hunk | None:
    """Return the only hunk of a draft with more context, which must be unlike any other place."""
    if len(draft.meant) != 1:
        return None
    wide = diff(draft.source.lines, draft.result(), count)
    return wide[0] if len(wide) == 1 and is_distinct(draft.source.lines, wide[0]) else None


def omission_span(source: Source, hunk: Hunk) -> tuple[int, int] | None:
    """Find context lines that a placeholder can stand for: at least four, between lines that occur once."""
    changed = [i for i, (mark, _) in enumerate(hunk.ops) if mark != " "]
    keys = [key(line) for line in source.lines]

    def is_anchor(index: int) -> bool:
        word = key(hunk.ops[index][1])
        return len(word) > 5 and keys.count(word) == 1

    for first, last in ((0, changed[0] - 1), (changed[-1] + 1, len(hunk.ops) - 1)):
        anchors = [i for i in range(first, last + 1) if is_anchor(i)]
        if anchors and anchors[-1] - anchors[0] > 4:
            return anchors[0] + 1, anchors[-1]
    return None


def omit(draft: Draft, words: str, is_trap: bool) -> Draft | None:
    hunk = widen(draft)
    span = omission_span(draft.source, hunk) if hunk else None
    if not hunk or not span:
        return None
    omitted = hunk.ops[slice(*span)]
    note = lead(omitted[0][1]) + (words if words.startswith("//") else draft.source.comment(words))
    ops: list[Op] = [*(("-", text) for _, text in omitted), ("+", note)] if is_trap else [(" ", note)]
    made = replace(draft, meant=(hunk,), written=(hunk,))
    return made.write(0, [*hunk.ops[: span[0]], *ops, *hunk.ops[span[1] :]])


def omission(words: str, is_trap: bool) -> Maker:
    return lambda draft, rng: omit(draft, words, is_trap)


DAMAGES += [
    Damage(f"placeholder_in_both_{name}", ALL, omission(words, False)) for name, words in OMISSIONS.items()
]
DAMAGES += [
    Damage(f"trap_placeholder_{name}", ALL, omission(words, True)) for name, words in OMISSIONS.items()
]


@damage(*ALL)
def trap_other_file(draft: Draft, rng: random.Random) -> Draft | None:
    there = {key(line) for line in draft.other.lines}
    old = [key(line) for hunk in draft.meant for line in hunk.old if len(key(line)) > 4]
    if not old or draft.other.path == draft.source.path or sum(word in there for word in old) * 2 > len(old):
        return None
    return with_lines(draft, draft.other.lines)


@damage(*ALL)
def trap_inside_invented(draft: Draft, rng: random.Random) -> Draft | None:
    """Quote the first and the last line rightly, and remove lines between them that never were there."""
    hunk = draft.meant[0]
    old = [line for line in hunk.old if line.strip()]
    if len(old) < 5:
        return None
    invented = [("-", lead(line) + make_statement(draft.source, rng)) for line in old[1:-1]]
    added = ("+", lead(old[1]) + make_statement(draft.source, rng))
    return draft.write(0, [(" ", old[0]), *invented, added, (" ", old[-1])])


@damage(*ALL)
def trap_between_twins(draft: Draft, rng: random.Random) -> Draft | None:
    """Quote lines that differ in one word from each of two places."""
    hunk = draft.meant[0]
    places = [
        i for i, (mark, text) in enumerate(hunk.ops) if mark == " " and re.search(r"\b[a-z_]{4,}\b", text)
    ]
    if len(draft.meant) > 1 or not places:
        return None
    index = rng.choice(places)

    def vary(ending: str) -> str:
        return re.sub(r"\b([a-z_]{4,})\b", rf"\1_{ending}", hunk.ops[index][1], count=1)

    made = draft.with_file_line(0, index, vary("one"))
    twin = replace(hunk, ops=tuple(alter(hunk.ops, index, vary("two")))).old
    made = with_lines(made, [*made.source.lines, "", *twin, "", ""])
    return replace(made.write(0, alter(hunk.ops, index, vary("six"))), numbers="bare")


@damage(*ALL)
def trap_occurs_twice(draft: Draft, rng: random.Random) -> Draft | None:
    if len(draft.meant) > 1:
        return None
    twin = draft.meant[0].old
    return replace(with_lines(draft, [*draft.source.lines, "", *twin, "", ""]), numbers="bare")


@damage(*ALL)
def trap_occurs_twice_indented(draft: Draft, rng: random.Random) -> Draft | None:
    """Write an indentation that neither of two places has."""
    texts = [text for hunk in draft.meant for _, text in hunk.ops]
    indent = common_lead(texts)
    if len(draft.meant) > 1 or len(indent) < 2:
        return None
    twin = [indent + line if line.strip() else line for line in draft.meant[0].old]
    made = with_lines(draft, [*draft.source.lines, "", *twin, "", ""])
    return replace(made.map_written(lambda text: text.removeprefix(indent)), numbers="bare")


def replaced_hunks(draft: Draft) -> list[Hunk]:
    return [h for h in draft.written if {"-", "+"} <= {mark for mark, _ in h.ops}]


@damage(*DIFFS)
def trap_overlapping_hunks(draft: Draft, rng: random.Random) -> Draft | None:
    """Replace the same lines by two different things."""
    hunks = replaced_hunks(draft)
    if not hunks:
        return None
    hunk = rng.choice(hunks)
    statement = make_statement(draft.source, rng)
    second = replace(hunk, ops=tuple((m, lead(t) + statement if m == "+" else t) for m, t in hunk.ops))
    return replace(draft, meant=(hunk, second), written=(hunk, second))


@damage(*DIFFS)
def trap_same_hunk_twice(draft: Draft, rng: random.Random) -> Draft | None:
    hunks = replaced_hunks(draft)
    return replace(draft, meant=(hunks[0],) * 2, written=(hunks[0],) * 2) if hunks else None


@damage(*DIFFS)
def trap_one_hunk_invented(draft: Draft, rng: random.Random) -> Draft | None:
    old, new, around, after = (make_statement(draft.source, rng) for _ in range(4))
    last = draft.meant[-1]
    invented = Hunk(last.start + len(last.old), ((" ", around), ("-", old), ("+", new), (" ", after)))
    return replace(draft, meant=(*draft.meant, invented), written=(*draft.written, invented))


@damage(*DIFFS)
def trap_missing_file(draft: Draft, rng: random.Random) -> Draft | None:
    return replace(draft, files={f"other-{draft.source.path}": draft.other.text()})


@damage(*ENVELOPE)
def trap_delete_missing_file(draft: Draft, rng: random.Random) -> Draft | None:
    both = arguments(draft)["patch"].replace("*** End Patch", "*** Delete File: not-there.txt\n*** End Patch")
    return with_patch(draft, both)


def block_end(lines: Sequence[str], start: int) -> int:
    """Return the first line that is not part of the block whose head is at start."""
    indent = len(lead(lines[start]))
    rest = range(start + 1, len(lines))
    return next((i for i in rest if lines[i].strip() and len(lead(lines[i])) <= indent), len(lines))


def wrong_anchor(draft: Draft, rng: random.Random, is_below: bool) -> Draft | None:
    """Name a def or a class that the place of the hunk is not in."""
    lines, hunk = draft.source.lines, draft.written[0]
    if draft.source.suffix != ".py" or len(draft.written) > 1 or not lead(hunk.old[0]):
        return None
    heads = [
        i
        for i, line in enumerate(lines)
        if re.match(r"\s*(def|class) \w+.*:$", line) and lines.count(line) == 1
    ]
    end = hunk.start + len(hunk.old)
    found = [i for i in heads if (i >= end if is_below else block_end(lines, i) <= hunk.start)]
    return with_patch(draft, envelope(draft, [f"@@ {lines[rng.choice(found)].strip()}"])) if found else None


@damage(*ENVELOPE)
def trap_anchor_of_later_block(draft: Draft, rng: random.Random) -> Draft | None:
    return wrong_anchor(draft, rng, is_below=True)


@damage(*ENVELOPE)
def trap_anchor_of_earlier_block(draft: Draft, rng: random.Random) -> Draft | None:
    return wrong_anchor(draft, rng, is_below=False)
