"""Read what a model's two strings cannot mean literally: placeholders, signs of a diff, joined lines.

Each is corrected if its meaning is certain, otherwise refused.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import normalize

_COMMENT = re.compile(
    r"(?:\{/\*|/\*+|<!--|//+|#+|--|;+|%+|\"\"\"|'''|\*)\s*(?P<inner>.*?)\s*(?:\*/\}|\*/|-->|\"\"\"|''')?"
)
_BRACKETS = re.compile(r"[\[(<{]\s*(?P<inner>.*?)\s*[\])>}]")
_DOTS = re.compile(r"(?:\.{3,}|…)")
_THING = (
    r"(?:code|lines?|contents?|implementation|logic|methods?|functions?|class(?:es)?|body|imports?|file|module|"
    r"tests?|fields?|properties|entries|items|rules|styles|markup|settings|config(?:uration)?|definitions?|"
    r"section|block|cases?|script|page|component|columns?|options|parameters|arguments|statements?)"
)
_STATE = (
    r"(?:(?:remains?|stays?|is|are|goes|go|continues?|follows?|kept|left|omitted|unchanged|unmodified|"
    r"the same|same|as before|as is|as-is|here|above|below|for brevity)\s*)"
)
_VERB = r"(?:(?:keep|leave|insert|add|put)(?: the| your| all)? )?"
_OF = r"(?: of)?(?: (?:the|this|your|my|our))?"
_LEFT_OUT = r"rest|remainder|remaining|existing|unchanged"
_BEGINNING = rf"{_VERB}(?:the |your |all )?(?:{_LEFT_OUT}|previous|original|other|same)"
_PHRASE = re.compile(
    rf"{_VERB}(?:the |your |all )?(?:{_LEFT_OUT}){_OF} {_THING}\s*[-:,(]?\s*{_STATE}*\)?"
    rf"|{_BEGINNING}{_OF}(?: \w+)?(?: {_THING})?\s*[-:,(]?\s*{_STATE}+\)?"
    rf"|(?:{_THING} )?(?:unchanged|unmodified|omitted(?: for brevity)?|same as (?:before|above)|as before)"
    rf"|no (?:other |further )?changes?(?: {_STATE}+| needed| required)",
    re.IGNORECASE,
)
_LOOSE_PHRASE = re.compile(
    rf"\b(?:existing|previous|original|rest|remaining|unchanged|omitted|same|other)\b|\b{_THING}$",
    re.IGNORECASE,
)
_LONGEST_PLACEHOLDER = 120
_MOST_WORDS = 8


def is_placeholder(line: str) -> bool:
    """Return whether a line says that code was left out, such as `# ... existing code ...`."""
    text = line.strip()
    if not text or len(text) > _LONGEST_PLACEHOLDER:
        return False
    found = _COMMENT.fullmatch(text) or _BRACKETS.fullmatch(text)
    inner = found["inner"] if found else text
    if bare := _BRACKETS.fullmatch(inner):
        inner = bare["inner"]
    words = _DOTS.sub(" ", inner).strip(" .:-\t")
    begins, ends = _DOTS.match(inner), inner.rstrip().endswith(("...", "\u2026"))
    if not words:
        # Dots alone are code in Python, and text elsewhere.
        return bool(begins) and found is not None
    if len(words.split()) > _MOST_WORDS:
        return False
    if begins and _LOOSE_PHRASE.search(words):
        return True
    is_marked = found is not None or bool(begins or ends)
    if found is not None and ends and re.match(_BEGINNING, words, re.IGNORECASE):
        return True
    return is_marked and _PHRASE.fullmatch(words.strip("() ")) is not None


def refuse_placeholders(new: Iterable[str], known: frozenset[str]) -> None:
    """Raise if a new line only stands for code that was left out. Those in `known` are text."""
    for line in new:
        if is_placeholder(line) and line.strip() not in known:
            raise ToolError(
                ErrorType.INVALID_TOOL_PARAMS,
                f"invalid args: new text has a placeholder for code that was left out: {line.strip()[:80]!r}",
                "Write the lines out, or edit only the lines that change.",
            )


_NUMBERED = re.compile(r"[ \t]*\d+(?:\t|\u2192)")
_NUMBERED_LINE = re.compile(rf"^{_NUMBERED.pattern}", re.MULTILINE)


def refuse_numbers(new: Iterable[str], text: str) -> None:
    """Raise if new lines begin with line numbers, as tools show them, and the file's text has none."""
    found = next((line for line in new if _NUMBERED.match(line)), None)
    if found is not None and not _NUMBERED_LINE.search(text):
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            f"invalid args: new text has line numbers: {found.strip()[:80]!r}",
            "Write the lines without numbers.",
        )


_SIGNED_NAMES = (".diff", ".patch", ".md", ".markdown", ".rst", ".txt", ".adoc")


def without_signs(name: str, old: str, new: str, known: frozenset[str]) -> tuple[str, str]:
    """Remove the signs of a diff if every line has one; raise if only some of the new lines do."""
    if "+" not in new or name.endswith(_SIGNED_NAMES):
        return old, new
    old_lines, new_lines = _filled(old), _filled(new)
    signed = [line for line in new_lines if line[0] == "+" and line.strip() not in known]
    if not signed or any(line[0] == "+" for line in old_lines) or not _look_signed(signed, old_lines):
        return old, new
    if all(line[0] in "+ " for line in new_lines) and all(line[0] in "- " for line in old_lines):
        if any(line[0] == "-" for line in old_lines):
            return _cut_signs(old), _cut_signs(new)
        if len(signed) == len(new_lines):
            return old, _cut_signs(new)
    elif len(signed) == len(new_lines):
        return old, _cut_signs(new)
    raise ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: new_string: some of its lines begin with the + of a diff",
        "Write the new lines without signs, or use a tool for patches.",
    )


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _look_signed(signed: list[str], old: list[str]) -> bool:
    """Return whether the lines are indented like code behind their sign, not text that begins with a plus."""
    leads = {normalize.lead(line) for line in old} | {
        normalize.lead(line[1:]) for line in old if line[0] in "- "
    }
    bodies = [line[1:] for line in signed]
    is_whole = len(signed) > 1 or bool(normalize.lead(bodies[0])) or len(old) > 1
    return is_whole and any(
        normalize.lead(body) in leads or normalize.lead(body) or body[:1].isalpha() for body in bodies
    )


def _cut_signs(text: str) -> str:
    return "\n".join(line[1:] if line[:1] in ("+", "-", " ") else line for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class Exchange:
    """`new` comes for `text[start:end]`."""

    start: int
    end: int
    new: str


_ALIKE = 60.0
_SAME = 100.0


def whole_lines(text: str, start: int, old: str, new: str) -> Exchange:
    """Repair an exact replacement that would glue two lines, leave an empty one or indent the first twice."""
    end = start + len(old)
    line_start = text.rfind("\n", 0, start) + 1
    lead = text[line_start:start]
    if _loses_first_end(text, start, old, new or " "):
        new = "\n" + new
    if lead.strip(" \t"):
        return Exchange(start, end, new)
    ends_line = old.endswith("\n") or text[end : end + 1] in ("", "\n")
    if not new:
        if not ends_line:
            return Exchange(start, end, new)
        has_newline = not old.endswith("\n") and end < len(text)
        return Exchange(line_start, end + has_newline, new)
    if old.endswith("\n") and not new.endswith(("\n", " ", "\t", "\\")) and end < len(text):
        new += "\n"
    if lead and old[0] not in " \t\n" and new.startswith(lead):
        new = new.removeprefix(lead)
    return Exchange(start, end, _with_first_lead(old, new) if not lead else new)


def _loses_first_end(text: str, start: int, old: str, new: str) -> bool:
    """Return whether the old text begins with the end of the line above, and the new text would join it."""
    if not old.startswith("\n") or new.startswith("\n") or not start or text[start - 1] == "\n":
        return False
    lead = normalize.lead(old.lstrip("\n"))
    return new.startswith(lead) if lead else text[start - 1].isalnum() and new[0].isalnum()


def _with_first_lead(old: str, new: str) -> str:
    """Restore the indentation of the first line if only that line of several lost it."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    lead = normalize.lead(old)
    rest = {normalize.lead(line) for line in new_lines[1:] if line.strip()}
    if not lead or not rest or len(old_lines) < 2 or normalize.lead(new):
        return new
    alike = fuzz.ratio(old_lines[0].strip(), new_lines[0].strip())
    is_kept = rest <= {normalize.lead(line) for line in old_lines[1:] if line.strip()}
    return lead + new if alike >= _SAME or (alike >= _ALIKE and is_kept) else new


_QUOTED = re.compile(r"""(["'`])(?:\\.|(?!\1).)*\1""")


def refuse_lost_blanks(old: str, new: str) -> None:
    """Raise if the new text seems to have lost its indentation, or to have its line ends written out.

    Both may be meant, but hardly in an edit that changes the same lines as well.
    """
    olds, news = _filled(old), _filled(new)
    if not olds or not news:
        return
    is_one_line = len(olds) > 1 and "\n" not in new
    if is_one_line and "\\n" not in old and "\\n" in _QUOTED.sub("", new):
        raise _lost("has \\n in place of line ends", "Write real line ends.")
    bodies, kept = [line.strip() for line in news], [line.strip() for line in olds]
    least = _least_lead(olds)
    if not least or bodies == kept or set(olds) & set(news) or _least_lead(news).startswith(least):
        return
    if set(bodies) & set(kept) or fuzz.ratio(kept[0], bodies[0]) >= _ALIKE:
        hint = "If that is meant, change the indentation in an edit of its own."
        raise _lost("is indented less than old_string", hint)


def _least_lead(lines: list[str]) -> str:
    return min((normalize.lead(line) for line in lines), key=len)


def _lost(what: str, hint: str) -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: new_string: it {what}", hint)


def is_already_there(text: str, start: int, old: str, new: str) -> bool:
    """Return whether the file already has the new text around the old one, so that it was added before."""
    if len(new) <= len(old):
        return False
    at = new.find(old)
    while at >= 0:
        if start >= at and text.startswith(new, start - at):
            return True
        at = new.find(old, at + 1)
    return False


def lines_of(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(text.strip() for text in texts)
