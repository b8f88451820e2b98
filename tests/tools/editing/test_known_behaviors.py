"""What the suites of other agents expect of string replacement, as `edit` does it."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench
from tests.tools.editing.known import Edit, name_of, outcome, text_of

NO_MATCH, AMBIGUOUS, INVALID = ErrorType.NO_MATCH, ErrorType.AMBIGUOUS_MATCH, ErrorType.INVALID_TOOL_PARAMS
NOT_FOUND = ErrorType.FILE_NOT_FOUND

EXACT = [
    Edit("a part of a line", "opencode gemini continue", "the salty sea", "salty", "calm", "the calm sea"),
    Edit("the beginning of the file", "continue", "oak elm ash", "oak", "fir", "fir elm ash"),
    Edit("the end of the file", "continue", "oak elm ash", "ash", "fir", "oak elm fir"),
    Edit("the whole file", "continue", "oak elm", "oak elm", "fir", "fir"),
    Edit("one character", "continue", "p q r", "q", "s", "p s r"),
    Edit("an emoji", "continue", "Hi 🌊 all\n", "🌊", "⛵", "Hi ⛵ all\n"),
    Edit("other scripts in the new text", "cline", "say 'ahoy'\n", "ahoy", "你好", "say '你好'\n"),
    Edit("ten thousand characters", "continue", f"<{'z' * 10_000}>", "z" * 10_000, "y", "<y>"),
    Edit("a needle between long lines", "continue", "z" * 9_000 + "fork" + "y" * 9_000, "fork", "spoon",
         "z" * 9_000 + "spoon" + "y" * 9_000),
    Edit("one line becomes two", "opencode", "soup\nfish\npie", "fish", "crab\nclam",
         "soup\ncrab\nclam\npie"),
    Edit("two lines become two", "continue", "soup\nfish\npie\n", "soup\nfish", "stew\ncrab",
         "stew\ncrab\npie\n"),
    Edit("a line above another", "roo", "def boil(egg):\n\n    wait(4)\n", "def boil(egg):",
         "import pot\ndef boil(egg):", "import pot\ndef boil(egg):\n\n    wait(4)\n"),
    Edit("lines below the last one", "roo", "\t\trow={go}", "\t\trow={go}", "\t\trow={go}\n\t\ttap={stop}",
         "\t\trow={go}\n\t\ttap={stop}"),
    Edit("one of two lines that begin alike", "continue", "warm tea\nwarm milk\n", "warm tea", "iced tea",
         "iced tea\nwarm milk\n"),
    Edit("a part of a line is deleted", "continue", "hot tea", "hot ", "", "tea"),
    Edit("lines with their ends are deleted", "roo cline", "boil()\n# wait\nstir()\n", "# wait\n", "",
         "boil()\nstir()\n"),
    Edit("a whole line without its end is deleted with it", "roo cline", "boil()\n# wait\nstir()\n", "# wait",
         "", "boil()\nstir()\n"),
    Edit("the last line is deleted", "cline", "tea\nrum\nale", "ale", "", "tea\nrum\n"),
    Edit("the new text lacks the end of its last line", "aider roo cline", "tea\nrum\nale\n", "rum\n", "gin",
         "tea\ngin\nale\n"),
    Edit("the same before an indented line", "aider roo cline", "go {\n    tea()\n    rum()\n}\n",
         "    tea()\n", "    ale()", "go {\n    ale()\n    rum()\n}\n"),
    Edit("the new text has an end that the old text lacks", "aider roo cline", "tea\nrum\nale\n", "rum",
         "gin\n", "tea\ngin\n\nale\n", differs="they end every line themselves; a blank line may be meant"),
    Edit("the old text begins with the end of the line above, the new text does not", "roo",
         "boat() {\n    row(1)\n}\n", "\n    row(1)\n", "    row(2)\n", "boat() {\n    row(2)\n}\n"),
    Edit("indentation inside the block is kept", "roo",
         "if hot:\n    if big:\n        cut()\n        eat()\n", "        cut()\n        eat()\n",
         "        eat()\n", "if hot:\n    if big:\n        eat()\n"),
    Edit("less indentation is written if asked", "roo", "if hot:\n        eat()\n", "        eat()",
         "    eat()", "if hot:\n    eat()\n"),
    Edit("no indentation is written if asked", "roo", "if hot:\n    eat()\n", "    eat()", "eat()",
         "if hot:\neat()\n"),
    Edit("tabs and blanks are kept as they are", "roo", "\tcup {\n\t    tea()\n\t}", "\t    tea()",
         "\t    tea()\n\t\tmilk()", "\tcup {\n\t    tea()\n\t\tmilk()\n\t}"),
    Edit("blanks on an empty line are kept", "roo", "cup() {\n    tea();\n    \n    sip();\n",
         "    tea();\n    \n    sip();", "    tea();\n    \n    // slowly\n    sip();",
         "cup() {\n    tea();\n    \n    // slowly\n    sip();\n"),
    Edit("a byte order mark stays", "opencode", "\ufeffuse Sea;\nboat {}\n", "use Sea;", "use Lake;",
         "\ufeffuse Lake;\nboat {}\n"),
    Edit("conflict markers are plain text", "roo", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> dev\n",
         "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> dev\n", "c\n", "a\nc\n"),
    Edit("an ellipsis is a body in Python", "gemini", "def sip(): pass\n", "def sip(): pass",
         "def sip():\n    ...", "def sip():\n    ...\n"),
]  # fmt: skip

CHARACTERS = [
    Edit("a dollar amount", "gemini roo", "it costs $5 now", "costs $5", "costs $9", "it costs $9 now"),
    Edit("dollar and quote", "gemini", "mast", "mast", "sail$'rope", "sail$'rope"),
    Edit("dollar and ampersand", "gemini", "old mast", "old", "$&-new", "$&-new mast"),
    Edit("dollar and backtick", "gemini", "a-mast-b", "mast", "s$`l", "a-s$`l-b"),
    Edit("dollar and digits", "gemini", "a mast", "mast", "$1\\1\\g<0>", "a $1\\1\\g<0>"),
    Edit("two dollars everywhere", "gemini", "fee or fee", "fee", "$$7", "$$7 or $$7", replace_all=True),
    Edit("characters of regular expressions", "gemini continue", "m = /^[sv]d(x)?[a-z]$/\n",
         "/^[sv]d(x)?[a-z]$/", "/^[sv]d$/", "m = /^[sv]d$/\n"),
    Edit("backslashes", "continue", 'p = "C:\\Sea\\boat"\n', "C:\\Sea\\boat", "D:\\Sea\\boat",
         'p = "D:\\Sea\\boat"\n'),
    Edit("an escaped newline in code", "opencode", 's = "ahoy\\nbye"\n', '"ahoy\\nbye"', '"ahoy\\nciao"',
         's = "ahoy\\nciao"\n'),
    Edit("quotes that were escaped once too often", "cline", "cry(`land ahead`)\n", "cry(\\`land ahead\\`)",
         "cry(\\`ship ahead\\`)", "cry(`ship ahead`)\n"),
    Edit("entities of the file are text", "roo", "sea &lt; lake\n", "sea &lt; lake", "sea < lake",
         "sea < lake\n"),
    Edit("entities are not their characters", "roo", "sea &lt; lake and pond\n", "sea < lake and pond",
         "sea > lake and pond", NO_MATCH),
    Edit("a non-breaking space", "continue", "depth = low\u00a0+ tide\n", "depth = low + tide",
         "depth = low - tide", "depth = low\u00a0- tide\n"),
    Edit("a plain dash for a long one in context", "codex opencode", "# port — left\nturn()\n",
         "# port - left\nturn()", "# port - left\nstay()", "# port — left\nstay()\n"),
    Edit("a plain dash for a long one in a changed line", "codex opencode", "go()\n# port — left\n",
         "# port - left", "# port - right", "go()\n# port — right\n"),
    Edit("a long dash for a plain one in context", "cline", "# port - left\nturn()\n",
         "# port — left\nturn()", "# port — left\nstay()", "# port - left\nstay()\n"),
    Edit("a long dash for a plain one in a changed line", "cline", "go()\n# port - left\n", "# port — left",
         "# port — right", "go()\n# port - right\n"),
    Edit("composed characters for decomposed ones in context", "opencode", "# cafe\u0301 open\nserve()\n",
         "# caf\u00e9 open\nserve()", "# caf\u00e9 open\nclose()", "# cafe\u0301 open\nclose()\n"),
    Edit("composed characters for decomposed ones in a changed line", "opencode", "go()\n# cafe\u0301 open\n",
         "# caf\u00e9 open", "# caf\u00e9 shut", "go()\n# cafe\u0301 shut\n"),
    Edit("a ligature is another word", "opencode", "sta\ufb00 = 4\n", "staff = 4", "staff = 5", NO_MATCH),
    Edit("upper case is another word", "continue", "MaxDepth = 3\n", "maxdepth = 3", "maxdepth = 4", NO_MATCH,
         differs="continue ignores case at last; case tells names apart"),
]  # fmt: skip

REFUSED = [
    Edit("a missing file", "opencode gemini roo", None, "tea", "milk", NOT_FOUND),
    Edit("an empty old text and no file", "opencode gemini aider roo", None, "", "tea\n", INVALID,
         differs="they create the file; that is what write is for"),
    Edit("an empty old text and a file", "opencode gemini", "tea\n", "", "milk\n", INVALID),
    Edit("an empty old text and an empty file", "cline continue", "", "", "milk\n", INVALID,
         differs="they fill the file; that is what write is for"),
    Edit("an old text of blanks", "continue", "tea\n", "  \n\t ", "milk\n", NO_MATCH,
         differs="continue inserts at the top; nothing says where this belongs"),
    Edit("an empty file", "continue", "", "tea", "milk", NO_MATCH),
    Edit("an old text longer than the file", "continue", "tea", "a pot of tea\nand a cup\n", "milk",
         NO_MATCH),
    Edit("equal texts", "opencode roo continue", "tea\n", "tea", "tea", INVALID),
    Edit("two empty texts", "opencode", "tea\n", "", "", INVALID),
    Edit("text that is not there", "everyone", "a cup of tea\n", "a bowl of soup", "a pie", NO_MATCH),
    Edit("several places", "opencode gemini roo continue", "tea tea\n", "tea", "milk", AMBIGUOUS),
    Edit("the first of several lines", "aider", "row()\nrest()\nrow()\nstop()\n", "row()\n", "sail()\n",
         AMBIGUOUS, differs="aider takes the first place; it may be the wrong one"),
    Edit("the first of several indented lines", "aider", "    row()\n    rest()\n    row()\n", "row()\n",
         "sail()\n", AMBIGUOUS, differs="aider takes the first place; it may be the wrong one"),
    Edit("every place, and there is none", "gemini", "tea\n", "milk", "soup", NO_MATCH, replace_all=True),
    Edit("a placeholder for code in the new text", "gemini",
         "class Cup:\n    def fill(self): ...\n    def empty(self): ...\n",
         "    def fill(self): ...\n    def empty(self): ...\n",
         "    # ... rest of the methods ...\n    def wash(self): ...\n", INVALID),
    Edit("a placeholder in brackets", "gemini", "tea\n", "tea", "(rest of the recipe ...)", INVALID),
    Edit("a placeholder more than in the old text", "gemini", "# ... rest of code ...\ntea()\n",
         "# ... rest of code ...\ntea()", "# ... rest of code ...\n# ... unchanged code ...\n", INVALID),
    Edit("placeholders that the file has", "gemini", "(rest of code ...)\n(unchanged code ...)\n",
         "(rest of code ...)\n(unchanged code ...)", "(unchanged code ...)\n(rest of code ...)",
         "(unchanged code ...)\n(rest of code ...)\n"),
    Edit("a placeholder inside a string", "gemini", 's = "tea"\n', 's = "tea"', 's = "(rest of code ...)"',
         's = "(rest of code ...)"\n'),
]  # fmt: skip

EVERY_PLACE = [
    Edit("every place", "opencode gemini continue", "tea or tea\n", "tea", "rum", "rum or rum\n",
         replace_all=True),
    Edit("every place, and there is one", "gemini", "a tea\n", "tea", "rum", "a rum\n", replace_all=True),
    Edit("inside longer words, too", "continue", "sail sailor\n", "sail", "row", "row rowor\n",
         replace_all=True),
    Edit("every place is deleted", "continue", "no tea no rum", "no ", "", "tea rum", replace_all=True),
    Edit("places that would overlap", "continue", "oooo", "oo", "u", "uu", replace_all=True),
    Edit("blocks with LF", "opencode", "a\nb\na\nb\n", "a\nb", "a\nc", "a\nc\na\nc\n", replace_all=True),
    Edit("blocks with CRLF", "opencode", "a\r\nb\r\na\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\na\r\nc\r\n",
         replace_all=True),
]  # fmt: skip

LINE_ENDS = [
    Edit("one line of a CRLF file", "opencode gemini", "a\r\nold\r\nb", "old", "new", "a\r\nnew\r\nb"),
    Edit("CRLF everywhere", "opencode", "a\r\nb\r\nc\r\n", "a\r\nb\r\nc", "a\r\nx\r\nc", "a\r\nx\r\nc\r\n"),
    Edit("the file LF, both texts CRLF", "opencode", "a\nb\nc\n", "a\r\nb\r\nc", "a\r\nx\r\nc", "a\nx\nc\n"),
    Edit("the file CRLF, both texts LF", "opencode roo", "a\r\nb\r\nc\r\n", "a\nb\nc", "a\nx\nc",
         "a\r\nx\r\nc\r\n"),
    Edit("the file LF, the new text CRLF", "opencode", "a\nb\nc\n", "a\nb", "a\r\nx", "a\r\nx\nc\n",
         differs="opencode writes LF; that is how a model asks for CRLF"),
    Edit("the file CRLF, the new text LF", "opencode", "a\r\nb\r\nc\r\n", "a\r\nb", "a\nx",
         "a\r\nx\r\nc\r\n"),
    Edit("the file CRLF, the new text CRLF", "opencode", "a\r\nb\r\nc\r\n", "a\nb", "a\r\nx",
         "a\r\nx\r\nc\r\n"),
    Edit("the file LF, texts mixed", "opencode", "a\nb\nc\n", "a\nb\r\nc", "a\r\nb\nx", "a\nb\nx\n"),
    Edit("the file CRLF, texts mixed", "opencode", "a\r\nb\r\nc\r\n", "a\r\nb\nc", "a\nb\r\nx",
         "a\r\nb\r\nx\r\n"),
    Edit("a text that begins with a line end", "continue", "a\r\nb\nc", "\r\nb", "\r\nx", "a\r\nx\nc"),
    Edit("a changed line keeps its own end", "codex", "a\r\nbay\nsea\r\nlake\n", "bay\nsea\nlake",
         "bay\nSEA\nlake", "a\r\nbay\nSEA\r\nlake\n"),
    Edit("a changed line found without indentation keeps its end", "codex", "a\r\n  bay\n  sea\r\n  lake\n",
         "bay\nsea\nlake\n", "bay\nSEA\nlake\n", "a\r\n  bay\n  SEA\r\n  lake\n"),
    Edit("the last line has no end, the old text has", "gemini", "one\nlast", "last\n", "end\n", "one\nend"),
]  # fmt: skip


@pytest.mark.parametrize("row", [*EXACT, *CHARACTERS, *REFUSED, *EVERY_PLACE, *LINE_ENDS], ids=name_of)
async def test_text_is_replaced_as_written_or_refused(tmp_path: Path, row: Edit) -> None:
    assert await edited(Bench(tmp_path / "ws"), row) == row.after, row.differs


async def edited(bench: Bench, row: Edit) -> str | ErrorType:
    if row.before is not None:
        bench.put("a.txt", row.before)
    arguments = {"old_string": row.old, "new_string": row.new, "replace_all": row.replace_all}
    result = await outcome(bench, "edit", path="a.txt", **arguments)
    return result if isinstance(result, ErrorType) else result["a.txt"]


async def test_a_folder_is_not_edited(tmp_path: Path) -> None:
    """Also in opencode's suite."""
    bench = Bench(tmp_path / "ws")
    bench.put("bay/boat.txt", "tea\n")

    assert (
        await outcome(bench, "edit", path="bay", old_string="tea", new_string="rum") is ErrorType.NOT_A_FILE
    )


async def test_two_edits_of_one_file_at_once_are_both_kept(tmp_path: Path) -> None:
    """Also in opencode's suite."""
    bench = Bench(tmp_path / "ws")
    bench.put("a.txt", "bow = 0\nmast = 0\nstern = 0\n")

    await asyncio.gather(
        *(
            bench.run("edit", None, path="a.txt", old_string=f"{part} = 0", new_string=f"{part} = 1")
            for part in ("bow", "mast", "stern")
        )
    )

    assert text_of(bench.root) == {"a.txt": "bow = 1\nmast = 1\nstern = 1\n"}
