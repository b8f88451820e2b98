"""Path patterns (`**/*.py`, `src/{a,b}/*`) matched in time linear in the path, however they are written."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_GLOBSTAR: Final = None
_MOST_ALTERNATIVES = 64
_Segment = re.Pattern[str] | None


class PatternError(ValueError):
    """The pattern makes no sense; the text says why."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern over relative paths with `/`. Without a slash of its own it matches names at any depth."""

    alternatives: tuple[tuple[_Segment, ...], ...]
    endings: tuple[str, ...]
    """What a path must end in, whichever alternative it matches."""

    @classmethod
    def parse(cls, pattern: str) -> "PathPattern":
        texts = _expand_braces(pattern)
        return cls(tuple(_segments(text) for text in texts), tuple(_plain_end(text) for text in texts))

    def matches(self, path: str) -> bool:
        # Searches ask this of every file: most are told apart by their end.
        if not path.endswith(self.endings):
            return False
        name = path.rpartition("/")[2]
        for segments in self.alternatives:
            # Most paths fail by their last name alone.
            last = segments[-1] if segments else None
            if last is None or not last.fullmatch(name):
                continue
            # With `**` alone in front of it the name is all there is to say.
            if segments[:-1] == (_GLOBSTAR,) or _matches(segments, path.split("/")):
                return True
        return False


def _plain_end(pattern: str) -> str:
    """The characters after the last one that stands for others."""
    end = "" if "\\" in pattern else re.split(r"[*?\[\]/]", pattern)[-1]
    return "" if end == "." else end


def _segments(pattern: str) -> tuple[_Segment, ...]:
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if "/" not in pattern.rstrip("/"):
        parts.insert(0, "**")
    segments: list[_Segment] = []
    for part in parts:
        if part == "**":
            if not segments or segments[-1] is not _GLOBSTAR:
                segments.append(_GLOBSTAR)
        else:
            segments.append(segment_regex(part))
    if segments and segments[-1] is _GLOBSTAR:
        # `dir/**` is what lies under the folder, not the folder.
        segments.append(segment_regex("*"))
    return tuple(segments)


def _matches(segments: tuple[_Segment, ...], names: list[str]) -> bool:
    """Match greedily: only the last `**` ever needs to take one name more."""
    at = place = 0
    retry: tuple[int, int] | None = None
    while place < len(names):
        if at < len(segments) and segments[at] is _GLOBSTAR:
            at += 1
            retry = (at, place)
            continue
        segment = segments[at] if at < len(segments) else None
        if segment is not None and segment.fullmatch(names[place]):
            at, place = at + 1, place + 1
        elif retry is not None:
            retry = (retry[0], retry[1] + 1)
            at, place = retry
        else:
            return False
    return at == len(segments)


@lru_cache(maxsize=1024)
def segment_regex(part: str) -> re.Pattern[str]:
    """Compile one name's pattern; each `*` but the last is atomic, so nothing is tried twice."""
    chunks = [""]
    at = 0
    while at < len(part):
        character = part[at]
        if character == "*":
            chunks.append("")
            at += 1
            continue
        piece, at = _bracket(part, at) if character == "[" else _plain(part, at)
        chunks[-1] += piece
    if len(chunks) == 1:
        return re.compile(chunks[0], re.DOTALL)
    middle = "".join(f"(?>.*?{chunk})" for chunk in chunks[1:-1] if chunk)
    return re.compile(f"{chunks[0]}{middle}.*{chunks[-1]}", re.DOTALL)


def _plain(part: str, at: int) -> tuple[str, int]:
    if part[at] == "?":
        return ".", at + 1
    if part[at] == "\\" and at + 1 < len(part):
        return re.escape(part[at + 1]), at + 2
    return re.escape(part[at]), at + 1


def _bracket(part: str, at: int) -> tuple[str, int]:
    """Translate `[abc]`, `[!a-z]`; an unclosed bracket is a literal one."""
    start = at + 2 if part[at + 1 : at + 2] in {"!", "^"} else at + 1
    end = part.find("]", start + 1)
    if end < 0:
        return re.escape("["), at + 1
    body = re.sub(r"([\\\[\]&~|^])", r"\\\1", part[start:end])
    text = f"[{'^' if start == at + 2 else ''}{body}]"
    try:
        re.compile(text)
    except re.error as error:
        raise PatternError(f"bad character range {part[at : end + 1]!r}") from error
    return text, end + 1


def _expand_braces(pattern: str) -> list[str]:
    """Write out `{a,b}`; nested ones too, up to a bound."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        text = pending.pop(0)
        group = re.search(r"(?<!\\)\{([^{}]*,[^{}]*)\}", text)
        if group is None:
            done.append(text)
        else:
            pending.extend(
                text[: group.start()] + choice + text[group.end() :] for choice in group[1].split(",")
            )
        if len(done) + len(pending) > _MOST_ALTERNATIVES:
            raise PatternError(f"more than {_MOST_ALTERNATIVES} alternatives in braces")
    return done
