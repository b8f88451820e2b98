"""Read what a model's two strings cannot mean literally: placeholders, signs of a diff, joined lines.

Each is corrected if its meaning is certain, otherwise refused.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing import normalize

_COMMENT = re.compile(r"(?:\{/\*|/\*+|<!--|//+|#|--|;+|%+)\s*(?P<inner>.*?)\s*(?:\*/\}|\*/|-->)?")
_BRACKETS = re.compile(r"[\[(]\s*(?P<inner>.*?)\s*[\])]")
_DOTS = re.compile(r"(?:\.{3,}|…)")
_SPREAD = re.compile(r"(?:\.{3,}|…)[\w$]")
_THING = (
    r"(?:code|lines?|contents?|implementation|logic|methods?|functions?|class(?:es)?|body|imports?|file|module|"
    r"tests?|fields?|properties|entries|items|rules|styles|markup|settings|config(?:uration)?|definitions?|"
    r"section|block|cases?|script|page|component|columns?|options|parameters|arguments|statements?)"
)
_AS_IT_IS = (
    r"(?:(?:remains?|stays?|is|are|kept|left) )?"
    r"(?:unchanged|unmodified|the same|as before|as is|here|omitted(?: for brevity)?)"
)
_REST = r"(?:the )?rest(?: of(?: the| this| your)?(?: \w+){0,2})?"
_PHRASE = re.compile(
    rf"{_REST} {_AS_IT_IS}|(?:the )?rest of (?:the |this |your )?{_THING}(?: \w+)?"
    rf"|(?:the )?(?:existing|remaining|other|previous|original|unchanged) {_THING} {_AS_IT_IS}"
    rf"|(?:existing|remaining|unchanged|previous) (?:code|implementation|logic)"
    rf"|(?:code|implementation) {_AS_IT_IS}",
    re.IGNORECASE,
)
"""What says so without dots, and hardly anything else."""
_DOTTED_PHRASE = re.compile(
    rf"\b(?:existing|previous|original|rest|remaining|unchanged|omitted|same|other)\b|\b{_THING}$",
    re.IGNORECASE,
)
_BEGINNING = re.compile(
    r"(?:keep |leave )?(?:the )?(?:rest|remaining|existing|unchanged|previous|original|other|same)\b",
    re.IGNORECASE,
)
_LONGEST_PLACEHOLDER = 120
_MOST_WORDS = 8


def is_placeholder(line: str) -> bool:
    """Return whether a line says that code was left out, such as `# ... existing code ...`."""
    text = line.strip()
    if not text or len(text) > _LONGEST_PLACEHOLDER:
        return False
    found = _COMMENT.fullmatch(text)
    inner = found["inner"] if found else text
    if bare := _BRACKETS.fullmatch(inner):
        inner = bare["inner"]
    words = _DOTS.sub(" ", inner).strip(" .:-()\t")
    begins, ends = bool(_DOTS.match(inner)), inner.rstrip().endswith(("...", "…"))
    if not words:
        # Dots alone are code in Python, and text elsewhere.
        return begins and found is not None
    if len(words.split()) > _MOST_WORDS:
        return False
    if found is None and not (bare and ends):
        # `...rest` is code, `... rest ...` is not.
        is_dotted = begins and not _SPREAD.match(inner) and (ends or bool(_PHRASE.fullmatch(words)))
        return is_dotted and bool(_DOTTED_PHRASE.search(words))
    if begins and _DOTTED_PHRASE.search(words):
        return True
    return bool(ends and _BEGINNING.match(words)) or _PHRASE.fullmatch(words) is not None


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
_CODE = re.compile(
    r"\.(?:pyi?|[mc]?[jt]sx?|go|rs|java|kts?|scala|[ch]|cc|cpp|cxx|hpp|cs|rb|php|swift|lua|pl|sh|bash|zsh|sql|css|"
    r"scss|less|html|vue|svelte|toml|ya?ml|json|xml|gradle|dart|exs?|erl|hs|ml)$",
    re.IGNORECASE,
)


def is_code(name: str) -> bool:
    """Return whether a file's name says that it is code or settings, not text or data."""
    return _CODE.search(name) is not None


def refuse_numbers(old: Iterable[str], new: Iterable[str], text: str) -> None:
    """Raise if new lines begin with line numbers, as tools show them, but no old line or line of the file."""
    found = next((line for line in new if _NUMBERED.match(line)), None)
    if found is None or any(map(_NUMBERED.match, old)) or _NUMBERED_LINE.search(text):
        return
    raise ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: new text has line numbers: {found.strip()[:80]!r}",
        "Write the lines without numbers.",
    )


_QUOTED = re.compile(r"""(["'`])(?:\\.|(?!\1)[^\\\n])*\1|/(?:\\.|[^/\\\n ])+/""")


def refuse_written_ends(old: str, new: str) -> None:
    """Raise if several lines become one with `\\n` outside of strings, where line ends are meant."""
    is_one_line = len(_filled(old)) > 1 and "\n" not in new and "\\n" not in old
    if is_one_line and _QUOTED.sub("", new).count("\\n") > 1:
        raise _lost("has \\n in place of line ends", "Write real line ends.")


def without_signs(old: str, new: str, known: frozenset[str]) -> tuple[str, str]:
    """Remove the signs of a diff if every line has one; raise if only some of the new lines do."""
    old_lines, new_lines = _filled(old), _filled(new)
    signed = [line for line in new_lines if line[0] == "+" and line.strip() not in known]
    if not signed or any(line[0] == "+" for line in old_lines) or _quotes_a_diff(new_lines):
        return old, new
    is_diff = all(line[0] in "+ " for line in new_lines) and all(line[0] in "- " for line in old_lines)
    if is_diff and any(line[0] == "-" for line in old_lines):
        return _cut_signs(old), _cut_signs(new)
    recurs = any(line[1:] in old_lines for line in signed)
    if len(signed) == len(new_lines) and recurs:
        return old, _cut_signs(new)
    if not recurs and not _look_signed(signed, old_lines):
        return old, new
    raise ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        "invalid args: new_string: its lines begin with the + of a diff",
        "Write the new lines without signs, or use a tool for patches.",
    )


def _quotes_a_diff(lines: list[str]) -> bool:
    return any(line.startswith(("@@", "---", "+++")) for line in lines)


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


_LIKE_CODE = re.compile(r"[^\W\d]|[@#\"'(\[{}\])/*<]|\s")


def _look_signed(signed: list[str], old: list[str]) -> bool:
    """Return whether the lines are indented like code behind their sign, not text that begins with a plus."""
    if len(signed) < 2 and len(old) < 2 and not normalize.lead(signed[0][1:]):
        return False
    return all(_LIKE_CODE.match(line[1:]) for line in signed if line[1:])


def _cut_signs(text: str) -> str:
    return "\n".join(line[1:] if line[:1] in ("+", "-", " ") else line for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class Exchange:
    """`new` comes for `text[start:end]`."""

    start: int
    end: int
    new: str


_FEWEST_ADDED = 4
_ALIKE = 60.0
_SAME = 100.0


def whole_lines(text: str, start: int, old: str, new: str) -> Exchange:
    """Repair an exact replacement that would glue two lines, leave an empty one or indent the first twice."""
    end = start + len(old)
    line_start = text.rfind("\n", 0, start) + 1
    lead = text[line_start:start]
    if new in (old.rstrip("\n"), old.lstrip("\n")):
        # To join lines is all that changes, so it is meant.
        return Exchange(start, end, new)
    if new and _loses_first_end(text, start, old, new):
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
    joint = text[start - 1] + new[0]
    return new.startswith(lead) if lead else joint.isascii() and joint.isalnum()


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


def refuse_lost_indentation(old: str, new: str) -> None:
    """Raise if whole lines seem to have lost their indentation, and change as well."""
    olds, news = _filled(old), _filled(new)
    if len(olds) < 2 or not news:
        return
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
    if sum(map(str.isalnum, new)) < sum(map(str.isalnum, old)) + _FEWEST_ADDED:
        return False
    at = new.find(old)
    while at >= 0:
        if start >= at and text.startswith(new, start - at):
            return True
        at = new.find(old, at + 1)
    return False


def lines_of(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(text.strip() for text in texts)
