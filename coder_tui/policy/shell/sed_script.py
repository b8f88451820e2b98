"""A small reader of sed scripts: addresses, and commands that neither run programs nor touch other files."""

import re

_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]/\\\n]*\])*/[IM]*)"
_ADDRESSES = re.compile(rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~][0-9]+))?)?\s*(?:!\s*)*")
# d D g G h H n N p P x z = F and the block braces take nothing; q, Q and l a number.
_PLAIN = re.compile(r"[dDgGhHnNpPxz=F{}]|[qQl]\s*[0-9]*")
_SUBSTITUTE = re.compile(r"s([/|,#:@%!_])")
_TRANSLITERATE = re.compile(r"y([/|,#:@%!_])")
_FLAGS = re.compile(r"[gpiIM0-9]*")
_GAP = re.compile(r"[\s;]*")
_END = re.compile(r"\s*(?:[;}\n]|$)")


def is_harmless_sed(script: str) -> bool:
    """Whether every command of the script is one that is known, and its end is where it seems to be."""
    position = 0
    while True:
        position = _after(_GAP, script, position)
        if position >= len(script):
            return bool(script.strip())
        position = _after(_ADDRESSES, script, position)
        following = _after_command(script, position)
        if following is None:
            return False
        position = following


def _after(pattern: re.Pattern[str], script: str, position: int) -> int:
    match = pattern.match(script, position)
    return match.end() if match else position


def _after_command(script: str, position: int) -> int | None:
    if match := _SUBSTITUTE.match(script, position) or _TRANSLITERATE.match(script, position):
        end = _after_parts(script, match.end(), match[1])
        if end is None:
            return None
        if match[0].startswith("s"):
            end = _after(_FLAGS, script, end)
        return end if _END.match(script, end) else None
    match = _PLAIN.match(script, position)
    if match is None:
        return None
    if match[0] in {"{", "}"}:
        return match.end()
    return match.end() if _END.match(script, match.end()) else None


def _after_parts(script: str, position: int, mark: str) -> int | None:
    """Past the two parts of `s/a/b/`; a mark inside brackets is read differently by different seds."""
    for part in range(2):
        in_brackets = False
        while True:
            if position >= len(script):
                return None
            char = script[position]
            if char == "\\":
                position += 2
                continue
            if char == mark:
                if in_brackets:
                    return None
                break
            if char == "\n":
                return None
            if part == 0 and char == "[":
                in_brackets = True
            elif char == "]":
                in_brackets = False
            position += 1
        position += 1
    return position
