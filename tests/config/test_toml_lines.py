"""Lines of keys in TOML."""

import tomllib
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.config.settings_file import KeyPath, toml_lines

_TEXT = '''# a comment with [brackets] = 1
plain = 1
a.b . "c d" = 2   # dotted
long = """
[not.a.table]
x = 1 \\""" and two ""quotes"""""
literal = \'\'\'
y = 2\'\'\'

[table]  # a comment
list = [
  1,
  # [2]
  { in = "line", more = [3,
     4] },
]
[ table . "dotted.name" ]
"quo\\u0074ed\\n" = 'x = "#'
date = 2020-01-02 03:04:05
[[many]]
one = 1
[many.inner]
deep = true
[[many]]
one = 2
'''


def test_every_key_has_the_line_it_is_written_on() -> None:
    assert toml_lines(_TEXT) == {
        ("plain",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c d"): 3,
        ("long",): 4,
        ("literal",): 7,
        ("table",): 10,
        ("table", "list"): 11,
        ("table", "list", 0): 12,
        ("table", "list", 1): 14,
        ("table", "list", 1, "in"): 14,
        ("table", "list", 1, "more"): 14,
        ("table", "list", 1, "more", 0): 14,
        ("table", "list", 1, "more", 1): 15,
        ("table", "dotted.name"): 17,
        ("table", "dotted.name", "quoted\n"): 18,
        ("table", "dotted.name", "date"): 19,
        ("many",): 20,
        ("many", 0): 20,
        ("many", 0, "one"): 21,
        ("many", 0, "inner"): 22,
        ("many", 0, "inner", "deep"): 23,
        ("many", 1): 24,
        ("many", 1, "one"): 25,
    }


def _paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _paths(item, (*path, place))


def test_the_example_is_understood_as_the_parser_does() -> None:
    assert set(toml_lines(_TEXT)) == set(_paths(tomllib.loads(_TEXT)))


def _quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


_strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_scalars = st.one_of(
    st.integers(-99, 99).map(str),
    _strings.map(_quoted),
    st.sampled_from(
        ["'a # [b'", '"""\n]\n= "" x"""', "'''\n'' \\'''", "true", "1979-05-27T07:32:00Z", '""', "''"]
    ),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[\n" + ", # x]\n".join(items) + "\n]"),
        st.dictionaries(_strings, inner, max_size=3).map(
            lambda table: "{" + ", ".join(f"{_quoted(key)} = {item}" for key, item in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(_strings, st.dictionaries(_strings, _values, max_size=3), max_size=3))
def test_no_valid_text_hides_a_key(tables: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"[{_quoted(name)}]\n" + "".join(f"{_quoted(key)} = {value}\n" for key, value in table.items())
        for name, table in tables.items()
    )
    assert set(toml_lines(text)) == set(_paths(tomllib.loads(text)))
