"""Which grammar reads which file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """`family` holds languages whose names mean each other; data has no names that code refers to."""

    name: str
    module: str
    family: str
    entry: str = "language"
    is_code: bool = True
    depth: int | None = None
    """How deep an outline goes unless told."""

    @property
    def query(self) -> str:
        return f"{self.name}.scm"


def _code(name: str, family: str = "", entry: str = "language", module: str = "") -> Grammar:
    return Grammar(name, module or f"tree_sitter_{name}", family or name, entry)


def _data(name: str, depth: int | None = 2, entry: str = "language") -> Grammar:
    return Grammar(name, f"tree_sitter_{name}", name, entry, is_code=False, depth=depth)


_TYPESCRIPT = _code("typescript", "javascript", "language_typescript")
_TSX = Grammar("typescript", "tree_sitter_typescript", "javascript", "language_tsx")
_BY_SUFFIX: dict[str, Grammar] = {
    **dict.fromkeys(("py", "pyi", "pyw"), _code("python")),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), _code("javascript")),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    "go": _code("go"),
    "rs": _code("rust"),
    "java": _code("java"),
    "c": _code("c"),
    # A header may be either; the grammar of C++ reads C too.
    **dict.fromkeys(("h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino"), _code("cpp", "c")),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh"), _code("bash")),
    "sql": _code("sql"),
    "css": _data("css", None),
    **dict.fromkeys(("html", "htm"), _data("html", None)),
    **dict.fromkeys(("json", "jsonc"), _data("json")),
    **dict.fromkeys(("yaml", "yml"), _data("yaml")),
    "toml": _data("toml"),
    **dict.fromkeys(("md", "markdown"), _data("markdown", None)),
    **dict.fromkeys(("xml", "xsd", "pom"), _data("xml", 2, "language_xml")),
}
_INDENTED = frozenset(
    {
        *(
            "cs",
            "clj",
            "dart",
            "elm",
            "erl",
            "ex",
            "exs",
            "fs",
            "groovy",
            "hs",
            "jl",
            "kt",
            "kts",
            "lua",
            "m",
        ),
        *("ml", "mm", "nim", "php", "pl", "pm", "proto", "ps1", "r", "rb", "scala", "svelte", "swift", "vue"),
        "zig",
    }
)
"""Code that is read by its indentation alone."""

MAPPED_SUFFIXES = tuple(
    sorted(f".{suffix}" for suffix in {*_INDENTED, *(s for s, g in _BY_SUFFIX.items() if g.is_code)})
)
"""What belongs into a map of a project."""


def suffix_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name[1:] else ""


def grammar_for(path: str) -> Grammar | None:
    return _BY_SUFFIX.get(suffix_of(path))


def family_of(path: str) -> str:
    grammar = grammar_for(path)
    return grammar.family if grammar else suffix_of(path)
