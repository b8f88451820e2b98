"""A bench with the two patch tools on it."""

from pathlib import Path

from coder_tui.tools.base import JsonObject
from coder_tui.tools.builtin.patch import PatchDialect, PatchTool
from tests.tools.calling import Bench


def patch_bench(root: Path) -> Bench:
    bench = Bench(root)
    for dialect in PatchDialect:
        bench.tools[dialect] = PatchTool(bench.workspace, bench.ledger, dialect)
    return bench


def tree(root: Path) -> dict[str, bytes]:
    """Return every file with its content."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def hunk(index: int, line: int, *, offset: int = 0, strategy: str = "exact") -> JsonObject:
    return {"index": index, "ok": True, "line": line, "offset": offset, "strategy": strategy}
