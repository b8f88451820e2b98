"""The rules of the house (ARCHITECTURE.md): packages of one idea, no towers, one place for each thing."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "coder_tui"
MOST_MODULES, MOST_TINY, TINY_LINES = 30, 15, 60
MOST_METHODS, MOST_BASES = 25, 3


# What is left to do. A list may only become shorter: take a name out once its class keeps the rule.
TOO_MANY_METHODS: set[str] = set()
TOO_MANY_BASES: set[str] = set()
LONELY_PROTOCOLS: set[str] = set()
WITHOUT_AN_ENTRY = {"coder_tui.policy.shell.programs", "coder_tui.protocol", "coder_tui.tools.builtin"}
"""Packages of equals: no module of theirs comes first."""


class Module(NamedTuple):
    path: Path
    name: str
    tree: ast.Module
    lines: int


class Kind(NamedTuple):
    """A class of ours: its module, its own methods and attributes, and the names of its bases."""

    module: str
    methods: frozenset[str]
    attributes: frozenset[str]
    bases: tuple[str, ...]


@cache
def modules() -> tuple[Module, ...]:
    paths = (path for path in sorted(HOUSE.rglob("*.py")) if "sample_project" not in path.parts)
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return Module(path, name, ast.parse(text), len(text.splitlines()))


def _base_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        # A class of asyncio's callbacks is no structural type.
        return "asyncio.Protocol" if ast.unparse(node) == "asyncio.Protocol" else node.attr
    return node.id if isinstance(node, ast.Name) else ""


@cache
def classes() -> dict[str, Kind]:
    """By name: where two have the same one, the one with more methods."""
    found: dict[str, Kind] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                own = (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
                declared = (item.target for item in node.body if isinstance(item, ast.AnnAssign))
                kind = Kind(
                    module.name,
                    frozenset(each.name for each in own),
                    frozenset(each.id for each in declared if isinstance(each, ast.Name)),
                    tuple(map(_base_name, node.bases)),
                )
                if node.name not in found or len(found[node.name].methods) < len(kind.methods):
                    found[node.name] = kind
    return found


def test_a_folder_holds_few_modules() -> None:
    counts = Counter(module.path.parent for module in modules() if module.path.name != "__init__.py")
    assert {str(folder): count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_every_package_says_what_it_does_and_where_to_enter() -> None:
    packages = [module for module in modules() if module.path.name == "__init__.py"]
    silent = [module.name for module in packages if not ast.get_docstring(module.tree)]
    assert silent == []
    large = Counter(module.path.parent for module in modules())
    lost = {
        module.name
        for module in packages
        if large[module.path.parent] > 6 and ".py" not in (ast.get_docstring(module.tree) or "")
    }
    assert lost == WITHOUT_AN_ENTRY


def _importers() -> dict[str, set[str]]:
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                importers[node.module].add(module.name)
                for alias in node.names:
                    importers[f"{node.module}.{alias.name}"].add(module.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name].add(module.name)
    return importers


def test_few_modules_are_tiny_and_used_once() -> None:
    importers = _importers()
    tiny = [
        module.name
        for module in modules()
        if module.lines < TINY_LINES
        and not module.path.name.startswith("__")
        and len(importers[module.name]) == 1
    ]
    assert len(tiny) <= MOST_TINY, tiny


def _ancestors(name: str) -> Iterator[str]:
    for base in classes()[name].bases:
        if base in classes():
            yield base
            yield from _ancestors(base)


def test_no_class_has_too_many_methods_counting_its_mixins() -> None:
    """Bases that several classes share are abstractions; what serves one class alone is a part of it."""
    children = Counter(base for kind in classes().values() for base in set(kind.bases))
    counts = {}
    for name, kind in classes().items():
        ours = [base for base in kind.bases if base in classes()]
        parts = {each for each in _ancestors(name) if children[each] == 1} | (
            set(ours) if len(ours) > 1 else set()
        )
        counts[name] = len(kind.methods.union(*(classes()[part].methods for part in parts)))
    assert {name for name, count in counts.items() if count > MOST_METHODS} == TOO_MANY_METHODS


def test_no_class_has_many_bases() -> None:
    assert {name for name, kind in classes().items() if len(kind.bases) > MOST_BASES} == TOO_MANY_BASES


def test_a_session_is_built_in_one_place() -> None:
    builders = {
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Session"
    }
    assert builders == {"coder_tui.bootstrap.session_factory"}


def test_the_map_names_only_files_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z_]+(?:/[a-z_]+)+\.(?:py|json|txt)", text))
    assert len(named) > 60
    assert {name for name in named if not (HOUSE / name).exists() and not (ROOT / name).exists()} == set()


def _is_protocol(kind: Kind) -> bool:
    return "Protocol" in kind.bases


def test_a_protocol_has_two_implementations_or_crosses_a_layer() -> None:
    lonely = set()
    for name, kind in classes().items():
        if not _is_protocol(kind) or not kind.methods or "__call__" in kind.methods:
            continue
        kin = [
            other
            for each, other in classes().items()
            if each != name and not _is_protocol(other) and kind.methods <= _all_members(each)
        ]
        layers = {other.module.split(".")[1] for other in kin}
        if len(kin) < 2 and layers <= {kind.module.split(".")[1]}:
            lonely.add(f"{kind.module}.{name}")
    assert lonely == LONELY_PROTOCOLS


def _all_members(name: str) -> frozenset[str]:
    """Return methods and attributes: an attribute implements a property of a Protocol."""
    kinds = [classes()[each] for each in (name, *_ancestors(name))]
    return frozenset().union(*(kind.methods | kind.attributes for kind in kinds))
