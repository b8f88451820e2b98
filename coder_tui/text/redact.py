"""Keeps keys out of messages and logs: by their shape, and by the values this process knows."""

import re
from collections.abc import Mapping

MASK = "[redacted]"

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|github_pat)[-_][A-Za-z0-9_\-]{8,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]*)?"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*)"
    r"|(?i:(?<=[?&]key=)[^&\s'\"]+)"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6


class Redactor:
    """Replaces secrets in text; knows the values of the secret-looking variables it was given."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        values = {
            value
            for name, value in environment.items()
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
        }
        # Longest first: one secret may contain another.
        self._values = sorted(values, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, MASK)
        return _SHAPES.sub(MASK, text)
