"""What the suites of other agents expect of unified diffs, as `patch` does it."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType
from tests.tools.editing.known import Patch, expected, name_of, patched
from tests.tools.patching import patch_bench, tree

AMBIGUOUS, MISMATCH = ErrorType.AMBIGUOUS_MATCH, ErrorType.CONTEXT_MISMATCH
INVALID, APPLIED, EXISTS = ErrorType.INVALID_TOOL_PARAMS, ErrorType.ALREADY_APPLIED, ErrorType.ALREADY_EXISTS

NAMES = "--- a/a.txt\n+++ b/a.txt\n"
TEXT = "bow\nmast\nsail\nkeel\nfin\nstern\n"
HUNK = "@@ -2,3 +2,3 @@\n mast\n-sail\n+net\n keel\n"
CHANGED = "bow\nmast\nnet\nkeel\nfin\nstern\n"
SECOND = "--- b.txt\n+++ b.txt\n@@ ... @@\n-tea\n+rum\n"
NEW = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+tea\n+rum\n"


def diff(hunks: str) -> str:
    return NAMES + hunks


CHANGES = [
    Patch("lines are replaced", "roo continue", TEXT, diff(HUNK), CHANGED),
    Patch("the first line and one further down", "roo", TEXT,
          diff("@@ -1,5 +1,6 @@\n-bow\n+prow\n mast\n sail\n+net\n keel\n fin\n"),
          "prow\nmast\nsail\nnet\nkeel\nfin\nstern\n"),
    Patch("a method before the last brace", "roo", "class Bay {\n  tea() {\n  }\n}",
          diff("@@ -1,4 +1,7 @@\n class Bay {\n   tea() {\n   }\n+\n+  rum() {\n+  }\n }"),
          "class Bay {\n  tea() {\n  }\n\n  rum() {\n  }\n}"),
    Patch("one hunk with changes far apart", "roo", TEXT,
          diff("@@ -1,6 +1,6 @@\n-bow\n+prow\n mast\n-sail\n-keel\n+net\n+oar\n fin\n-stern\n+rear\n"),
          "prow\nmast\nnet\noar\nfin\nrear\n"),
    Patch("removed and added lines take turns", "continue", "go {\n  tea()\n  rum()\n}\n",
          diff("@@ -1,4 +1,4 @@\n go {\n-  tea()\n+  ale()\n-  rum()\n+  gin()\n }\n"),
          "go {\n  ale()\n  gin()\n}\n"),
    Patch("several hunks", "continue", TEXT,
          diff("@@ -1,2 +1,3 @@\n bow\n+deck\n mast\n@@ -5,2 +6,2 @@\n fin\n-stern\n+rear\n"),
          "bow\ndeck\nmast\nsail\nkeel\nfin\nrear\n"),
    Patch("hunks that touch", "continue", TEXT,
          diff("@@ -1,2 +1,2 @@\n bow\n-mast\n+pole\n@@ -3,2 +3,2 @@\n-sail\n+net\n keel\n"),
          "bow\npole\nnet\nkeel\nfin\nstern\n"),
    Patch("hunks that share a line of context", "continue", TEXT,
          diff("@@ -1,3 +1,3 @@\n bow\n-mast\n+pole\n sail\n@@ -3,3 +3,3 @@\n sail\n-keel\n+oar\n fin\n"),
          "bow\npole\nsail\noar\nfin\nstern\n"),
    Patch("hunks that change the same line", "git", TEXT,
          diff("@@ -1,3 +1,3 @@\n bow\n-mast\n+pole\n sail\n@@ -2,3 +2,3 @@\n-mast\n+rod\n sail\n keel\n"),
          MISMATCH),
    Patch("lines that look like names of files", "git", "-- tea\nrum\n",
          diff("@@ -1,2 +1,3 @@\n--- tea\n+-- ale\n+++ gin\n rum\n"), "-- ale\n++ gin\nrum\n"),
    Patch("a file is emptied", "aider", "tea\n", diff("@@ ... @@\n-tea\n"), "",
          differs="aider leaves one blank line"),
    Patch("an empty file gets lines", "roo", "", diff("@@ -0,0 +1,2 @@\n+tea\n+rum\n"), "tea\nrum\n"),
]  # fmt: skip

FILES = [
    Patch("a new file", "aider", {}, NEW, {"new.txt": "tea\nrum\n"}),
    Patch("a new file, no prefix, no numbers, in a fence", "aider", {},
          "```diff\n--- /dev/null\n+++ new.txt\n@@ ... @@\n+tea\n```\n", {"new.txt": "tea\n"}),
    Patch("a new file with removed lines", "aider", {}, "--- /dev/null\n+++ new.txt\n@@ ... @@\n-tea\n+rum\n",
          MISMATCH, differs="aider reads it; a new file has no such line"),
    Patch("a folder with blanks in its name", "aider", {"my bay/a b.txt": "tea\n"},
          "--- my bay/a b.txt\n+++ my bay/a b.txt\n@@ ... @@\n-tea\n+rum\n", {"my bay/a b.txt": "rum\n"}),
    Patch("the same with git's line", "git", {"my bay/a b.txt": "tea\n"},
          "diff --git a/my bay/a b.txt b/my bay/a b.txt\n--- a/my bay/a b.txt\n+++ b/my bay/a b.txt\n"
          "" "@@ -1 +1 @@\n-tea\n+rum\n", {"my bay/a b.txt": "rum\n"}),
    Patch("several files in one fence, with prose around", "aider", {"a.txt": TEXT, "b.txt": "tea\n"},
          f"I change two files:\n\n```diff\n{diff(HUNK)}\n{SECOND}```\n\nDone.\n",
          {"a.txt": CHANGED, "b.txt": "rum\n"}),
    Patch("several fences", "aider", {"a.txt": TEXT, "b.txt": "tea\n"},
          f"First:\n```diff\n{diff(HUNK)}```\nThen:\n```diff\n{SECOND}```\n",
          {"a.txt": CHANGED, "b.txt": "rum\n"}),
    Patch("an Index line and dates", "roo", TEXT,
          f"Index: a.txt\n{'=' * 67}\n--- a.txt\t(revision 1)\n+++ a.txt\t(working copy)\n{HUNK}", CHANGED),
    Patch("names of a file and its backup", "git", TEXT, f"--- a.txt.orig\n+++ a.txt\n{HUNK}", CHANGED),
    Patch("a quoted name", "git", {"café.txt": "tea\n"},
          '--- "a/caf\\303\\251.txt"\n+++ "b/caf\\303\\251.txt"\n@@ -1 +1 @@\n-tea\n+rum\n',
          {"café.txt": "rum\n"}),
    Patch("a rename alone", "git", TEXT,
          "diff --git a/a.txt b/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to b.txt\n",
          {"b.txt": TEXT}),
    Patch("a copy", "git", TEXT,
          "diff --git a/a.txt b/b.txt\nsimilarity index 100%\ncopy from a.txt\ncopy to b.txt\n",
          {"a.txt": TEXT, "b.txt": TEXT}),
    Patch("a new file that exists", "git", {"new.txt": "gin\n"}, NEW, EXISTS),
    Patch("one of two files fails", "git", {"a.txt": TEXT, "b.txt": "gin\n"}, f"{diff(HUNK)}{SECOND}",
          MISMATCH),
]  # fmt: skip

PLACES = [
    Patch("a stated line far below the file", "continue", "go {\n  tea()\n  rum()\n}\n// end\n",
          diff("@@ -40,4 +40,5 @@\n   tea()\n   rum()\n+  ale()\n }\n"),
          "go {\n  tea()\n  rum()\n  ale()\n}\n// end\n"),
    Patch("counts that are wrong and blank lines that are not there", "continue",
          "use bay\nuse sea\ngo {\n  tea()\n}\n",
          diff("@@ -1,8 +1,11 @@\n use bay\n \n-use sea\n+use (\n+  sea\n+)\n \n go {\n"
               "-  tea()\n+  rum()\n }\n"),
          "use bay\nuse (\n  sea\n)\ngo {\n  rum()\n}\n"),
    Patch("context without signs that is not there", "continue", TEXT,
          diff("@@ -1,3 +1,4 @@\noar\n-rope\n+line\nhook\n"), MISMATCH),
    Patch("no numbers and several places", "aider", "tea\nrum\ntea\n", diff("@@\n-tea\n+ale\n"), AMBIGUOUS,
          differs="aider takes the first place; it may be the wrong one"),
    Patch("a number decides between places", "git", "tea\nrum\ntea\n", diff("@@ -3 +3 @@\n-tea\n+ale\n"),
          "tea\nrum\nale\n"),
    Patch("a heading that is not there does not decide", "aider", "bow\nmast\nbow\nmast\n",
          diff("@@ def sink():\n bow\n-mast\n+pole\n"), AMBIGUOUS),
    Patch("every number is 1", "aider", TEXT,
          diff("@@ -1,1 +1,1 @@\n-sail\n+net\n@@ -1,1 +1,1 @@\n-fin\n+oar\n"),
          "bow\nmast\nnet\nkeel\noar\nstern\n"),
    Patch("the file has grown above", "git", "deck\n" * 5 + TEXT, diff(HUNK), "deck\n" * 5 + CHANGED),
    Patch("an outer line of context differs", "git", f"BOW{TEXT[3:]}",
          diff("@@ -1,5 +1,5 @@\n bow\n mast\n-sail\n+net\n keel\n fin\n"), MISMATCH,
          differs="GNU patch drops outer context; the file may be another one"),
    Patch("a removed line differs", "git aider", "mast\nSAIL\nkeel\n", diff(HUNK), MISMATCH),
    Patch("it is applied already", "aider", CHANGED, diff(HUNK), APPLIED,
          differs="aider applies half of those twice"),
    Patch("it is the wrong way round", "git", TEXT, diff(HUNK.replace("-sail\n+net", "-net\n+sail")),
          APPLIED),
    Patch("lines alone, with a number", "git", TEXT, diff("@@ -2,0 +3,1 @@\n+net\n"), MISMATCH,
          differs="git wants an option to trust the number; models count badly"),
]  # fmt: skip

FORGIVING = [
    Patch("indentation", "aider", "    tea()\n    rum()\n", diff("@@ ... @@\n tea()\n-rum()\n+ale()\n"),
          "    tea()\n    ale()\n"),
    Patch("tabs for blanks", "continue", "go {\n\ttea()\n\trum()\n}\n",
          diff("@@ -1,4 +1,4 @@\n go {\n     tea()\n-    rum()\n+    ale()\n }\n"),
          "go {\n\ttea()\n\tale()\n}\n"),
    Patch("blank lines without a sign", "aider continue", "tea\n\nrum\n\nale\n",
          diff("@@ ... @@\n tea\n\n-rum\n+gin\n\n ale\n"), "tea\n\ngin\n\nale\n"),
    Patch("a blank line below the end of the file", "aider", "tea\nrum\n",
          diff("@@ -1,3 +1,3 @@\n tea\n-rum\n+ale\n \n"), "tea\nale\n"),
    Patch("dots for lines that stay", "aider", "bow()\nmast()\nsail()\nstern()\n",
          diff("@@ ... @@\n bow()\n ...\n-stern()\n+rear()\n"), "bow()\nmast()\nsail()\nrear()\n"),
    Patch("a long dash for a plain one", "cline", "# bay - sea\nanchor\n",
          diff("@@ -1,2 +1,2 @@\n # bay — sea\n-anchor\n+chain\n"), "# bay - sea\nchain\n"),
    Patch("composed characters in context", "opencode", "# cafe\u0301\nanchor\n",
          diff("@@ -1,2 +1,2 @@\n # caf\u00e9\n-anchor\n+chain\n"), "# cafe\u0301\nchain\n"),
    Patch("a CRLF patch of an LF file", "git", TEXT, diff(HUNK).replace("\n", "\r\n"), CHANGED),
    Patch("an LF patch of a CRLF file", "roo", TEXT.replace("\n", "\r\n"), diff(HUNK),
          CHANGED.replace("\n", "\r\n")),
    Patch("a changed line keeps its own end", "codex", "bow\r\nmast\nsail\r\nkeel\n", diff(HUNK),
          "bow\r\nmast\nnet\r\nkeel\n"),
]  # fmt: skip

INVALID_DIFFS = [
    Patch("no text", "continue", TEXT, "", INVALID),
    Patch("no names of files", "continue", TEXT, HUNK, INVALID,
          differs="continue's diff is for one open file"),
    Patch("no hunk header", "continue", TEXT, diff(" mast\n-sail\n+net\n"), INVALID),
    Patch("a hunk header alone", "continue", TEXT, diff("@@ -1,3 +1,4 @@\n"), INVALID),
    Patch("a hunk of context alone", "git", TEXT, diff("@@ -1,2 +1,2 @@\n bow\n mast\n"), INVALID),
    Patch("equal removed and added lines", "git", TEXT, diff("@@ -1,2 +1,2 @@\n-bow\n+bow\n mast\n"),
          INVALID),
]  # fmt: skip


@pytest.mark.parametrize("row", [*CHANGES, *FILES, *PLACES, *FORGIVING, *INVALID_DIFFS], ids=name_of)
async def test_a_diff_is_applied_or_refused(tmp_path: Path, row: Patch) -> None:
    assert await patched(patch_bench(tmp_path / "ws"), "patch", row) == expected(row), row.differs


async def test_a_dry_run_makes_no_new_file(tmp_path: Path) -> None:
    """Also in aider's suite."""
    bench = patch_bench(tmp_path / "ws")

    assert (await bench.call("patch", patch=NEW, dry_run=True))["applied"] is False
    assert tree(bench.root) == {}
