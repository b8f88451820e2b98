"""Damage the old and the new text of an edit, and make sequences of edits."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bench.edit_damage_calls import sides
from bench.edit_damage_changes import WORDS, Draft, Hunk, Source, diff, is_distinct, key, lead, make_statement
from bench.edit_damage_hunks import DAMAGES, Damage, common_lead, damage, edit_args

EDIT = ("edit",)
Strings = Callable[[str, str, Draft, random.Random], tuple[str, str] | None]
# Files whose lines may begin like a line number or like a mark of a diff.
MISTAKABLE = (".md", ".yaml", ".toml", ".css")
NUMBERS = {
    "tab": "{:>6}\t",
    "arrow": "{:>6}→",
    "colon": "{}: ",
    "bar": "{}|",
    "spaced_bar": "{:>4} | ",
    "bracket": "[{}] ",
    "letter": "L{}: ",
    "grep": "lib/file.txt:{}:",
}


def strings(edit: Strings) -> Strings:
    """Register a damage of the two strings under the name of its function."""
    register(getattr(edit, "__name__", ""), edit)
    return edit


def register(name: str, edit: Strings) -> None:
    def make(draft: Draft, rng: random.Random) -> Draft | None:
        pair = edit(*sides(draft), draft, rng)
        return replace(draft, args=edit_args(draft, *pair)) if pair else None

    DAMAGES.append(Damage(name, EDIT, make))


def both(name: str, change: Callable[[str], str]) -> None:
    """Register a damage that is done to both strings alike."""

    def make(draft: Draft, rng: random.Random) -> Draft | None:
        old, new = sides(draft)
        return replace(draft, args=edit_args(draft, change(old), change(new))) if old and new else None

    DAMAGES.append(Damage(name, EDIT, make))


def has_escapes(draft: Draft) -> bool:
    return any("\\" in text for _, text in draft.written[0].ops)


both("newline_at_both_ends", lambda text: f"\n{text}\n")
both("both_fenced", lambda text: f"```\n{text}\n```")
both("both_in_json", json.dumps)
both("both_in_cdata", lambda text: f"<![CDATA[{text}]]>")
both("both_crlf", lambda text: text.replace("\n", "\r\n"))


def number_lines(text: str, start: int, form: str, is_numbered: Callable[[int], bool]) -> str:
    lines = text.split("\n")
    return "\n".join(
        form.format(start + i) + line if is_numbered(i) else line for i, line in enumerate(lines)
    )


def add_numbers(form: str, is_numbered: Callable[[int], bool], is_old_only: bool = False) -> Strings:
    def edit(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
        start = draft.written[0].start + 1
        if draft.source.suffix in MISTAKABLE or not new or re.search(r"^\s*[\[L\d]", f"{old}\n{new}", re.M):
            return None
        numbered = number_lines(old, start, form, is_numbered)
        return numbered, new if is_old_only else number_lines(new, start, form, is_numbered)

    return edit


def register_numbers() -> None:
    for name, form in NUMBERS.items():
        register(f"line_numbers_{name}", add_numbers(form, lambda index: True))
    register("line_numbers_on_first", add_numbers("{:>6}\t", lambda index: index == 0))
    register("line_numbers_on_every_other", add_numbers("{:>6}\t", lambda index: index % 2 == 0))
    register("line_numbers_in_old_only", add_numbers("{:>6}\t", lambda index: True, is_old_only=True))


register_numbers()


@strings
def both_stripped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    ops = draft.written[0].ops
    are_context = all(mark == " " and text.strip() for mark, text in (ops[0], ops[-1]))
    return (old.strip(), new.strip()) if are_context else None


@strings
def old_first_line_stripped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return (old.lstrip(" \t"), new) if draft.written[0].ops[0][0] == " " else None


@strings
def new_first_line_stripped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return (old, new.lstrip(" \t")) if draft.written[0].ops[0][0] == " " and old.strip() else None


@strings
def only_new_dedented(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    """Dedent the new text, if its context lines show it and the language needs the indentation."""
    indent = common_lead([*old.split("\n"), *new.split("\n")])
    is_shown = sum(mark == " " and bool(text.strip()) for mark, text in draft.written[0].ops) > 1
    if draft.source.suffix != ".py" or not indent or not is_shown:
        return None
    return old, re.sub(f"^{indent}", "", new, flags=re.M)


@strings
def newline_lost_in_new(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    """End the old text with a newline and the new one without, which would join two lines."""
    hunk = draft.written[0]
    has_next = hunk.start + len(hunk.old) < len(draft.source.lines)
    return (f"{old}\n", new) if has_next and hunk.ops[-1][0] == " " and hunk.ops[-1][1].strip() else None


@strings
def deleted_without_newline(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    """Delete whole lines by an empty new text, without naming the newline after them."""
    ops = draft.meant[0].ops
    removed = [i for i, (mark, _) in enumerate(ops) if mark == "-"]
    if not removed or any(mark == "+" for mark, _ in ops) or removed[-1] - removed[0] + 1 != len(removed):
        return None
    hunk = Hunk(draft.meant[0].line_of(removed[0]), tuple(ops[i] for i in removed))
    is_clear = is_distinct(draft.source.lines, hunk) and hunk.old[-1].strip() and hunk.old[0].strip()
    return ("\n".join(hunk.old), "") if is_clear else None


def mark_lines(draft: Draft, marks: str, is_context_marked: bool) -> tuple[str, str] | None:
    """Leave the marks of a diff in both strings."""
    texts = [text for _, text in draft.written[0].ops]
    is_mistakable = draft.source.suffix in MISTAKABLE or any(re.match(r"\s*[-+]", text) for text in texts)
    if is_mistakable or not draft.written[0].new:
        return None
    blank = " " if is_context_marked else ""
    old, new = (
        [
            (mark if mark in marks else "" if mark != " " else blank) + text
            for mark, text in draft.written[0].ops
            if mark in side
        ]
        for side in (" -", " +")
    )
    return "\n".join(old), "\n".join(new)


@strings
def diff_marks_on_all(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return mark_lines(draft, "-+", is_context_marked=True)


@strings
def diff_marks_on_changed(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return mark_lines(draft, "-+", is_context_marked=False)


@strings
def minus_marks_in_old_only(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return mark_lines(draft, "-", is_context_marked=False)


@strings
def minus_on_all_old_plus_on_all_new(
    old: str, new: str, draft: Draft, rng: random.Random
) -> tuple[str, str] | None:
    return (
        (re.sub("^", "-", old, flags=re.M), re.sub("^", "+", new, flags=re.M))
        if mark_lines(draft, "", False)
        else None
    )


@strings
def newlines_escaped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return None if has_escapes(draft) else (old.replace("\n", "\\n"), new.replace("\n", "\\n"))


@strings
def newlines_and_tabs_escaped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    if has_escapes(draft) or "\t" not in old:
        return None
    old, new = (text.replace("\n", "\\n").replace("\t", "\\t") for text in (old, new))
    return old, new


@strings
def only_new_newlines_escaped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return None if has_escapes(draft) or "\n" not in old else (old, new.replace("\n", "\\n"))


@strings
def only_old_newlines_escaped(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return None if has_escapes(draft) or "\n" not in new else (old.replace("\n", "\\n"), new)


@damage(*EDIT)
def path_with_dot(draft: Draft, rng: random.Random) -> Draft | None:
    return replace(draft, args={**edit_args(draft, *sides(draft)), "path": f"./{draft.source.path}"})


@damage(*EDIT)
def replace_all_of_one(draft: Draft, rng: random.Random) -> Draft | None:
    return replace(draft, args={**edit_args(draft, *sides(draft)), "replace_all": True})


@strings
def trap_empty_old(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    return "", new or "x"


@strings
def trap_blank_old(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    text = "\n".join(draft.source.lines)
    blanks = [blank for blank in ("\n", "    ", "\n\n") if text.count(blank) > 1]
    return rng.choice(blanks), new or "x"


def common_line(draft: Draft, rng: random.Random) -> str | None:
    lines = draft.source.lines
    found = [line for line in sorted(set(lines)) if lines.count(line) > 1 and len(key(line)) > 7]
    return rng.choice(found) if found else None


@strings
def trap_common_line(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    line = common_line(draft, rng)
    return (line, f"{line}\n{lead(line)}{make_statement(draft.source, rng)}") if line else None


@strings
def trap_common_line_with_blanks(
    old: str, new: str, draft: Draft, rng: random.Random
) -> tuple[str, str] | None:
    line = common_line(draft, rng)
    spread = re.sub(r"(\S) (\S)", r"\1  \2", line, count=1) if line else None
    if not line or not spread or spread == line or spread in draft.source.text():
        return None
    return spread, f"{lead(line)}{make_statement(draft.source, rng)}"


@strings
def trap_common_word(old: str, new: str, draft: Draft, rng: random.Random) -> tuple[str, str] | None:
    words = re.findall(r"\b[a-z_]{6,}\b", draft.source.text())
    found = sorted({word for word in words if words.count(word) > 1})
    word = rng.choice(found) if found else None
    return (word, f"{word}_{rng.choice(WORDS)}") if word else None


def draft_sequence(kind: str, source: Source, other: Source, rng: random.Random) -> list[Draft]:
    """Make up to five changes near each other, each written against the first text of the file."""
    keys = [key(line) for line in source.lines]
    at = rng.randrange(2, max(3, len(keys) - 25))
    drafts = []
    for _ in range(rng.randint(2, 5)):
        draft = (
            small_change(kind, source, other, at, rng)
            if at < len(keys) and keys.count(keys[at]) == 1
            else None
        )
        if draft:
            drafts.append(draft)
        at += rng.randint(2, 6)
    rng.shuffle(drafts)
    return drafts if len(drafts) > 1 else []


def small_change(kind: str, source: Source, other: Source, at: int, rng: random.Random) -> Draft | None:
    line = source.lines[at]
    statement = lead(line) + make_statement(source, rng)
    instead: Sequence[str] = rng.choice(
        [[statement, line], [statement], [], [f"{line} {source.comment('checked')}"]]
    )
    after = [*source.lines[:at], *instead, *source.lines[at + 1 :]]
    written = tuple(diff(source.lines, after, rng.randint(1, 3)))
    core = tuple(diff(source.lines, after, 0))
    if len(core) != 1 or len(written) != 1 or not is_distinct(source.lines, written[0]):
        return None
    return Draft(kind, source, core, written, other)
