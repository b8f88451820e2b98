"""Nothing on the screen is parsed as markup: a text from outside must not become a link or an action."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

UI = Path(__file__).resolve().parents[2] / "coder_tui/ui"
FILES = sorted(UI.rglob("*.py"))
# Other widgets of Textual parse markup in places that cannot be switched off.
KNOWN_WIDGETS = {"Static", "TextArea", "Input"}
PLACES = {"Selection", "Location", "EditResult"}
"""Plain data of a text area, which shows nothing."""
PARSERS = {"from_markup", "from_ansi", "render_markup", "content_from_markup"}
TITLES = {"border_title", "border_subtitle", "tooltip"}


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name, node


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == name), None)


def is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def statics(tree: ast.AST) -> set[str]:
    """The classes of a module that are a `Static`."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {node.name for node in classes if any(ast.unparse(base) == "Static" for base in node.bases)}


def parsed_texts(tree: ast.AST) -> Iterator[str]:
    """The places in a module where a text could be parsed."""
    own = statics(tree)
    for name, call in calls(tree):
        found = f"line {call.lineno}: {ast.unparse(call)[:80]}"
        if name in PARSERS or not is_false(keyword(call, "markup") or ast.Constant(False)):
            yield found
        if name in {"Static", "notify"} and not is_false(keyword(call, "markup")):
            yield found
        if name == "Style" and keyword(call, "link") is not None:
            yield found
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in own:
            yield from _unmarked_bases(node)
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == "render"
            and "str" in ast.unparse(node.returns or node)
        ):
            yield f"line {node.lineno}: what is rendered as str is parsed"
        if isinstance(node, ast.Assign) and _sets_title(node) and not _is_content(node.value):
            yield f"line {node.lineno}: {ast.unparse(node)[:80]}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "@click" in node.value:
            yield f"line {node.lineno}: {node.value[:80]}"


def _unmarked_bases(node: ast.ClassDef) -> Iterator[str]:
    """A `Static` of ours says so in its own constructor."""
    made = [call for name, call in calls(node) if ast.unparse(call.func) == "super().__init__"]
    if not any(is_false(keyword(call, "markup")) for call in made):
        yield f"line {node.lineno}: class {node.name}"


def _sets_title(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Attribute) and target.attr in TITLES for target in node.targets)


def _is_content(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[0] == "Content"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(UI)))
def test_no_text_is_parsed(path: Path) -> None:
    assert list(parsed_texts(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(UI)))
def test_only_widgets_that_can_avoid_parsing_are_used(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual.widgets")
        for alias in node.names
    }
    assert imported - KNOWN_WIDGETS - PLACES == set()


@pytest.mark.parametrize(
    "source",
    [
        "Static(text)",
        "Static(text, markup=True)",
        "Text.from_markup(text)",
        "self.notify(text)",
        "self.border_title = text",
        "Style(link=address)",
        "class Note(Static):\n    def __init__(self):\n        super().__init__(text)",
        "x = '[@click=app.quit]'",
        "def render(self) -> str:\n    return text",
    ],
)
def test_a_place_that_parses_would_be_noticed(source: str) -> None:
    assert list(parsed_texts(ast.parse(source))) != []
