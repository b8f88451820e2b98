"""What `task` and `fork` have in common: an objective, a known agent, and how both are declared."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field
from rapidfuzz import process

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access

LONGEST_OBJECTIVE = 40_000
"""Characters; files are for the sub-agent to read, not to be handed over."""

Objective = Annotated[str, Field(min_length=1, max_length=LONGEST_OBJECTIVE)]


def declared(agents: Iterable[str], known: Mapping[str, str]) -> Access:
    """Which agents a call would start; a rule may speak of them by name. `ToolError` for one nobody knows."""
    names = tuple(dict.fromkeys(agents))
    for name in names:
        if name not in known:
            raise _unknown(name, known)
    return Access(tuple(Target(TargetKind.NAME, name) for name in names))


def _unknown(name: str, known: Mapping[str, str]) -> ToolError:
    shown = name[:100]
    near = [match for match, _, _ in process.extract(shown, list(known), limit=2, score_cutoff=50)]
    hint = f"The nearest are: {', '.join(near)}. " if near else ""
    return ToolError(
        ErrorType.INVALID_TOOL_PARAMS,
        f"invalid args: agent: there is no sub-agent {shown!r}",
        f"{hint}There are: {', '.join(known)}.",
    )


def described(known: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {description}" for name, description in known.items())
