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
    other_texts: tuple[str, ...] = ()
    """Other ways to say the same; rules that ask or refuse are held against them, too."""
    plain_text: str = ""
    """The same without flags that change nothing (`git --no-pager`); a rule that allows may mean it."""
    is_transparent: bool = False
    """It does nothing by itself (`cd`, `timeout`): what stands beside or behind it decides."""

    @property
    def text(self) -> str:
        """What a rule's pattern is held against."""
        return " ".join(self.words)

    @property
    def allowable(self) -> tuple[str, ...]:
        """What a rule that allows is held against."""
        return (self.text, self.plain_text) if self.plain_text else (self.text,)


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
    own_writes: frozenset[str] = frozenset()
    """Paths whose change is what a part is for (`mkdir x`): a rule for the part covers them."""
    linked_out: frozenset[str] = frozenset()
    """Places outside of the workspace that it would change through a link inside."""
    unjudged: tuple[str, ...] = ()
    """Commands that were seen but not taken apart: only rules that ask or refuse are held against them."""
    has_hidden_characters: bool = False
    has_open_targets: bool = False
    """It changes or removes something that is known only when it runs."""

    @property
    def is_read_only(self) -> bool:
        is_proven = not self.doubts and bool(self.parts) and all(part.is_read_only for part in self.parts)
        return is_proven and not any(target.writes for target in self.targets)
