"""A command line as policy sees it: its parts, what each touches, and what makes it doubtful."""

from dataclasses import dataclass

from coder_tui.protocol.access import Target
from coder_tui.protocol.findings import Finding


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command after unquoting; a wrapper (`env`, `timeout`) and what it wraps are a part each."""

    words: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """Why no rule may allow it silently; empty for literal words with flags that are known to be harmless."""
    is_read_only: bool = False
    """Proven to change nothing and to reach nothing but what it names."""

    @property
    def text(self) -> str:
        """What a rule's pattern is held against."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """The whole line. Without parts nothing was understood, and that is a doubt, too."""

    text: str
    parts: tuple[CommandPart, ...] = ()
    targets: tuple[Target, ...] = ()
    """Paths that it reads or writes as far as they are known, redirections included."""
    findings: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    """Doubts about the line as a whole: it does not parse, has hidden characters, is too long to judge."""

    @property
    def is_read_only(self) -> bool:
        return not self.doubts and bool(self.parts) and all(part.is_read_only for part in self.parts)
