"""What the suites of other agents expect of the `*** Begin Patch` envelope, as `apply_patch` does it."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType
from tests.tools.editing.known import Patch, expected, name_of, patched
from tests.tools.patching import patch_bench

AMBIGUOUS, MISMATCH = ErrorType.AMBIGUOUS_MATCH, ErrorType.CONTEXT_MISMATCH
INVALID, NOT_FOUND, EXISTS = ErrorType.INVALID_TOOL_PARAMS, ErrorType.FILE_NOT_FOUND, ErrorType.ALREADY_EXISTS

BEGIN, END = "*** Begin Patch\n", "*** End Patch\n"
TEXT = "bow\nmast\nstern\n"
ADD = "*** Add File: new.txt\n"
CHANGE = "*** Update File: a.txt\n@@\n-mast\n+sail\n"
CHANGED = "bow\nsail\nstern\n"
WHOLE_ADD = f"{BEGIN}{ADD}+ahoy\n{END}"
ADDED = {"new.txt": "ahoy\n"}


def whole(body: str) -> str:
    return f"{BEGIN}{body}{END}"


def update(body: str, name: str = "a.txt") -> str:
    return whole(f"*** Update File: {name}\n{body}")


FILES = [
    Patch("a new file in a new folder", "codex opencode", {}, whole("*** Add File: x/y/n.txt\n+a\n+\n+b\n"),
          {"x/y/n.txt": "a\n\nb\n"}),
    Patch("a new file without lines", "cline", {}, whole(ADD), {"new.txt": ""}),
    Patch("signs inside a new file", "codex", {}, whole(f"{ADD}++a\n+-b\n"), {"new.txt": "+a\n-b\n"}),
    Patch("add, update and delete", "codex opencode cline", {"a.txt": TEXT, "old.txt": "x\n"},
          whole(f"{ADD}+ahoy\n*** Delete File: old.txt\n{CHANGE}"), {"a.txt": CHANGED, **ADDED}),
    Patch("an update before an addition", "codex", TEXT, whole(f"{CHANGE}{ADD}+ahoy\n"),
          {"a.txt": CHANGED, **ADDED}),
    Patch("a file is deleted, its neighbor stays", "codex opencode cline", {"old.txt": "x", "a.txt": TEXT},
          whole("*** Delete File: old.txt\n"), TEXT),
    Patch("a move into a new folder", "codex opencode", {"old/a.txt": TEXT, "old/b.txt": "b\n"},
          update("*** Move to: x/y/a.txt\n@@\n-mast\n+sail\n", "old/a.txt"),
          {"x/y/a.txt": CHANGED, "old/b.txt": "b\n"}),
    Patch("a move alone", "cline", TEXT, update("*** Move to: b.txt\n"), {"b.txt": TEXT}),
    Patch("a move with context alone", "cline", TEXT, update("*** Move to: b.txt\n@@\n bow\n"),
          {"b.txt": TEXT}),
    Patch("absolute paths", "codex opencode", TEXT, update("@@\n-mast\n+sail\n", "{root}/a.txt"), CHANGED),
    Patch("the only line of a file", "codex", ADDED, update("@@\n-ahoy\n+bye\n", "new.txt"),
          {"new.txt": "bye\n"}),
    Patch("two updates of one file", "cline", TEXT,
          whole(f"{CHANGE}*** Update File: a.txt\n@@\n-bow\n+prow\n"), "prow\nsail\nstern\n",
          differs="cline refuses; both chunks have their place"),
    Patch("two additions of one file", "cline", {}, whole(f"{ADD}+a\n{ADD}+b\n"), INVALID),
    Patch("two deletions of one file", "cline", TEXT, whole("*** Delete File: a.txt\n" * 2), INVALID),
    Patch("an addition over a file", "codex opencode", {"new.txt": "x\n"}, whole(f"{ADD}+ahoy\n"), ADDED),
    Patch("an addition over a file with other line ends", "codex", {"new.txt": "x\r\ny\r\n"},
          whole(f"{ADD}+ahoy\n"), {"new.txt": "ahoy\r\n"}),
    Patch("a move over a file", "codex opencode", {"a.txt": TEXT, "b.txt": "b\n"},
          update("*** Move to: b.txt\n@@\n-mast\n+sail\n"), EXISTS,
          differs="they overwrite it, though nobody read it"),
    Patch("a deletion and an addition of one file", "codex", TEXT,
          whole("*** Delete File: a.txt\n*** Add File: a.txt\n+x\n"), INVALID,
          differs="codex runs them in order; an update says it, too"),
    Patch("a missing file is updated", "codex opencode cline", {}, update("@@\n-mast\n+sail\n"), NOT_FOUND),
    Patch("a missing file gets lines only", "codex", {}, update("@@\n+ahoy\n", "new.txt"), ADDED,
          differs="codex refuses; nothing can be lost"),
    Patch("a missing file is deleted", "codex opencode cline", TEXT, whole("*** Delete File: b.txt\n"),
          NOT_FOUND),
    Patch("a folder is deleted", "codex opencode", {"bay/b.txt": "b\n"}, whole("*** Delete File: bay\n"),
          ErrorType.NOT_A_FILE),
    Patch("one file fails", "opencode", TEXT, whole(f"{ADD}+ahoy\n*** Update File: none.txt\n@@\n-a\n+b\n"),
          NOT_FOUND, differs="codex keeps what it wrote before the failure; we write all or nothing"),
    Patch("one chunk fails", "codex opencode", TEXT, update("@@\n-mast\n+sail\n@@\n oar\n-rope\n+net\n"),
          MISMATCH, differs="cline skips the chunk and warns"),
]  # fmt: skip

PARSING = [
    Patch("no text", "opencode", TEXT, "", INVALID),
    Patch("no patch", "codex opencode", TEXT, "ahoy", INVALID),
    Patch("nothing between the markers", "codex opencode", TEXT, whole(""), INVALID),
    Patch("an unknown marker", "codex opencode cline", TEXT, whole("*** Paint File: a.txt\n"), INVALID),
    Patch("an update without chunks", "codex opencode", TEXT, update(""), INVALID),
    Patch("a chunk without lines", "codex", TEXT, update("@@\n"), INVALID),
    Patch("an end of file without lines", "codex", TEXT, update("@@\n*** End of File\n"), INVALID),
    Patch("a chunk that changes nothing", "codex", TEXT, update("@@\nmast\n"), INVALID),
    Patch("a deletion with lines", "codex opencode", TEXT, whole("*** Delete File: a.txt\nmast\n"), INVALID),
    Patch("a new file with one line that lacks its sign", "codex opencode cline", {}, whole(f"{ADD}+a\nb\n"),
          INVALID),
    Patch("a new file without any signs", "codex opencode cline", {}, whole(f"{ADD}a\nb\n"),
          {"new.txt": "a\nb\n"}, differs="they refuse; no line can be mistaken"),
    Patch("a blank line of a new file without its sign", "codex opencode", {}, whole(f"{ADD}+a\n\n+b\n"),
          {"new.txt": "a\n\nb\n"}, differs="they refuse; a blank line can be nothing else"),
    Patch("text before the first file", "codex", TEXT, whole(f"Now the sail:\n{CHANGE}"), CHANGED,
          differs="codex refuses; the text means nothing"),
    Patch("text before and after", "codex", TEXT, f"So:\n{whole(CHANGE)}Done.\n", CHANGED,
          differs="codex refuses; the text means nothing"),
    Patch("blanks around the whole", "codex", TEXT, f"\n \n{whole(CHANGE)}\n\n", CHANGED),
    Patch("blanks before the first marker", "codex", TEXT, f" {whole(CHANGE)}", CHANGED),
    Patch("blanks after the markers", "codex", TEXT, f"*** Begin Patch \n{CHANGE}*** End Patch \n", CHANGED),
    Patch("blanks before the last marker", "codex", TEXT, f"{BEGIN}{CHANGE} {END}", CHANGED),
    Patch("blanks before the name of the first file", "codex", TEXT, f"{BEGIN}  {CHANGE}{END}", CHANGED),
    Patch("blanks before the name of a later file", "codex", {"a.txt": TEXT, "b.txt": "b\n"},
          whole(f"*** Update File: b.txt\n@@\n-b\n+c\n  {CHANGE}"), MISMATCH),
    Patch("no first marker", "cline", {}, f"{ADD}+ahoy\n{END}", ADDED,
          differs="codex refuses; nothing is uncertain"),
    Patch("no last marker", "codex", TEXT, f"{BEGIN}{CHANGE}", CHANGED,
          differs="codex refuses; nothing is uncertain"),
    *(
        Patch(f"a shell wrapper, {shell}", "codex opencode", {}, f"{shell}\n{WHOLE_ADD}{word}\n", ADDED)
        for shell, word in (
            ("<<EOF", "EOF"), ("<<'EOF'", "EOF"), ('<<"EOF"', "EOF"), ("cat <<'EOF'", "EOF"),
            ("apply_patch <<'PATCH'", "PATCH"), ("applypatch <<'PATCH'", "PATCH"),
        )
    ),
    Patch("a shell wrapper with two kinds of quotes", "codex", {}, f"<<\"EOF'\n{WHOLE_ADD}EOF\n", ADDED,
          differs="codex refuses; the wrapper means nothing"),
    Patch("a shell wrapper around half a patch", "codex", TEXT,
          f"<<EOF\n{BEGIN}*** Update File: a.txt\nEOF\n", INVALID),
]  # fmt: skip

PLACES = [
    Patch("no header before the first chunk", "codex cline", TEXT, update(" bow\n+mid\n mast\n"),
          "bow\nmid\nmast\nstern\n"),
    Patch("lines are removed", "codex cline", TEXT, update("@@\n bow\n-mast\n stern\n"), "bow\nstern\n"),
    Patch("the first line", "codex", TEXT, update("@@\n-bow\n+prow\n mast\n"), "prow\nmast\nstern\n"),
    Patch("two changes in one chunk", "cline", TEXT, update("@@\n-bow\n+prow\n mast\n-stern\n+rear\n"),
          "prow\nmast\nrear\n"),
    Patch("chunks that touch", "codex opencode", TEXT + "keel\n",
          update("@@\n bow\n-mast\n+sail\n@@\n stern\n-keel\n+fin\n"), "bow\nsail\nstern\nfin\n"),
    Patch("lines change their order", "codex", "tea\nrum\n", update("@@\n-tea\n-rum\n+rum\n+rum\n+tea\n"),
          "rum\nrum\ntea\n"),
    Patch("chunks out of order", "cline codex", TEXT, update("@@\n-stern\n+rear\n@@\n-bow\n+prow\n"),
          "prow\nmast\nrear\n", differs="codex searches below the chunk before; each place is certain"),
    Patch("a line that is not there", "codex opencode cline", TEXT, update("@@\n-oar\n+rope\n"), MISMATCH),
    Patch("more lines than the file has", "codex", "bow\n", update("@@\n-bow\n-mast\n-stern\n+raft\n"),
          MISMATCH),
    Patch("the first of several places", "codex opencode", "tea\nrum\ntea\n", update("@@\n-tea\n+ale\n"),
          AMBIGUOUS, differs="codex takes the first of several places; it may be the wrong one"),
    Patch("the place after an earlier chunk", "codex", "tea\nrum\ntea\n",
          update("@@\n-rum\n+gin\n@@\n-tea\n+ale\n"), "tea\ngin\nale\n"),
    Patch("blank lines of context without a sign", "codex", "bow\n\nmast\nstern\n",
          update("@@\n bow\n\n-mast\n+sail\n stern\n"), "bow\n\nsail\nstern\n"),
    Patch("a blank line instead of a header", "opencode", "bow\nmast\nkeel\nfin\n",
          update("@@\n-mast\n+sail\n\n-fin\n+rudder\n"), "bow\nsail\nkeel\nrudder\n",
          differs="codex and opencode refuse; both removed lines have one place"),
    Patch("context without a sign", "cline", "go {\n  row\n}\n", update("@@\ngo {\n-  row\n+  sail\n}\n"),
          "go {\n  sail\n}\n"),
    Patch("a header decides between places", "codex opencode", "def a():\n    tea()\n\ndef b():\n    tea()\n",
          update("@@ def b():\n-    tea()\n+    rum()\n"), "def a():\n    tea()\n\ndef b():\n    rum()\n"),
    Patch("a header above lines that are not deeper", "codex opencode", "[bay]\ntea=1\n[sea]\ntea=1\n",
          update("@@ [sea]\n-tea=1\n+tea=2\n"), "[bay]\ntea=1\n[sea]\ntea=2\n"),
    Patch("the first of two such headers", "codex opencode", "[bay]\ntea=1\n[sea]\ntea=1\n",
          update("@@ [bay]\n-tea=1\n+tea=2\n"), "[bay]\ntea=2\n[sea]\ntea=1\n"),
    Patch("a heading above prose", "codex", "# Bay\n\nTea.\n\n# Sea\n\nTea.\n",
          update("@@ # Sea\n-Tea.\n+Rum.\n"), "# Bay\n\nTea.\n\n# Sea\n\nRum.\n"),
    Patch("two headers, one inside the other", "cline",
          "class A {\n  go() {\n    x()\n  }\n}\nclass B {\n  go() {\n    x()\n  }\n}\n",
          update("@@ class B {\n@@   go() {\n-    x()\n+    y()\n"),
          "class A {\n  go() {\n    x()\n  }\n}\nclass B {\n  go() {\n    y()\n  }\n}\n",
          differs="codex refuses a second header; it is no less certain"),
    Patch("the beginning of a header", "cline", "class Bay extends Sea {\n  go() {\n    tea()\n  }\n}\n",
          update("@@ class Bay\n   go() {\n-    tea()\n+    rum()\n   }\n"),
          "class Bay extends Sea {\n  go() {\n    rum()\n  }\n}\n", differs="codex wants the whole line"),
    Patch("a header that is not there", "cline", TEXT, update("@@ def sink():\n bow\n-mast\n+sail\n"),
          CHANGED, differs="codex refuses; the lines have one place"),
    Patch("a header that is not there, and two places", "codex", "bow\nmast\nbow\nmast\n",
          update("@@ def sink():\n bow\n-mast\n+sail\n"), AMBIGUOUS),
    Patch("lines alone under a header", "codex", "def a():\n    x()\ndef b():\n    y()\n",
          update("@@ def a():\n+    w()\n"), "def a():\n    w()\n    x()\ndef b():\n    y()\n",
          differs="codex appends them to the file (#30946)"),
    Patch("a long chunk of a long file", "cline", "".join(f"knot {n}\n" for n in range(900)),
          update("@@\n knot 500\n-knot 501\n+loop\n knot 502\n"),
          "".join("loop\n" if n == 501 else f"knot {n}\n" for n in range(900))),
]  # fmt: skip

ENDS = [
    Patch("the end of the file", "codex opencode", TEXT, update("@@\n-stern\n+rear\n*** End of File\n"),
          "bow\nmast\nrear\n"),
    Patch("the end decides between places", "codex opencode", "tea\nrum\ntea\n",
          update("@@\n-tea\n+ale\n*** End of File\n"), "tea\nrum\nale\n"),
    Patch("the end, but the lines are above it", "codex", "tea\nrum\n",
          update("@@\n-tea\n+ale\n*** End of File\n"), "ale\nrum\n"),
    Patch("a line below the last one", "codex", TEXT, update("@@\n stern\n+wake\n*** End of File\n"),
          f"{TEXT}wake\n"),
    Patch("lines alone at the end", "codex", TEXT, update("@@\n+wake\n*** End of File\n"), f"{TEXT}wake\n"),
    Patch("three chunks, the last at the end", "codex", "a\nb\nc\nd\ne\nf\n",
          update("@@\n a\n-b\n+B\n@@\n d\n-e\n+E\n@@\n f\n+g\n*** End of File\n"), "a\nB\nc\nd\nE\nf\ng\n"),
    Patch("lines alone, then a removal", "codex", TEXT, update("@@\n+wake\n@@\n bow\n-mast\n-stern\n+raft\n"),
          "bow\nraft\nwake\n"),
    *(
        Patch(f"lines alone below {text!r}", "codex opencode", text, update("@@\n+tea\n"), f"{text}tea\n")
        for text in ("", "\n", "rum\n", "rum\n\n", "rum\n\n\n")
    ),
    Patch("lines alone below a line without an end", "codex opencode", "rum", update("@@\n+tea\n"),
          "rum\ntea", differs="they add a last newline; the file has none"),
    Patch("a last line without an end", "codex opencode", "rum", update("@@\n-rum\n+tea\n+ale\n"), "tea\nale",
          differs="they add a last newline; the file has none"),
    Patch("the same in a CRLF file", "codex", "tea\r\nrum", update("@@\n-tea\n+ale\n"), "ale\r\nrum",
          differs="codex adds a last newline; the file has none"),
    Patch("blank lines at the end stay", "opencode", "\ufeffrum\n\n\n", update("@@\n-rum\n+tea\n"),
          "\ufefftea\n\n\n"),
    Patch("a blank line at the end is removed", "opencode", "rum\n\n",
          update("@@\n-rum\n-\n+tea\n*** End of File\n"), "tea\n"),
    Patch("a CRLF file", "codex", "bow\r\nmast\r\nstern\r\n",
          update("@@\n-bow\n+prow\n@@\n mast\n+\n+mid\n stern\n"), "prow\r\nmast\r\n\r\nmid\r\nstern\r\n"),
    Patch("a changed line keeps its own end", "codex", "bow\r\nmast\nstern\r\nkeel\n",
          update("@@\n bow\n mast\n-stern\n+rear\n keel\n"), "bow\r\nmast\nrear\r\nkeel\n"),
    Patch("of two equal lines the other one's end stays", "codex", "tea\r\ntea\n", update("@@\n-tea\n tea\n"),
          "tea\n"),
    Patch("a return inside a line stays", "codex", "tea\r\r\nrum\r\n", update("@@\n+ale\n*** End of File\n"),
          "tea\r\r\nrum\r\nale\r\n"),
]  # fmt: skip

FORGIVING = [
    Patch("blanks at the ends of lines", "codex opencode cline", "bow   \nmast\t\t\n",
          update("@@\n bow\n-mast\n+sail\n"), "bow   \nsail\n"),
    Patch("blanks at the ends of the patch's lines", "cline", TEXT, update("@@\n bow  \n-mast\n+sail\n"),
          CHANGED),
    Patch("indentation", "codex opencode", "\ufeffgo\n  bow  \n   mast\t\n",
          update("@@\n bow\n-mast\n+sail\n"), "\ufeffgo\n  bow  \n   sail\n",
          differs="codex and opencode write the line without indentation"),
    Patch("two chunks, each with other blanks", "opencode", "anchor   \n  compass\n",
          update("@@\n-anchor\n+chain\n@@\n-compass\n+chart\n"), "chain\n  chart\n",
          differs="opencode writes the second line without indentation"),
    Patch("context keeps its indentation", "codex", "    if a:\n        tea()\n    if b:\n        rum()\n",
          update("@@\n   if a:\n       tea()\n+  if c:\n+      ale()\n   if b:\n"),
          "    if a:\n        tea()\n    if c:\n        ale()\n    if b:\n        rum()\n"),
    Patch("an exact line before a similar one", "codex", "  tea()\ntea()\n", update("@@\n-tea()\n+rum()\n"),
          "  tea()\nrum()\n"),
    Patch("characters beyond ASCII", "codex cline", "bow\nnaïve rum\n",
          update("@@\n bow\n-naïve rum\n+naïve rum ✅\n"), "bow\nnaïve rum ✅\n"),
    Patch("plain dashes for typographic ones", "codex opencode", "go()  # tea \u2013 no top\u2011grade rum\n",
          update("@@\n-go()  # tea - no top-grade rum\n+go()  # ale\n"), "go()  # ale\n"),
    Patch("a plain dash for a long one in context", "codex", "# bay \u2014 sea\nanchor\n",
          update("@@\n # bay - sea\n-anchor\n+chain\n"), "# bay \u2014 sea\nchain\n"),
    Patch("a plain dash for a long one in a removed line", "codex", "go()  # bay \u2014 sea\n",
          update("@@\n-go()  # bay - sea\n+go()  # lake\n"), "go()  # lake\n"),
    Patch("a long dash for a plain one in context", "cline", "# bay - sea\nanchor\n",
          update("@@\n # bay \u2014 sea\n-anchor\n+chain\n"), "# bay - sea\nchain\n"),
    Patch("a long dash for a plain one in a removed line", "cline", "go()  # bay - sea\n",
          update("@@\n-go()  # bay \u2014 sea\n+go()  # lake\n"), "go()  # lake\n"),
    Patch("curly quotes for straight ones", "cline opencode", "x = \"tea\"\ny = 'rum'\n",
          update("@@\n x = “tea”\n-y = ‘rum’\n+y = 'ale'\n"), "x = \"tea\"\ny = 'ale'\n"),
    Patch("composed characters in context", "opencode", "# cafe\u0301\nanchor\n",
          update("@@\n # caf\u00e9\n-anchor\n+chain\n"), "# cafe\u0301\nchain\n"),
    Patch("composed characters in removed lines", "opencode", "# cafe\u0301\ntea\n",
          update("@@\n-# caf\u00e9\n-tea\n+# bar\n+rum\n"), "# bar\nrum\n"),
    Patch("composed characters and punctuation", "opencode", "# cafe\u0301 – “bar”\ntea\n",
          update('@@\n-# caf\u00e9 - "bar"\n+# inn\n tea\n'), "# inn\ntea\n"),
    Patch("decomposed characters at the end of the file", "opencode", "cafe\u0301\ncafe\u0301\n",
          update("@@\n-caf\u00e9\n+bar\n*** End of File\n"), "cafe\u0301\nbar\n"),
    Patch("equal characters before equivalent ones", "opencode", "cafe\u0301\ncaf\u00e9\n",
          update("@@\n-caf\u00e9\n+bar\n"), "cafe\u0301\nbar\n"),
    Patch("a ligature is another word", "opencode", "sta\ufb00\n", update("@@\n-staff\n+crew\n"), MISMATCH),
    Patch("quotes that were escaped", "cline", "go {\n  s = `tea`\n}\n",
          update("@@\n go {\n-  s = \\`tea\\`\n+  s = \\`rum\\`\n }\n"), MISMATCH,
          differs="cline writes the backslashes into the file"),
]  # fmt: skip


@pytest.mark.parametrize("row", [*FILES, *PARSING, *PLACES, *ENDS, *FORGIVING], ids=name_of)
async def test_an_envelope_is_applied_or_refused(tmp_path: Path, row: Patch) -> None:
    assert await patched(patch_bench(tmp_path / "ws"), "apply_patch", row) == expected(row), row.differs
