"""Damage the lines of a change in the ways that concern every editing tool."""

import html
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bench.edit_damage_changes import (
    WORDS,
    Draft,
    Op,
    diff,
    is_distinct,
    lead,
)

Maker = Callable[[Draft, random.Random], Draft | None]
ALL = ("edit", "patch", "apply_patch")
DIFFS = ("patch", "apply_patch")
EXACT = "exact"
# What the file has in a remark at the end of a line, and what the model quotes instead.
MISQUOTED = {
    "em_dash_as_hyphen": ("limit — the usual", "limit - the usual"),
    "em_dash_as_two": ("limit — the usual", "limit -- the usual"),
    "en_dash_as_hyphen": ("pages 3–9", "pages 3-9"),
    "em_dash_escaped": ("limit — the usual", "limit \\u2014 the usual"),
    "double_quotes_straightened": ("the “usual” limit", 'the "usual" limit'),
    "apostrophe_straightened": ("the user’s limit", "the user's limit"),
    "ellipsis_spelled": ("and so on… until", "and so on... until"),
    "full_width_as_ascii": ("limit（3），usual", "limit(3),usual"),
    "no_break_space_as_blank": ("about 30\u00a0km", "about 30 km"),
    "composed_as_decomposed": ("café closed", unicodedata.normalize("NFD", "café closed")),
    "decomposed_as_composed": (unicodedata.normalize("NFD", "café closed"), "café closed"),
    "accent_as_mojibake": ("café closed", "cafÃ© closed"),
    "accent_replaced": ("café closed", "caf\ufffd closed"),
    "zero_width_lost": ("zero\u200bwidth", "zerowidth"),
    "variation_selector_lost": ("done ✔\ufe0f at last", "done ✔ at last"),
    "quotes_curled": ('the "usual" limit', "the “usual” limit"),
    "hyphen_as_em_dash": ("limit - the usual", "limit — the usual"),
    "ascii_as_full_width": ("limit(3),usual", "limit（3），usual"),
    "blank_as_no_break_space": ("about 30 km", "about 30\u00a0km"),
}


@dataclass(frozen=True, slots=True)
class Damage:
    """Names a kind of damage, the tools it concerns, and how it is done."""

    name: str
    kinds: tuple[str, ...]
    make: Maker

    @property
    def is_trap(self) -> bool:
        return self.name.startswith("trap_")


DAMAGES: list[Damage] = []


def damage(*kinds: str) -> Callable[[Maker], Maker]:
    """Register a function under its own name."""

    def register(make: Maker) -> Maker:
        DAMAGES.append(Damage(getattr(make, "__name__", ""), kinds, make))
        return make

    return register


def context_places(draft: Draft) -> list[tuple[int, int, str]]:
    """List (hunk, index, text) of the context lines that are not blank."""
    return [
        (at, index, text)
        for at, hunk in enumerate(draft.written)
        for index, (mark, text) in enumerate(hunk.ops)
        if mark == " " and text.strip()
    ]


def alter(ops: Sequence[Op], index: int, text: str) -> list[Op]:
    return [*ops[:index], (ops[index][0], text), *ops[index + 1 :]]


def alter_context(draft: Draft, rng: random.Random, edit: Callable[[str], str]) -> Draft | None:
    """Write one context line otherwise than the file has it."""
    places = [place for place in context_places(draft) if edit(place[2]) != place[2]]
    if not places:
        return None
    at, index, text = rng.choice(places)
    return draft.write(at, alter(draft.written[at].ops, index, edit(text)))


def alter_file(draft: Draft, rng: random.Random, edit: Callable[[str], str]) -> Draft | None:
    """Let the file have one context line otherwise than the model writes it."""
    places = [place for place in context_places(draft) if edit(place[2]) != place[2]]
    if not places:
        return None
    at, index, text = rng.choice(places)
    return draft.with_file_line(at, index, edit(text))


def misquote(in_file: str, quoted: str) -> Maker:
    def make(draft: Draft, rng: random.Random) -> Draft | None:
        places = [place for place in context_places(draft) if not place[2].endswith("\\")]
        if not places:
            return None
        at, index, text = rng.choice(places)
        there, here = (f"{text}  {draft.source.comment(words)}" for words in (in_file, quoted))
        return draft.write(at, alter(draft.written[at].ops, index, here)).with_file_line(at, index, there)

    return make


DAMAGES += [Damage(name, ALL, misquote(*pair)) for name, pair in MISQUOTED.items()]


@damage(*ALL)
def exact(draft: Draft, rng: random.Random) -> Draft | None:
    return draft


@damage(*ALL)
def inner_blanks_more(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_context(draft, rng, lambda text: re.sub(r"(\S) (\S)", r"\1  \2", text, count=1))


@damage(*ALL)
def inner_blanks_fewer(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_context(draft, rng, lambda text: re.sub(r"([,=:{]) (?=\S)", r"\1", text))


@damage(*ALL)
def aligned_in_file(draft: Draft, rng: random.Random) -> Draft | None:
    gap = " " * rng.randint(2, 6)
    return alter_file(draft, rng, lambda text: re.sub(r"(\S) ([=:#\"'(\w])", rf"\1{gap}\2", text, count=1))


@damage(*ALL)
def inner_tab_in_file(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_file(draft, rng, lambda text: re.sub(r"(\S) (\S)", "\\1\t\\2", text, count=1))


def table_draft(draft: Draft, rng: random.Random, is_removal: bool) -> Draft | None:
    """Put an aligned table into the file, whose rows the model writes with single blanks."""
    rows = [
        f"{word:<12} = {n:<8} {draft.source.comment(f'row {n}')}"
        for n, word in enumerate(rng.sample(WORDS, 6), 10)
    ]
    at = rng.randrange(len(draft.source.lines) + 1)
    head, tail = draft.source.lines[:at], draft.source.lines[at:]
    long, short = (*head, *rows, *tail), (*head, *rows[:3], *rows[4:], *tail)
    before, after = (long, short) if is_removal else (short, long)
    hunks = tuple(diff(before, after, 2))
    if len(hunks) != 1 or not is_distinct(before, hunks[0]):
        return None
    meant = hunks
    if not is_removal:
        meant = (replace(hunks[0], ops=tuple((m, collapse(t) if m == "+" else t) for m, t in hunks[0].ops)),)
    made = replace(draft, source=replace(draft.source, lines=before), meant=meant, written=hunks)
    return made.map_written(collapse)


def collapse(text: str) -> str:
    return lead(text) + re.sub(r"\s+", " ", text.strip())


@damage(*ALL)
def table_row_added(draft: Draft, rng: random.Random) -> Draft | None:
    return table_draft(draft, rng, is_removal=False)


@damage(*ALL)
def table_row_removed(draft: Draft, rng: random.Random) -> Draft | None:
    return table_draft(draft, rng, is_removal=True)


@damage(*ALL)
def trailing_blanks_written(draft: Draft, rng: random.Random) -> Draft | None:
    return draft.map_written(lambda text: text + "  " if text else "    ", " -")


@damage(*ALL)
def trailing_blanks_in_file(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_file(draft, rng, lambda text: text + "   ")


@damage(*ALL)
def quote_style(draft: Draft, rng: random.Random) -> Draft | None:
    swap = str.maketrans("'\"", "\"'")
    return alter_context(
        draft, rng, lambda text: text.translate(swap) if re.search(r"(['\"])\w+\1", text) else text
    )


def mistype(text: str) -> str:
    return re.sub(r"\b([A-Za-z]{2})([A-Za-z])([A-Za-z]{3,})", r"\1\3", text, count=1)


def has_much_context(draft: Draft) -> bool:
    return all(sum(mark == " " and bool(text.strip()) for mark, text in h.ops) >= 3 for h in draft.written)


@damage(*ALL)
def letter_lost_in_context(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_context(draft, rng, mistype) if has_much_context(draft) else None


@damage(*ALL)
def backslashes_doubled(draft: Draft, rng: random.Random) -> Draft | None:
    return alter_context(draft, rng, lambda text: text.replace("\\", "\\\\"))


def inner_context(draft: Draft, is_blank: bool) -> list[tuple[int, int]]:
    """List the context lines that are between two others."""
    found = []
    for at, hunk in enumerate(draft.written):
        for i in range(1, len(hunk.ops) - 1):
            around = {hunk.ops[i - 1][0], hunk.ops[i][0], hunk.ops[i + 1][0]}
            if around == {" "} and is_blank != bool(hunk.ops[i][1].strip()):
                found.append((at, i))
    return found


def drop_line(draft: Draft, rng: random.Random, is_blank: bool) -> Draft | None:
    places = inner_context(draft, is_blank)
    if not places:
        return None
    at, i = rng.choice(places)
    return draft.write(at, [*draft.written[at].ops[:i], *draft.written[at].ops[i + 1 :]])


@damage(*ALL)
def context_line_lost(draft: Draft, rng: random.Random) -> Draft | None:
    return drop_line(draft, rng, is_blank=False)


@damage(*ALL)
def blank_line_lost(draft: Draft, rng: random.Random) -> Draft | None:
    return drop_line(draft, rng, is_blank=True)


@damage(*ALL)
def blank_line_invented(draft: Draft, rng: random.Random) -> Draft | None:
    places = inner_context(draft, is_blank=False)
    if not places:
        return None
    at, i = rng.choice(places)
    return draft.write(at, [*draft.written[at].ops[:i], (" ", ""), *draft.written[at].ops[i:]])


def common_lead(lines: Sequence[str]) -> str:
    leads = [lead(line) for line in lines if line.strip()]
    shortest = min(leads, key=len, default="")
    return shortest if all(other.startswith(shortest) for other in leads) else ""


def shared_lead(draft: Draft) -> str:
    return common_lead([text for hunk in draft.written for _, text in hunk.ops])


@damage(*ALL)
def dedented(draft: Draft, rng: random.Random) -> Draft | None:
    indent = shared_lead(draft)
    return draft.map_written(lambda text: text.removeprefix(indent)) if indent else None


@damage(*ALL)
def indented_one_less(draft: Draft, rng: random.Random) -> Draft | None:
    indent = shared_lead(draft)
    return draft.map_written(lambda text: text.removeprefix(indent[:1])) if indent else None


def write_old_otherwise(draft: Draft, edit: Callable[[str], str]) -> Draft:
    """Change the old lines only: of an edit its old string, of a diff the context and what it removes."""
    if draft.kind != "edit":
        return draft.map_written(edit, " -")
    hunk = draft.written[0]
    return replace(draft, args=edit_args(draft, "\n".join(map(edit, hunk.old)), "\n".join(hunk.new)))


def edit_args(draft: Draft, old: str, new: str) -> dict[str, object]:
    return {"path": draft.source.path, "old_string": old, "new_string": new, "replace_all": False}


def is_level_clear(draft: Draft) -> bool:
    """Check that the indentation of what is added can only be that of the lines around it."""
    if draft.kind == "edit":
        return any(mark == " " and text.strip() for mark, text in draft.written[0].ops)
    ops = [op for hunk in draft.written for op in hunk.ops if op[1].strip()]
    opens = any(after[0] == "+" and re.search(r"[:(\[{,\\]$", before[1]) for before, after in pairwise(ops))
    return draft.source.suffix == ".py" and not opens


@damage(*ALL)
def only_old_dedented(draft: Draft, rng: random.Random) -> Draft | None:
    indent = shared_lead(draft) if is_level_clear(draft) else ""
    return write_old_otherwise(draft, lambda text: text.removeprefix(indent)) if indent else None


@damage(*ALL)
def only_old_indented_one_more(draft: Draft, rng: random.Random) -> Draft | None:
    for hunk in draft.written:
        old, added = ({lead(line) for line in hunk.side(marks) if line.strip()} for marks in (" -", "+"))
        # The new lines must be indented like lines of the file, and not if they too are read as one more.
        if not added <= old or any(indent[1:] in old for indent in added):
            return None
    return write_old_otherwise(draft, lambda text: " " + text if text.strip() else text)


def shows_indentation(draft: Draft) -> bool:
    """Check that the old lines of every hunk show how the model indents."""
    return all(any(lead(line) for line in hunk.old) for hunk in draft.written)


@damage(*ALL)
def tabs_as_blanks(draft: Draft, rng: random.Random) -> Draft | None:
    if not shows_indentation(draft):
        return None
    return draft.map_written(lambda text: lead(text).replace("\t", "    ") + text.lstrip(" \t"))


@damage(*ALL)
def blanks_as_tabs(draft: Draft, rng: random.Random) -> Draft | None:
    leads = {lead(text) for hunk in draft.written for _, text in hunk.ops}
    if any(len(indent) % 4 or "\t" in indent for indent in leads) or not shows_indentation(draft):
        return None
    return draft.map_written(lambda text: lead(text).replace("    ", "\t") + text.lstrip(" \t"))


@damage(*ALL)
def indentation_halved(draft: Draft, rng: random.Random) -> Draft | None:
    for hunk in draft.written:
        old, new = ({lead(line) for line in side if line.strip()} for side in (hunk.old, hunk.new))
        if any(len(indent) % 4 or "\t" in indent for indent in old) or not new <= old:
            return None
    return draft.map_written(lambda text: text[len(lead(text)) // 2 :])


def escape_lines(
    draft: Draft, found: str, edit: Callable[[str], str], is_old_only: bool = False
) -> Draft | None:
    """Escape characters on every line, if the old lines of each hunk show it and no line has an escape."""
    texts = [text for hunk in draft.written for _, text in hunk.ops]
    is_shown = all(any(re.search(found, line) for line in hunk.old) for hunk in draft.written)
    if (
        not is_shown
        or draft.source.suffix in (".html", ".md")
        or any(re.search(r"&\w+;|\\", text) for text in texts)
    ):
        return None
    return write_old_otherwise(draft, edit) if is_old_only else draft.map_written(edit)


@damage(*ALL)
def html_entities(draft: Draft, rng: random.Random) -> Draft | None:
    return escape_lines(draft, "[<>&]", lambda text: html.escape(text, quote=False))


@damage(*ALL)
def html_entities_and_quotes(draft: Draft, rng: random.Random) -> Draft | None:
    return escape_lines(draft, "[<>&\"']", html.escape)


@damage(*ALL)
def html_entities_in_old_only(draft: Draft, rng: random.Random) -> Draft | None:
    return escape_lines(draft, "[<>&]", lambda text: html.escape(text, quote=False), is_old_only=True)


@damage(*ALL)
def quotes_escaped(draft: Draft, rng: random.Random) -> Draft | None:
    return escape_lines(draft, '"', lambda text: text.replace('"', '\\"'))


@damage(*ALL)
def stale_and_twin_indented(draft: Draft, rng: random.Random) -> Draft | None:
    """Quote a place with a letter lost, while the file also has the same lines at another indentation."""
    made = letter_lost_in_context(draft, rng)
    if made is None or len(draft.meant) != 1:
        return None
    twin = [f"    {line}" if line.strip() else line for line in draft.meant[0].old]
    return replace(made, source=replace(draft.source, lines=(*draft.source.lines, "", *twin)))
