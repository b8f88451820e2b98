"""Edits that were once wrong, from replays of real histories: each must stay right or refused."""

import pytest

from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.editing.unified import parse_unified
from tests.tools.editing.replacing import outcome, refusal, replaced


def test_the_header_of_another_file_is_refused() -> None:
    text = '# -*- coding: utf-8 -*-\n\n"""\nrequests.adapters\n~~~~~~~~\n"""\n'
    old = '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\n"""\nrequests.certs'

    assert refusal(text, old, old.replace("# -*- coding: utf-8 -*-\n", "")) is ErrorType.NO_MATCH


def test_a_block_of_another_test_is_refused() -> None:
    text = (
        "  reply.code(200).send(msg)\n})\n\nfastify.listen(0, err => {\n  t.error(err)\n  server.unref()\n\n"
        "  test('http HEAD request', async (t) => {\n    t.plan(1)\n"
    )
    old = (
        "    reply.code(200).send({ proto })\n  })\n\n  fastify.listen(0, err => {\n    t.error(err)\n"
        "    server.unref()\n\n    t.test('https get request', async (t) => {\n      t.plan(3)\n"
    )

    assert refusal(text, old, old.replace("listen(0,", "listen({ port: 0 },")) is ErrorType.NO_MATCH


@pytest.mark.parametrize("last", ["", "\n"])
def test_line_ends_that_were_changed_before_are_not_changed_again(last: str) -> None:
    text = "one\r\ntwo\r\nthree\r\n"
    old, new = "one\ntwo\nthree" + last, "one\r\ntwo\r\nthree\r" + last

    assert refusal(text, old, new) is ErrorType.ALREADY_APPLIED


def test_line_ends_are_changed_when_that_is_what_the_model_writes() -> None:
    assert outcome("one\ntwo\nthree\n", "one\ntwo", "one\r\ntwo\r") == ("one\r\ntwo\r\nthree\n", "exact")


def test_returns_in_both_strings_are_the_model_s_own() -> None:
    assert outcome("one\ntwo\nthree\n", "one\r\ntwo", "one\r\n2") == ("one\n2\nthree\n", "exact")


def test_a_docstring_that_the_model_put_above_a_line_it_forgot_is_refused() -> None:
    text = (
        "    @classmethod\n    def is_error(cls):\n        return 599\n\n"
        "    @classmethod\n    def is_client_error(cls):\n        return 499\n"
    )
    old = text.replace("    def is_client_error(cls):\n", "")
    new = '    @classmethod\n        """\n        True for 4xx.\n        """\n        return 499\n'

    assert refusal(text, old, new) is ErrorType.NO_MATCH


def test_a_blank_line_next_to_a_line_that_was_left_out_is_refused() -> None:
    text = '"""\n\n\nimport typing\n\nfrom ._compat import name\nfrom ._make import other\n'
    old = '"""\n\n\n\nfrom ._compat import name\nfrom ._make import other\n'

    assert refusal(text, old, old.replace("\n\n\n\n", "\n\n\n")) is ErrorType.NO_MATCH
    assert refusal(text, old, old.replace("\n\n\n\n", "\n\n\n\n\n")) is ErrorType.NO_MATCH


def test_a_line_that_moves_keeps_the_file_s_characters() -> None:
    text = "“engines”: 1,\n“name”: 2,\nlast: 3\n"
    old, new = '"engines": 1,\n"name": 2,\nlast: 3', '"name": 2,\nmore: 4,\n"engines": 1,\nlast: 3'

    assert outcome(text, old, new)[0] == "“name”: 2,\nmore: 4,\n“engines”: 1,\nlast: 3\n"


def test_one_of_two_equal_lines_may_be_either() -> None:
    text = "        types: {\n            key: Element;\n        };\n    };\n    init();\n    add();\n"
    old = text.replace("    };\n    init", "    init")
    new = old.replace(
        "        };\n", "        };\n        elements: {\n            key: Other;\n        };\n"
    )

    assert refusal(text, old, new) is ErrorType.AMBIGUOUS_MATCH


def test_nothing_is_inserted_before_dots_at_the_top() -> None:
    text = "import a\nimport b\nimport c\nfrom .models import Request\n"
    old = "# ... rest of the code ...\nfrom .models import Request\n"

    assert refusal(text, old, f"from __future__ import annotations\n\n{old}") is ErrorType.NO_MATCH


def test_blanks_that_a_model_writes_at_every_line_end_are_not_written() -> None:
    text = "class A(B):\n    x = 1\n"
    old, new = "class A(B): \n    x = 1 \n", "class A(B):  # typed \n \n    x = 1 \n"

    assert outcome(text, old, new)[0] == "class A(B):  # typed\n\n    x = 1\n"


def test_half_of_a_line_s_indentation_may_mean_another_line() -> None:
    text = "if a:\n    run(x)\nelse:\n        run(x)\n"

    assert refusal(text, "       run(x)\n", "       run(y)\n") is ErrorType.AMBIGUOUS_MATCH
    assert outcome("        run(x, 1)\n", "     run(x", "     go(x") == ("        go(x, 1)\n", "exact")


@pytest.mark.parametrize(
    "old",
    [
        "x" * 5_000_000,
        "\n" * 5_000_000 + "abcd",
        " " * 5_000_000 + "abcd",
        "\\n" * 2_500_000 + "abcd",
        "a line of text\n" * 340_000,
        "```\n" + " " * 5_000_000,
    ],
    ids=["one line", "newlines", "blanks", "escapes", "lines", "fence"],
)
def test_five_megabytes_that_are_not_there_are_refused(old: str) -> None:
    text = "".join(f"line {number}\n" for number in range(3_000))

    assert refusal(text, old, "new") is ErrorType.NO_MATCH


def test_five_megabytes_that_are_there_are_replaced() -> None:
    old = "a line of text\n" * 340_000

    assert replaced(f"head\n{old}tail\n", f"head\n{old}", "head\n").text == "head\ntail\n"


def test_a_change_that_is_there_is_not_made_at_a_place_like_it() -> None:
    """The same block was there twice, once deeper: a change for one must not go to the other."""
    block = "if (!map[hash]) {{\n    parent = map[key];\n{}    run(parent);\n}}\n"
    deeper = "".join(f"    {line}" for line in block.format("    // log\n").splitlines(keepends=True))

    assert refusal(block.format("\n") + deeper, block.format("    // log\n"), block.format("\n")) is (
        ErrorType.ALREADY_APPLIED
    )


@pytest.mark.parametrize("rest", ["", "@@ -9 +9 @@\n-a\n+b\n"], ids=["at the end", "before another hunk"])
def test_a_changed_line_of_dashes_is_no_name_of_a_file(rest: str) -> None:
    """The counts of a hunk decide what belongs to it."""
    (patch,) = parse_unified(f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n--- x\n+++ y\n{rest}")

    assert patch.hunks[0].script.old == ("-- x",)
    assert len(patch.hunks) == (2 if rest else 1)
