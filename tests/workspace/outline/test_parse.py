"""Each grammar's symbols, with their lines and nesting."""

import pytest

from coder_tui.workspace.outline.parse import (
    MAPPED_SUFFIXES,
    Grammar,
    family_of,
    grammar_for,
    load_grammar,
    parse,
)

PYTHON = '''
import os

LIMIT = 3  # mentions Nothing


@decorated
class Shape(Base):
    """Speaks of Hidden."""

    side: int

    def area(
        self, scale: int = 1
    ) -> float:
        def inner() -> None: ...
        return compute(f"text {LIMIT}")

async def main(): pass
'''
JAVASCRIPT = """export class Box extends Base {
  static of(x) { return new Box(x) }
  handler = async (event) => { use(event) }
}
function* walk(tree) {}
export const render = (props) => {
}
const LIMIT = 3
module.exports.load = function (path) {}
"""
TYPESCRIPT = """export interface Options<T> { size: number; open(path: string): void }
type Name = string
enum Color { Red }
abstract class Base { abstract run(): void; private go(x: number): string { return '' } }
namespace Tools { export function help() {} }
export const pick = (a: number): number => a
"""
GO = """package main

type Server struct {
	Name string
}
type Runner interface {
	Run() error
}
func (s *Server) Start(port int) error {
	return nil
}
func main() {}
const (
	Low = 1
	High = 2
)
"""
RUST = """pub struct Point { x: i32 }
trait Draw { fn draw(&self); }
impl Draw for Point {
    fn draw(&self) {}
}
mod deep { pub fn inner() {} }
macro_rules! shout { () => {} }
"""
JAVA = """public class App extends Base {
    App() {}
    public <T> void run(int times) {}
    enum Mode { ON }
    record Pair(int a, int b) {}
}
"""
C = """#define LIMIT 10
struct node { int value; };
typedef struct { int x; } point_t;
static char *name_of(struct node *n) { return 0; }
int add(int a, int b);
"""
CPP = """namespace geo {
class Shape : public Base {
 public:
  Shape();
  virtual double area() const { return 0; }
  int& size();
};
}
void geo::Shape::move(int by) { }
template <typename T> struct Box { };
"""
SHELL = "LIMIT=3\nstart() {\n  echo\n}\nfunction stop {\n  echo\n}\n"
CASES = {
    "a.py": (
        PYTHON,
        [
            (0, 4, "LIMIT = 3", "LIMIT"),
            (0, 8, "class Shape(Base)", "Shape"),
            (1, 13, "def area( self, scale: int = 1 ) -> float", "area"),
            (2, 16, "def inner() -> None", ""),
            (0, 19, "async def main()", "main"),
        ],
    ),
    "a.js": (
        JAVASCRIPT,
        [
            (0, 1, "class Box extends Base", "Box"),
            (1, 2, "static of(x)", "of"),
            (1, 3, "handler = async (event)", "handler"),
            (0, 5, "function* walk(tree)", "walk"),
            (0, 6, "render = (props)", "render"),
            (0, 8, "const LIMIT = 3", "LIMIT"),
            (0, 9, "module.exports.load = function (path)", "load"),
        ],
    ),
    "a.ts": (
        TYPESCRIPT,
        [
            (0, 1, "interface Options<T>", "Options"),
            (1, 1, "open(path: string): void", "open"),
            (0, 2, "type Name = string", "Name"),
            (0, 3, "enum Color", "Color"),
            (0, 4, "abstract class Base", "Base"),
            (1, 4, "abstract run(): void", "run"),
            (1, 4, "private go(x: number): string", "go"),
            (0, 5, "namespace Tools", "Tools"),
            (1, 5, "function help()", "help"),
            (0, 6, "pick = (a: number): number", "pick"),
        ],
    ),
    "a.tsx": (
        "export function App(props: Props) { return <div>{props.name}</div> }\n",
        [(0, 1, "function App(props: Props)", "App")],
    ),
    "a.go": (
        GO,
        [
            (0, 3, "type Server struct", "Server"),
            (0, 6, "type Runner interface", "Runner"),
            (1, 7, "Run() error", "Run"),
            (0, 9, "func (s *Server) Start(port int) error", "Start"),
            (0, 12, "func main()", "main"),
            (0, 14, "const Low = 1", "Low"),
            (0, 15, "const High = 2", "High"),
        ],
    ),
    "a.rs": (
        RUST,
        [
            (0, 1, "pub struct Point", "Point"),
            (0, 2, "trait Draw", "Draw"),
            (1, 2, "fn draw(&self)", "draw"),
            (0, 3, "impl Draw for Point", "Point"),
            (1, 4, "fn draw(&self)", "draw"),
            (0, 6, "mod deep", "deep"),
            (1, 6, "pub fn inner()", "inner"),
            (0, 7, "macro_rules! shout { () => {} }", "shout"),
        ],
    ),
    "a.java": (
        JAVA,
        [
            (0, 1, "public class App extends Base", "App"),
            (1, 2, "App()", "App"),
            (1, 3, "public <T> void run(int times)", "run"),
            (1, 4, "enum Mode", "Mode"),
            (1, 5, "record Pair(int a, int b)", "Pair"),
        ],
    ),
    "a.c": (
        C,
        [
            (0, 1, "#define LIMIT 10", "LIMIT"),
            (0, 2, "struct node", "node"),
            (0, 3, "typedef struct { int x; } point_t", "point_t"),
            (0, 4, "static char *name_of(struct node *n)", "name_of"),
            (0, 5, "int add(int a, int b)", "add"),
        ],
    ),
    "a.hpp": (
        CPP,
        [
            (0, 1, "namespace geo", "geo"),
            (1, 2, "class Shape : public Base", "Shape"),
            (2, 4, "Shape()", "Shape"),
            (2, 5, "virtual double area() const", "area"),
            (2, 6, "int& size()", "size"),
            (0, 9, "void geo::Shape::move(int by)", "move"),
            (0, 10, "struct Box", "Box"),
        ],
    ),
    "a.sh": (
        SHELL,
        [(0, 1, "LIMIT=3", "LIMIT"), (0, 2, "start()", "start"), (0, 5, "function stop", "stop")],
    ),
    "a.sql": ("CREATE TABLE users (id int);\n", [(0, 1, "CREATE TABLE users (id int)", "users")]),
    "a.css": (
        ".a, #b > c {\n}\n@media (x) {\n  d {}\n}\n",
        [(0, 1, ".a, #b > c", "c"), (0, 3, "@media (x)", ""), (1, 4, "d", "d")],
    ),
    "a.html": (
        '<main id="top">\n<h2>Title</h2>\n</main>\n',
        [(0, 1, '<main id="top">', "top"), (1, 2, "<h2>Title</h2>", "")],
    ),
    "a.json": ('{"a": {"b": 1}, "c": 2}', [(0, 1, '"a"', "a"), (1, 1, '"b"', "b"), (0, 1, '"c"', "c")]),
    "a.yaml": ("a:\n  b: 1\nc: 2\n", [(0, 1, "a", "a"), (1, 2, "b", "b"), (0, 3, "c", "c")]),
    "a.toml": (
        "k = 1\n[a.b]\nc = 2\n[[d]]\n",
        [(0, 1, "k", "k"), (0, 2, "[a.b]", "b"), (0, 4, "[[d]]", "d")],
    ),
    "a.md": (
        "# One\n\ntext\n\n## Two\n\n```\n# no\n```\n\n# Three\n",
        [(0, 1, "# One", "One"), (1, 5, "## Two", "Two"), (0, 11, "# Three", "Three")],
    ),
    "a.xml": ('<a>\n<b id="x"/>\n</a>\n', [(0, 1, "<a>", "a"), (1, 2, '<b id="x"/>', "b")]),
    "a.rb": (
        "module Shop\n  class Cart\n    def total(items)\n      if items\n        sum\n    end\nend\n",
        [(0, 1, "module Shop", "Shop"), (1, 2, "class Cart", "Cart"), (2, 3, "def total(items)", "total")],
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_definitions_are_found_at_their_lines(path: str) -> None:
    text, expected = CASES[path]

    found = parse(path, text.encode())

    assert [(s.level, s.line, s.signature, s.name) for s in found.symbols] == expected


def test_references_leave_out_comments_and_strings() -> None:
    names = dict(parse("a.py", PYTHON.encode()).references)

    assert {"compute", "LIMIT", "Base", "decorated"} <= names.keys()
    assert not {"Nothing", "Hidden", "text"} & names.keys()
    assert names["LIMIT"] == 2


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\0", b"def (((", b"class" * 1_000, "é = 'ü'\n".encode() * 50]
)
@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.c", "a.json", "a.unknown"])
def test_broken_text_is_read_as_far_as_possible(path: str, data: bytes) -> None:
    assert len(parse(path, data).symbols) <= 50


def test_languages_that_refer_to_each_other_are_one_family() -> None:
    assert family_of("a.tsx") == family_of("a.js") == "javascript"
    assert family_of("a.h") == family_of("a.c") == "c"
    assert family_of("a.rb") == "rb"


def test_a_map_is_made_of_code() -> None:
    assert {".py", ".ts", ".rb"} <= set(MAPPED_SUFFIXES)
    assert not {".json", ".md", ".html"} & set(MAPPED_SUFFIXES)
    assert (grammar_for(".bashrc"), grammar_for("Makefile"), grammar_for("dir.py/x")) == (None, None, None)


def test_a_grammar_that_is_not_installed_is_done_without() -> None:
    assert load_grammar(Grammar("nothing", "tree_sitter_nothing", "nothing")) is None
