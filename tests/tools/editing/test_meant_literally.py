"""Edits that look like a model's mistakes and are meant as they are."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.replace import as_meant, replace_text
from coder_tui.workspace.files.text import TextFile
from tests.tools.editing.known import outcome
from tests.tools.patching import patch_bench

SPREADS = ("{...rest}", "{...options}", "...rest,", "...existing,", "...other,", "...original, x: 1,")
COMMENTS = (
    "# Leave the rest unchanged.",
    "# remaining arguments",
    "# existing entries",
    "// unchanged fields",
    "// Other options",
    "// Keep the existing behavior as is",
)
PROSE = (
    "## Unchanged",
    "* No changes required",
    "# Remaining items:",
    "### Other options...",
    "* Existing tests...",
)
LITERAL = [
    ("a.csv", "0123,a\n0456,b\n", "0123,a\n0456,b", "+49123,a\n+49456,b", "+49123,a\n+49456,b\n"),
    ("shopping", "Milk\nEggs\n", "Milk\nEggs", "+ Milk\n+ Eggs", "+ Milk\n+ Eggs\n"),
    ("a.tsv", "id\tname\n", "id\tname\n", "id\tname\n1\tAlice\n", "id\tname\n1\tAlice\n"),
    ("a.js", "/**\n * a\n * b\n */\n", "\n * b", "", "/**\n * a\n */\n"),
    ("a.txt", "Hello world\n", " world", ", world!", "Hello, world!\n"),
    ("a.csv", "1,,3\n", ",3", ",,3", "1,,,3\n"),
    ("a.py", "import x\n\ndef b():\n", "\ndef b():", "\n\ndef b():", "import x\n\n\ndef b():\n"),
    ("a.html", "<p>x</p>\n  </div>\n</div>\n", "<p>x</p>\n", "<p>x</p>\n    </div>\n",
     "<p>x</p>\n    </div>\n  </div>\n</div>\n"),
    ("a.py", "foo(\n)\n", "foo(\n", "foo(", "foo()\n"),
    ("a.txt", "今天天气\n很好\n", "\n很好", "很好", "今天天气很好\n"),
    ("a.js", "a\nb\nc\n", "a\nb\nc", "text.split(/\\r?\\n/)", "text.split(/\\r?\\n/)\n"),
    ("a.tex", "a\nb\n", "a\nb", "$\\nabla f = \\nu$", "$\\nabla f = \\nu$\n"),
    ("test_a.py", "x = 1\ny = 2\n", "y = 2", 'D = """\n@@ -1 +1 @@\n-a\n+b\n"""',
     'x = 1\nD = """\n@@ -1 +1 @@\n-a\n+b\n"""\n'),
]  # fmt: skip


def edited(name: str, before: str, old: str, new: str) -> str:
    file = TextFile(before)
    old, new = as_meant(file, name, old, new)
    return replace_text(file, name, old, new, replace_all=False).text


@pytest.mark.parametrize(("name", "before", "old", "new", "after"), LITERAL)
def test_text_is_written_as_it_is(name: str, before: str, old: str, new: str, after: str) -> None:
    assert edited(name, before, old, new) == after


@pytest.mark.parametrize("line", [*SPREADS, *COMMENTS, *PROSE])
def test_ordinary_lines_are_no_placeholders(line: str) -> None:
    assert edited("a.ts", "first\nlast\n", "first\n", f"first\n{line}\n") == f"first\n{line}\nlast\n"


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [("depth: 10\n", "-10", "-12"), ("x = foo(10)\n", "-10", "-12"), ("- 1\n", "-1", "-2")],
)
def test_a_minus_in_the_old_text_is_not_left_out_of_a_line(before: str, old: str, new: str) -> None:
    with pytest.raises(ToolError) as raised:
        edited("a.yaml", before, old, new)
    assert raised.value.type is ErrorType.NO_MATCH


def test_a_long_unpaired_quote_does_not_hang() -> None:
    with pytest.raises(ToolError):
        edited("a.py", "a = 1\nb = 2\n", "a = 1\nb = 2", "# don't\\n" + "x\\n" * 5_000)


def envelope(body: str) -> str:
    return f"*** Begin Patch\n{body}*** End Patch\n"


async def test_an_added_line_that_looks_like_a_header_is_text(tmp_path: Path) -> None:
    bench = patch_bench(tmp_path / "ws")
    bench.put("app.py", "x = 1\n")
    patch = envelope("*** Add File: format.md\n+# Format\n+*** Delete File: app.py\n")
    assert await outcome(bench, "apply_patch", patch=patch) == {
        "app.py": "x = 1\n",
        "format.md": "# Format\n*** Delete File: app.py\n",
    }


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ("*** Add File: b/config.py\n+new\n", {"config.py": "old\n", "b/config.py": "new\n"}),
        ("*** Delete File: b/config.py\n", ErrorType.FILE_NOT_FOUND),
        ("*** Update File: a//etc/hostname\n@@\n-old\n+new\n", ErrorType.FILE_NOT_FOUND),
        ("*** Update File: a/config.py\n@@\n-old\n+new\n", {"config.py": "new\n"}),
    ],
)
async def test_only_an_update_may_leave_out_a_diffs_own_folder(
    tmp_path: Path, patch: str, after: dict[str, str] | ErrorType
) -> None:
    bench = patch_bench(tmp_path / "ws")
    bench.put("config.py", "old\n")
    assert await outcome(bench, "apply_patch", patch=envelope(patch)) == after


async def test_a_removed_comment_is_no_header(tmp_path: Path) -> None:
    bench = patch_bench(tmp_path / "ws")
    bench.put("schema.sql", "-- schema.sql v1\nSELECT 1;\n")
    patch = envelope("*** Update File: schema.sql\n--- schema.sql v1\n+-- schema.sql v2\n SELECT 1;\n")
    assert await outcome(bench, "apply_patch", patch=patch) == {"schema.sql": "-- schema.sql v2\nSELECT 1;\n"}


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        ("int main(void)\n{\n    int a = 1;\n#ifdef X\n    a = 2;\n#endif\n    return a;\n}\n",
         "@@ int main(void)\n-    return a;\n+    return 0;\n", "return 0"),
        ("class A\n{\npublic:\n    int a;\n};\n", "@@ class A\n-    int a;\n+    long a;\n", "long a"),
        ("on:\n  push:\njobs:\n  a: 1\n", "@@ on:\n-  a: 1\n+  a: 2\n", "a: 2"),
    ],
)  # fmt: skip
async def test_a_line_at_the_margin_does_not_end_a_block(
    tmp_path: Path, before: str, patch: str, after: str
) -> None:
    bench = patch_bench(tmp_path / "ws")
    bench.put("a.c", before)
    found = await outcome(bench, "apply_patch", patch=envelope(f"*** Update File: a.c\n{patch}"))
    assert isinstance(found, dict) and after in found["a.c"]


async def test_context_between_added_lines_is_not_added_again(tmp_path: Path) -> None:
    bench = patch_bench(tmp_path / "ws")
    bench.put("a.py", "import typing as t\nfrom gettext import ngettext\nfrom .utils import echo\n")
    patch = (
        "*** Update File: a.py\n@@\n+import abc\n import typing a t\n from gettext import ngettext\n"
        "+import b\n from .utils import echo\n"
    )
    assert await outcome(bench, "apply_patch", patch=envelope(patch)) == {
        "a.py": "import abc\nimport typing as t\n"
        "from gettext import ngettext\nimport b\nfrom .utils import echo\n"
    }
