"""A bench with the two patch tools on it."""

from pathlib import Path

from coder_tui.tools.base import JsonObject
from coder_tui.tools.builtin.patch import ApplyPatchTool, PatchTool
from tests.tools.calling import Bench


def patch_bench(root: Path) -> Bench:
    bench = Bench(root)
    for tool in (PatchTool(bench.workspace, bench.ledger), ApplyPatchTool(bench.workspace, bench.ledger)):
        bench.tools[tool.name] = tool
    return bench


def tree(root: Path) -> dict[str, bytes]:
    """Every file with its content."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def hunk(index: int, line: int, *, offset: int = 0, strategy: str = "exact") -> JsonObject:
    return {"index": index, "ok": True, "line": line, "offset": offset, "strategy": strategy}
