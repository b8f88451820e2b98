"""What a server may write, in a few words for the person who decides whether it may run."""

from typing import assert_never

from coder_tui.config.mcp_section import McpServerSection
from coder_tui.shell.sandbox import SandboxKind

UNCONFINED = "unconfined"
READS = "writes nothing of yours"


def reach_of(section: McpServerSection, kind: SandboxKind) -> str:
    """Empty for a server elsewhere, which reaches nothing here."""
    if section.url:
        return ""
    if section.sandbox == "off":
        return UNCONFINED
    folders = ", ".join(section.writable)
    match kind:
        case SandboxKind.NONE:
            return f"{UNCONFINED}: there is no sandbox here"
        case SandboxKind.BUBBLEWRAP:
            return f"writes {folders}" if folders else READS
        case SandboxKind.LANDLOCK:
            return (
                f"writes {folders}, .git and settings there as well: Landlock cannot keep them"
                if folders
                else READS
            )
        case never:
            assert_never(never)
