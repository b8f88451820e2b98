"""What the suites of other agents expect if the old text is not exactly in the file, as `edit` does it."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench
from tests.tools.editing.known import Edit, name_of, outcome

NO_MATCH, AMBIGUOUS = ErrorType.NO_MATCH, ErrorType.AMBIGUOUS_MATCH

CREW = "    board()\n    row()\n    land()\n"
CUP = "class Cup:\n    def fill(self):\n        pour()\n"
OVEN = "oven = {\n  hot: true,\n  hours: 3\n};"
NOTES = "/**\n * bay: 1\n * cove: 2\n */\nfn sail() {}\n\n/**\n * lake: 1\n * pond: 2\n */\nfn row() {}\n"

INDENTATION = [
    Edit("all of it is missing", "aider roo continue", CREW, "board()\nrow()\n", "embark()\npaddle()\n",
         "    embark()\n    paddle()\n    land()\n"),
    Edit("some of it is missing, and a new line is deeper", "aider", CREW, " board()\n row()\n",
         " if ok:\n     row()\n", "    if ok:\n        row()\n    land()\n"),
    Edit("it is missing from lines of two depths", "aider gemini",
         "\n    board()\n    if wind:\n        sail()\n", "if wind:\n    sail()\n", "if tide:\n    drift()\n",
         "\n    board()\n    if tide:\n        drift()\n"),
    Edit("a block keeps its depth", "gemini", "    if (wind) {\n        sail();\n    }\n",
         "if (wind) {\n    sail();\n}", "if (wind) {\n    drift();\n}",
         "    if (wind) {\n        drift();\n    }\n"),
    Edit("a new line inside a block", "continue",
         "class Boat:\n    def go(self):\n        if wind:\n            sail()\n", "if wind:\n    sail()",
         "if wind:\n    sail()\n    steer()",
         "class Boat:\n    def go(self):\n        if wind:\n            sail()\n            steer()\n"),
    Edit("more than the file has", "roo", "boat {\n    go() {\n        row();\n    }\n}",
         "    boat {\n        go() {\n            row();\n        }\n    }",
         "    boat {\n        go() {\n            row();\n            rest();\n        }\n    }",
         "boat {\n    go() {\n        row();\n        rest();\n    }\n}"),
    Edit("a new line gets the file's tabs", "roo", "\tboat() {\n\t\trow();\n\t}", "boat() {\n\trow();\n}",
         "boat() {\n\t// slowly\n\trow();\n}", "\tboat() {\n\t\t// slowly\n\t\trow();\n\t}"),
    Edit("blanks for tabs", "continue", "fn boat() {\n\trow = 1;\n}\n", "  row = 1;",
         "  row = 2;\n  rest = 3;", "fn boat() {\n\trow = 2;\n\trest = 3;\n}\n"),
    Edit("blanks for tabs in a block", "continue roo", "boat() {\n\treturn 7;\n}",
         "boat() {\n    return 7;\n}", "boat() {\n    return 8;\n}", "boat() {\n\treturn 8;\n}"),
    Edit("every line keeps its own", "gemini", "  board()\n    row()\n", "board()\nrow()",
         "embark()\npaddle()", "  embark()\n    paddle()\n",
         differs="gemini gives all lines the indentation of the first"),
    Edit("a part of a line", "cline", "bow\n  mast() \nstern", "mast()", "sail()", "bow\n  sail() \nstern",
         differs="cline replaces the whole line and loses its indentation"),
    Edit("only the first line lacks it", "gemini", CUP, "def fill(self):\n        pour()",
         "def top_up(self):\n        drip()", "class Cup:\n    def top_up(self):\n        drip()\n"),
    Edit("the new text has the file's, the old text has none", "gemini", CUP, "def fill(self):\n    pour()\n",
         "    def drain(self):\n        tip()\n", "class Cup:\n    def drain(self):\n        tip()\n"),
    Edit("a new first line has the file's, the old text has none", "gemini", "  # cups\n\n  def fill(): ...",
         "\ndef fill(): ...", "\n  def drain(): ...", "  # cups\n\n  def drain(): ..."),
    Edit("the new text is dedented as a whole", "gemini", "\n  fn fill() {\n    // by hand\n  }",
         "fn  fill() {\n    // by hand\n  }", "fn drain() {\n  // by gravity\n}", NO_MATCH,
         differs="gemini shifts all lines; the model's indentation is not consistent"),
    Edit("a line that is off by one level takes no new neighbor", "roo",
         "    make() {\n        if (hot) {\n            boil();\n        }\n    }\n",
         "    make() {\n        if (hot) {\n        boil();\n        }\n    }\n",
         "    make() {\n        if (hot) {\n        boil();\n        taste();\n        }\n    }\n", NO_MATCH,
         differs="roo writes the model's indentation; the depth of the new line is not certain"),
]  # fmt: skip

BLANKS = [
    Edit("inside a line", "gemini roo", "  fn  mix( egg, oil ) {\n    stir;\n  }", "fn mix(egg, oil) {",
         "fn beat(egg, oil) {", "  fn  beat( egg, oil ) {\n    stir;\n  }",
         differs="gemini writes the model's blanks; we keep the file's where nothing changed"),
    Edit("inside several lines", "roo continue", "def mix(egg, oil):\n    return egg + oil\n",
         "def   mix(egg,   oil)  :\n    return    egg + oil", "def mix(egg, oil):\n    return egg + oil + 1",
         "def mix(egg, oil):\n    return egg + oil + 1\n"),
    Edit("more in the file than in both texts", "continue",
         "def outer():\n    if  hot:\n        return  42\n", "if hot:\n    return 42",
         "if hot:\n    return 99", "def outer():\n    if  hot:\n        return  99\n",
         differs="continue writes the model's blanks; we keep the file's where nothing changed"),
    Edit("around a line", "continue", "total = weigh(egg)\n", "  total = weigh(egg)  ",
         "  total = weigh(oil)  ", "total = weigh(oil)\n"),
    Edit("around a part of a line", "continue", "total = weigh(egg) + 1\n", "  weigh(egg)  ",
         "  weigh(oil)  ", NO_MATCH,
         differs="continue looks for the text without them; we do so for whole lines"),
    Edit("blank lines around both texts", "continue", "def weigh(egg): 1\n", "\t\ndef weigh(egg)\n\t",
         "\t\ndef weigh(oil)\n\t", "def weigh(oil): 1\n"),
    Edit("a blank line above the old text only", "aider", CREW, "\n  board()\n  row()\n",
         "  embark()\n  paddle()\n", "    embark()\n    paddle()\n    land()\n"),
    Edit("a blank line below the old text only", "roo", "boat() {\n    row(1)\n}\n", "    row(1)\n\n",
         "    row(2)\n", "boat() {\n    row(2)\n}\n"),
    Edit("more blank lines around the old text", "roo", "boat() {\n    row(1)\n}\n", "\n\n    row(1)\n\n\n",
         "\n    row(2)\n\n", "boat() {\n    row(2)\n}\n"),
    Edit("a blank line above the block stays", "gemini", "\n  def fill():\n    # by hand\n    pass",
         "def  fill():\n  # by hand\n  pass", "def drain():\n  # by pump\n  pass",
         "\n  def drain():\n    # by pump\n    pass"),
    Edit("lines joined into one", "continue", "def fill():\n  return 1\n", "def fill(): return 1",
         "def fill(): return 2", NO_MATCH,
         differs="continue joins the lines of the file, too; its layout would go"),
    Edit("code without any blanks", "continue", '{\n  "egg": 1,\n  "oil": 2\n}\n', '{"egg":1,"oil":2}',
         '{"egg":1,"oil":3}', NO_MATCH,
         differs="continue joins the lines of the file, too; its layout would go"),
]  # fmt: skip

SLIPS = [
    Edit("in a line that stays", "roo cline", OVEN, OVEN.replace("true,", "true"),
         OVEN.replace("true,", "true").replace("3", "5"), OVEN.replace("3", "5")),
    Edit("in a line that stays, without indentation", "gemini",
         "    oven = {\n      hot: true,\n      hours: 3\n    };", "oven = {\n  hot: true\n  hours: 3\n};",
         "oven = {\n  hot: true\n  hours: 5\n};", "    oven = {\n      hot: true,\n      hours: 5\n    };"),
    Edit("in a line that is replaced", "gemini roo", OVEN, OVEN.replace("true,", "true"),
         OVEN.replace("true", "false"), NO_MATCH,
         differs="they replace what is 90 % similar; the model may mean another line"),
    Edit("in a comment that the new text has right", "cline", NOTES,
         "/**\n * lake: 1 or so\n * pond: 2\n */\nfn row() {}\n",
         "/**\n * lake: 1\n * pond: 2\n */\nfn row() {1}\n", NO_MATCH,
         differs="cline compares first and last lines; the model saw another file"),
    Edit("in every line", "gemini roo", OVEN, "fn bake() {\n  return false;\n}", "oven = {\n  hot: false\n};",
         NO_MATCH),
    Edit("two distant pieces as one", "opencode",
         "a {\n  gap: 3px;\n}\n" + "b {}\n" * 6 + "/* ===\n   9. TOUCH\n",
         "  gap: 3px;\n}\n\n/* ===\n   9. TOUCH", "  gap: 2px;", NO_MATCH),
    Edit("a line that the old text leaves out stays", "opencode", "def go():\n    row()\n    rest()\n",
         "def go():\n    rest()\n", "def go():\n    sail()\n", "def go():\n    row()\n    sail()\n",
         differs="opencode deletes everything between the first and the last line"),
    Edit("a body that was made up", "opencode", "fn go() {\n  a = 1\n  b = 2\n}\n",
         "fn go() {\n  // x\n  // y\n}\n", "fn go() {\n  stop\n}\n", NO_MATCH),
    Edit("quotes of the other kind at two places", "gemini", "stir()\nsay('hot')\n\nstir()\nsay('hot')\n",
         'stir()\nsay("hot")\n', 'stir()\nsay("mild")\n', AMBIGUOUS,
         differs="gemini changes both places, unasked"),
    Edit("dots for lines that stay", "aider", "bow()\nmast()\nsail()\nstern()\n", "bow()\n...\nstern()\n",
         "prow()\n...\nrear()\n", "prow()\nmast()\nsail()\nrear()\n"),
    Edit("dots in the old text only", "aider", "bow()\nmast()\nsail()\nstern()\n", "bow()\n...\nstern()\n",
         "prow()\nstern()\n", NO_MATCH),
    Edit("dots between lines that occur twice", "aider", "bow()\nmast()\nend()\nbow()\nsail()\nend()\n",
         "bow()\n...\nend()\n", "bow()\n...\nstop()\n", AMBIGUOUS),
]  # fmt: skip

WRAPPERS = [
    Edit("line numbers with a bar", "roo", "bow\nmast\nstern", "1 | bow\n2 | mast\n3 | stern",
         "1 | bow\n2 | sail\n3 | stern", "bow\nsail\nstern"),
    Edit("line numbers with a bar in a CRLF file", "roo", "bow\r\nmast\r\nstern",
         "1 | bow\n2 | mast\n3 | stern", "1 | bow\n2 | sail\n3 | stern", "bow\r\nsail\r\nstern"),
    Edit("the number of one line", "roo", "a mast stands here", "1 | a mast stands here",
         "1 | a sail hangs here", "a sail hangs here"),
    Edit("a numbered line is deleted", "roo", "bow\nthe mast\nstern", "2 | the mast\n", "", "bow\nstern"),
    Edit("numbers in the old text only", "roo", "bow\nthe mast\nstern", "2 | the mast", "the sail",
         "bow\nthe sail\nstern"),
    Edit("only the number differs", "roo", "the mast;", "1479 | the mast;", "1488 | the mast;", NO_MATCH,
         differs="roo reports success though nothing changes"),
    Edit("numbers that are in the file", "roo", "1 | bow\n2 | mast\n", "2 | mast", "2 | sail",
         "1 | bow\n2 | sail\n"),
    Edit("a fence around the old text", "aider", "bow = 1\nmast = 2\n", "```py\nbow = 1\n```", "bow = 3",
         "bow = 3\nmast = 2\n"),
]  # fmt: skip


@pytest.mark.parametrize("row", [*INDENTATION, *BLANKS, *SLIPS, *WRAPPERS], ids=name_of)
async def test_the_old_text_is_found_with_differences_or_refused(tmp_path: Path, row: Edit) -> None:
    bench = Bench(tmp_path / "ws")
    bench.put("a.txt", row.before or "")

    result = await outcome(bench, "edit", path="a.txt", old_string=row.old, new_string=row.new)

    assert (result if isinstance(result, ErrorType) else result["a.txt"]) == row.after, row.differs
