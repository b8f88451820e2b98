"""`edit` finds the one place that is meant, and changes there what the model changed."""

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.editing.replacing import outcome, refusal, replaced

CLASS = """\
class Cart:
    def total(self):
        count = 0
        for item in self.items:
            count += item.price
        return count

    def clear(self):
        self.items = []
"""


def test_blanks_at_line_ends_do_not_matter_and_stay_as_they_are() -> None:
    text = "def f():  \n    a = 1\n    return a\n"

    assert outcome(text, "def f():\n    a = 1  \n", "def f():\n    a = 2\n") == (
        "def f():  \n    a = 2\n    return a\n",
        "whitespace_normalized",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count = 0\nfor item in self.items:", "count = 1\nwarn()\nfor item in self.items:"),
        (
            "    count = 0\n    for item in self.items:",
            "    count = 1\n    warn()\n    for item in self.items:",
        ),
        (
            "            count = 0\n            for item in self.items:",
            "            count = 1\n            warn()\n            for item in self.items:",
        ),
        (
            "\t\tcount = 0\n\t\tfor item in self.items:",
            "\t\tcount = 1\n\t\twarn()\n\t\tfor item in self.items:",
        ),
    ],
    ids=["dedented", "less", "more", "tabs"],
)
def test_new_lines_get_the_file_s_own_indentation(old: str, new: str) -> None:
    expected = CLASS.replace("        count = 0\n", "        count = 1\n        warn()\n")

    assert outcome(CLASS, old, new) == (expected, "indentation_flexible")


def test_spaces_become_the_tabs_of_the_file() -> None:
    text = "func f() {\n\tif x {\n\t\tg()\n\t}\n}\n"

    assert outcome(
        text, "    if x {\n        g()\n", "    if x {\n        for {\n            g()\n        }\n"
    ) == (
        "func f() {\n\tif x {\n\t\tfor {\n\t\t\tg()\n\t\t}\n\t}\n}\n",
        "indentation_flexible",
    )


def test_two_spaces_become_the_file_s_four() -> None:
    old = "def total(self):\n  count = 0\n  for item in self.items:\n    count += item.price\n"
    new = (
        "def total(self):\n  count = 0\n  for item in self.items:\n    if item:\n      count += item.price\n"
    )
    expected = CLASS.replace(
        "            count += item.price\n", "            if item:\n                count += item.price\n"
    )

    assert outcome(CLASS, old, new)[0] == expected


def test_lines_indented_without_a_rule_are_trimmed() -> None:
    text = "if a:\n    b()\n        c()\n"

    assert outcome(text, "if a:\n  b()\n   c()\n", "if a:\n  b()\n   d()\n") == (
        "if a:\n    b()\n        d()\n",
        "line_trimmed",
    )


def test_uncertain_indentation_is_refused() -> None:
    text = "if a:\n    b()\n        c()\n"

    assert refusal(text, "if a:\n  b()\n   c()\n", "if a:\n  b()\n     d()\n") is ErrorType.NO_MATCH


def test_typographic_characters_of_the_file_survive_a_change_next_to_them() -> None:
    text = "say(“hello”) — now\nthen()\n"

    assert outcome(text, 'say("hello") -- now\nthen()', 'say("goodbye") -- now\nthen()') == (
        "say(“goodbye”) — now\nthen()\n",
        "whitespace_normalized",
    )


def test_curly_quotes_of_the_model_become_the_file_s_straight_ones() -> None:
    text = "a = 'x'\nb = 2\n"

    assert outcome(text, "a = ‘x’\nb = 2", "a = ‘x’\nc = “y”\nb = 2") == (
        "a = 'x'\nc = \"y\"\nb = 2\n",
        "whitespace_normalized",
    )


def test_white_space_inside_lines_does_not_matter_and_stays() -> None:
    text = "call(a,  b)\nx = {1: 2}\ny = 3\n"

    assert outcome(text, "call(a, b)\nx = { 1:2 }\ny = 3", "call(a, b)\nx = { 1:5 }\ny = 3") == (
        "call(a,  b)\nx = {1: 5}\ny = 3\n",
        "whitespace_normalized",
    )


@pytest.mark.parametrize(
    ("text", "old", "new", "written"),
    [
        ("go-json v0.7.10", "go-json    v0.7.10", "go-json v0.8.1", "go-json v0.8.1"),
        ("go-json    v0.7.10", "go-json v0.7.10", "go-json    v0.8.1", "go-json    v0.8.1"),
        ("go-json    v0.7.10", "go-json v0.7.10", "go-json v0.8.1", "go-json    v0.8.1"),
        ("name    = 1", "name = 1", "title = 1", "title    = 1"),
        ("call(a, b)", "call(a,  b)", "call(a, b, c)", "call(a, b, c)"),
        ("a—b = 10", "a--b   = 10", "a--b = 11", "a—b = 11"),
    ],
)
def test_words_of_a_changed_line_stay_apart(text: str, old: str, new: str, written: str) -> None:
    assert outcome(f"{text}\n", old, new)[0] == f"{written}\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("fooBar = 12", "foo Bar = 12", "foo Bar = 13"),
        ("foo Bar = 12", "fooBar = 12", "fooBar = 13"),
        ("fooBar = 12\na()\nb()", "foo Bar = 12\na()\nb()", "a()\nb()\nfoo Bar = 12"),
        ("x = 1--", "1 --", "go"),
    ],
)
def test_a_line_whose_words_would_be_others_is_refused(text: str, old: str, new: str) -> None:
    assert refusal(f"{text}\n", old, new) is ErrorType.NO_MATCH


def test_blank_lines_around_both_strings_are_left_off() -> None:
    assert outcome("alpha\nbeta", "\nalpha\nbeta\n", "\nalpha\ngamma\n") == (
        "alpha\ngamma",
        "trimmed_boundary",
    )


@pytest.mark.parametrize("form", ["{}\t{}", "{:6d}\t{}", "{}: {}", "{:05d}| {}", "{}|{}", "{}→{}", "L{}: {}"])
def test_line_numbers_are_taken_off_both_strings(form: str) -> None:
    def numbered(text: str) -> str:
        return "\n".join(form.format(number, line) for number, line in enumerate(text.split("\n"), start=2))

    old, new = "    def total(self):\n        count = 0", "    def total(self):\n\n        count = 9"

    assert outcome(CLASS, numbered(old), numbered(new)) == (
        CLASS.replace(old, new),
        "escape_normalized",
    )


def test_double_escapes_are_undone_in_both_strings() -> None:
    assert outcome('a = "1"\nb = 2\n', 'a = \\"1\\"\\nb = 2', 'a = \\"1\\"\\n\\tb = 3') == (
        'a = "1"\n\tb = 3\n',
        "escape_normalized",
    )


def test_fences_and_entities_are_taken_off_both_strings() -> None:
    assert outcome("a\nb\n", "```python\na\nb\n```", "```python\na\nc\n```") == (
        "a\nc\n",
        "escape_normalized",
    )
    assert outcome("if a < b && c:\n", "if a &lt; b &amp;&amp; c:", "if a &gt; b:") == (
        "if a > b:\n",
        "escape_normalized",
    )


def test_a_slip_in_a_line_that_stays_does_not_matter() -> None:
    old = "        cuont = 0\n        for item in self.items:\n            count += item.price\n"

    assert outcome(CLASS, old, old.replace("item.price", "item.cost")) == (
        CLASS.replace("item.price", "item.cost"),
        "context_aware",
    )


def test_a_line_that_the_user_has_changed_is_kept() -> None:
    text = CLASS.replace("        count = 0\n", "        count = 0  # reviewed\n")
    old = "    def total(self):\n        count = 0\n        for item in self.items:\n"

    assert outcome(text, old, old.replace("self.items", "self.lines")) == (
        text.replace("in self.items", "in self.lines"),
        "block_anchor",
    )


def test_a_line_that_the_model_left_out_stays() -> None:
    old = "    def total(self):\n        for item in self.items:\n            count += item.price\n"

    assert outcome(CLASS, old, old.replace("item.price", "item.cost")) == (
        CLASS.replace("item.price", "item.cost"),
        "block_anchor",
    )


@pytest.mark.parametrize("dots", ["...", "# ...", "    # ... existing code ...", "// ... rest unchanged"])
def test_dots_stand_for_unchanged_lines(dots: str) -> None:
    old = f"    def total(self):\n{dots}\n        return count\n"
    new = f"    def total(self):\n{dots}\n        return count + 1\n"

    assert outcome(CLASS, old, new) == (CLASS.replace("return count", "return count + 1"), "block_anchor")


def test_a_removed_line_must_be_there() -> None:
    gone = "            count += item.weight\n"
    old = f"        count = 0\n        for item in self.items:\n{gone}        return count\n"

    assert refusal(CLASS, old, old.replace(gone, "")) is ErrorType.NO_MATCH


def test_an_insertion_next_to_a_line_that_was_left_out_is_refused() -> None:
    """It is unknown whether the new line belongs before or after the missing one."""
    old = "    def total(self):\n        for item in self.items:\n"
    new = "    def total(self):\n        check()\n        for item in self.items:\n"

    assert refusal(CLASS, old, new) is ErrorType.NO_MATCH


def test_many_new_lines_next_to_a_line_that_was_left_out_are_refused() -> None:
    """From a real history: the closing quotes that the model forgot belonged inside the added lines."""
    text = '# coding\n"""\n    jinja2\n    ~~~~~~\n"""\nversion = 1\n'
    old = "# coding\n    jinja2\n    ~~~~~~\nversion = 1\n"
    new = '# coding\n"""Jinja is a template engine.\nMore words.\nAnd more.\nversion = 1\n'

    assert refusal(text, old, new) is ErrorType.NO_MATCH


def test_places_that_differ_in_white_space_alone_are_several() -> None:
    text = "if a:\n    run(x)\nelse:\n        run(x)\n"

    with pytest.raises(ToolError) as caught:
        replaced(text, "       run(x)\n", "       run(y)\n")

    assert (caught.value.type, caught.value.fields) == (ErrorType.AMBIGUOUS_MATCH, {"lines": [2, 4]})


def test_a_rival_that_is_nearly_as_good_is_refused() -> None:
    block = "def {}(self):\n    open()\n    wait()\n    work()\n    rest()\n    shut()\n\n"

    assert (
        refusal(
            block.format("one") + block.format("two"),
            block.format("ten"),
            block.format("ten").replace("work", "play"),
        )
        is ErrorType.AMBIGUOUS_MATCH
    )


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a = 1\nreturn a + b\n", "a = 1\nreturn a - b\n", "a = 1\nreturn a + b\n"),
        ("if x:\n    run()\n", "if x:\n  run()\n", "if x:\n    run()\n"),
        ("one\ntwo\nnew\nthree\nfour\n", "one\ntwo\nthree\nfour\n", "one\ntwo\nnew\nthree\nfour\n"),
        ("    one\n    new\n    two\n", "one\ntwo\n", "one\nnew\ntwo\n"),
    ],
    ids=["replaced", "indentation alone", "inserted", "indented otherwise"],
)
def test_an_edit_made_before_is_not_made_again(text: str, old: str, new: str) -> None:
    assert refusal(text, old, new) is ErrorType.ALREADY_APPLIED


def test_a_hallucinated_middle_is_refused() -> None:
    old = "    def total(self):\n        x = fetch()\n        y = parse(x)\n        return count\n"

    assert refusal(CLASS, old, "    def total(self):\n        return 0\n") is ErrorType.NO_MATCH


def test_few_characters_are_taken_only_as_they_are() -> None:
    assert refusal("  }\n", "}\n}", "x") is ErrorType.NO_MATCH


def test_every_place_of_one_tier_is_replaced_when_asked() -> None:
    result = replaced("  run(x)\ny\n    run(x)\n", "run( x )\n", "run( z )\n", replace_all=True)

    assert (result.text, result.replacements, result.strategy.value) == (
        "  run(z)\ny\n    run(z)\n",
        2,
        "multi_occurrence",
    )


def test_deleted_lines_leave_no_blank_line_behind() -> None:
    assert (
        outcome(CLASS, "def clear(self):\n    self.items = []\n", "")[0]
        == CLASS[: CLASS.index("    def clear")]
    )


def test_new_lines_get_the_line_ends_around_them() -> None:
    text = "  a()\r\n  b()\r\nc()\n"

    assert outcome(text, "a()\nb()\n", "a()\nx()\nb()\n")[0] == "  a()\r\n  x()\r\n  b()\r\nc()\n"


def test_a_last_line_without_a_newline_stays_one() -> None:
    assert outcome("alpha\n  beta", "alpha\nbeta\n", "alpha\nbeta\ngamma\n")[0] == "alpha\n  beta\n  gamma"


def test_the_failure_shows_the_first_line_that_differs() -> None:
    with pytest.raises(ToolError) as caught:
        replaced(CLASS, "    def clear(self):\n        self.lines = {}\n        done()\n", "pass\n")

    assert caught.value.message == (
        "old_string is not in f. The nearest place is lines 8-9, 77% similar; line 9 differs first: "
        "looked for '        self.lines = {}', the file has '        self.items = []'."
    )
