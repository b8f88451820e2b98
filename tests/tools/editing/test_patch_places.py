"""Which of several places a hunk means: decided by order, numbers and ends, or refused."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench
from tests.tools.patching import patch_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return patch_bench(tmp_path / "ws")


async def patched(bench: Bench, before: str, patch: str) -> str:
    path = bench.put("a.txt", before)
    await bench.call("patch", patch=patch)
    return path.read_bytes().decode()


async def failed(bench: Bench, patch: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await bench.call("patch", patch=patch)
    return caught.value


BLOCK = "begin\n    x = 1\nend\n"
TWICE = "@@{}\n begin\n-    x = 1\n+    x = 2\n end\n"


async def test_a_number_decides_between_places_only_where_it_is_plain(bench: Bench) -> None:
    names = "--- a/a.txt\n+++ b/a.txt\n"
    text = BLOCK + "other\n" * 6 + BLOCK

    assert (await patched(bench, text, names + TWICE.format(" -10,3 +10,3 @@"))).endswith("    x = 2\nend\n")
    for numbers in ("", " -1,3 +1,3 @@\n line before\n", " -5,3 +5,3 @@"):
        bench.put("a.txt", "top\n" + text)
        assert (await failed(bench, names + TWICE.format(numbers))).type in {
            ErrorType.AMBIGUOUS_MATCH,
            ErrorType.CONTEXT_MISMATCH,
        }


async def test_order_decides_where_there_are_as_many_hunks_as_places(bench: Bench) -> None:
    patch = "--- a/a.txt\n+++ b/a.txt\n" + TWICE.format("") + TWICE.format("").replace("x = 2", "x = 3")

    assert await patched(bench, BLOCK + "other\n" + BLOCK, patch) == (
        "begin\n    x = 2\nend\nother\nbegin\n    x = 3\nend\n"
    )


async def test_two_hunks_do_not_share_one_place(bench: Bench) -> None:
    patch = "--- a/a.txt\n+++ b/a.txt\n" + TWICE.format("") * 2
    bench.put("a.txt", BLOCK)

    assert (await failed(bench, patch)).type is ErrorType.AMBIGUOUS_MATCH


async def test_a_hunk_of_another_file_is_refused(bench: Bench) -> None:
    """From a real history: everything fits except one line of context."""
    bench.put(
        "a.txt",
        "/** estree */\n/** compiler */\nimport b from 'builders';\nimport { parse_name } from 'utils';\n\n",
    )
    patch = (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n /** estree */\n /** compiler */\n"
        "-import b from 'builders';\n+import b from '#builders';\n import { build_it } from 'component';\n \n"
    )

    assert (await failed(bench, patch)).type is ErrorType.CONTEXT_MISMATCH


async def test_the_stated_line_outweighs_an_exact_match_elsewhere(bench: Bench) -> None:
    """From a real history: the right place had got blanks at the end of a line."""
    text = BLOCK + "other\n" * 9 + BLOCK.replace("end\n", "end  \n")

    assert await patched(bench, text, "--- a/a.txt\n+++ b/a.txt\n" + TWICE.format(" -13,3 +13,3 @@")) == (
        BLOCK + "other\n" * 9 + "begin\n    x = 2\nend  \n"
    )


async def test_one_blank_too_few_differs_from_context_without_a_sign(bench: Bench) -> None:
    """From a real history: both look alike; the new lines decide."""
    text = "  switch (x) {\n    case true:\n      go()\n"
    names = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n"
    short = f"{names}  switch (x) {{\n    case true:\n+   case 'weak':\n      go()\n"
    unsigned = short.replace("+   case", "+    case")

    expected = "  switch (x) {\n    case true:\n    case 'weak':\n      go()\n"
    assert await patched(bench, text, short) == expected
    assert await patched(bench, text, unsigned) == expected


async def test_a_hunk_without_context_below_is_at_the_end(bench: Bench) -> None:
    """From a real history: the same lines ended two functions, and the number was off."""
    text = "def one():\n    return x\n\n\ndef two():\n    pass\n    return x\n"
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -3,1 +3,4 @@\n     return x\n+\n+\n+def three(): ...\n"

    assert await patched(bench, text, patch) == text + "\n\ndef three(): ...\n"


async def test_two_equal_insertions_take_two_places(bench: Bench) -> None:
    """From a real history: the same parameter was added to two signatures."""
    text = "one(\n    repr,\n    hash,\n)\ntwo(\n    repr,\n    hash,\n)\n"
    chunk = "@@\n     repr,\n+    unsafe,\n     hash,\n"

    assert await patched(bench, text, f"--- a/a.txt\n+++ b/a.txt\n{chunk}{chunk}") == text.replace(
        "hash", "unsafe,\n    hash"
    )


async def test_blanks_at_a_line_s_end_count_less_than_a_blank_line_of_context(bench: Bench) -> None:
    """From a real history: the other place fitted exactly except for the blank line above it."""
    text = "\nfor a:\n    if (\n        x = 1  \n    )\n# again\nfor a:\n    if (\n        x = 1\n    )\n"
    patch = "--- a/a.txt\n+++ b/a.txt\n@@\n \n for a:\n-    if (\n+    if not (\n         x = 1\n     )\n"

    assert await patched(bench, text, patch) == text.replace("if (", "if not (", 1)


@pytest.mark.parametrize(
    ("text", "hunk"),
    [
        (
            "/** kind */\n/** context */\nimport * as b from 'long/builders';\n\n/**\n",
            " /** kind */\n /** context */\n import { unwrap } from 'ast';\n"
            "-import * as b from 'long/builders';\n+import * as b from 'builders';\n"
            " import { comment } from './utils';\n \n /**\n",
        ),
        (
            "'use strict'\n\nconst t = require('tap')\nconst test = t.test\nconst Fastify = require('..')\n",
            " 'use strict'\n \n+/* eslint */\n+\n const t = require('tap')\n const test = t.test\n"
            " const decorator = require('../../lib/decorate')\n",
        ),
    ],
    ids=["imports", "a new header"],
)
async def test_a_file_that_begins_like_the_one_meant_is_not_it(bench: Bench, text: str, hunk: str) -> None:
    """From real histories: more than one line of context in five is not in this file at all."""
    path = bench.put("a.txt", text)

    assert (await failed(bench, f"--- a/a.txt\n+++ b/a.txt\n@@\n{hunk}")).type is ErrorType.CONTEXT_MISMATCH
    assert path.read_text() == text
