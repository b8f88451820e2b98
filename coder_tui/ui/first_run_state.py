"""What is known where there is no model yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyState:
    """A provider; `source` says where its key comes from, and is empty where there is none."""

    provider: str
    label: str
    variable: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class FirstRunState:
    keys: tuple[KeyState, ...]
    has_trust_question: bool = False
