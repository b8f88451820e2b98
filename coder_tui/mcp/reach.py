"""What a server may write, in a few words for the person who decides whether it may run."""

from typing import assert_never

from coder_tui.config.mcp_section import McpServerSection
from coder_tui.shell.sandbox import SandboxKind

UNCONFINED = "unconfined"
READS = "writes nothing of yours"


_REFUSED = ("read-only file system", "erofs", "permission denied", "eacces")
_HINT = (
    "If it wanted to write: a confined server writes only the folders that the person names, "
    'as in `writable = ["."]` of [mcp.{}] in their settings.'
)


def write_hint(server: str, words: str) -> str:
    """For words of a confined server that may be about a refused write; empty for others."""
    said = words.lower()
    return _HINT.format(server) if any(sign in said for sign in _REFUSED) else ""


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
