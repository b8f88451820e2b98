"""What of a dead program's error output tells a person why it died."""

import re

MOST = 600
_ERROR = re.compile(r"^\W*(\w*error|fatal|panic)\b", re.IGNORECASE)


def last_words(said: str, most: int = MOST) -> str:
    """Its last lines, none of them cut; where the error stands before those, its line first."""
    text = said.strip()
    if len(text) <= most:
        return text
    lines = text.splitlines()
    error = next((line.strip() for line in reversed(lines) if _ERROR.match(line)), "")[:most]
    tail = text[-(most - len(error)) :].partition("\n")[2] if len(error) < most else ""
    if error and error in tail:
        return tail
    return "\n".join(filter(None, (error, tail))) or text[-most:]
