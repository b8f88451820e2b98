"""Nothing grows into a monster: the hard limits of file, function and class."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE, MAX_FUNCTION, MAX_METHODS = 400, 50, 25
APP_LIMITS = {"coder_tui/ui/app.py": 150, "coder_tui/ui/coder.tcss": 100}


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes(kinds: tuple[type[ast.AST], ...]) -> Iterator[tuple[str, ast.AST]]:
    """Visit statements alone: functions and classes stand nowhere else."""
    for path in sources("coder_tui", "tests", "bench"):
        waiting: list[ast.AST] = [tree(path)]
        while waiting:
            node = waiting.pop()
            waiting += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr)]
            if isinstance(node, kinds):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'name', '')}", node


def test_no_file_is_too_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources("coder_tui", "tests", "bench")
    }
    assert {name: length for name, length in lengths.items() if length > MAX_FILE} == {}


@pytest.mark.parametrize(("name", "limit"), APP_LIMITS.items())
def test_the_app_only_wires(name: str, limit: int) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= limit


def test_no_function_is_too_long() -> None:
    too_long = {
        name: node.end_lineno - node.lineno + 1
        for name, node in nodes((ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION
    }
    assert too_long == {}


def test_no_class_has_too_many_methods() -> None:
    counts = {
        name: sum(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) for item in node.body)
        for name, node in nodes((ast.ClassDef,))
        if isinstance(node, ast.ClassDef)
    }
    assert {name: count for name, count in counts.items() if count > MAX_METHODS} == {}


def test_every_module_says_why_it_exists() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources("coder_tui")
        if "sample_project" not in path.parts and not ast.get_docstring(tree(path))
    ]
    assert silent == []
