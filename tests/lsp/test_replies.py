"""Whatever a server sends, what is passed on fits into one line."""

from coder_tui.lsp.replies import contents, findings, places, symbols
from coder_tui.lsp.server_session import RefusedError

HUGE = "é" * 12_000_000
HERE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}


def test_texts_that_are_too_long_are_cut() -> None:
    (found,) = findings([{"range": HERE, "message": HUGE, "code": HUGE, "source": HUGE}])
    assert (len(found.message), len(found.code), len(found.source)) == (4_000, 1_000, 1_000)
    assert len(contents({"contents": [HUGE, HUGE]})) == 100_000
    assert len(places({"uri": f"file:///{HUGE}", "range": HERE})[0].uri) == 16_000
    inner = {"name": HUGE, "kind": 12, "range": HERE, "selectionRange": HERE}
    named = symbols([{**inner, "children": [inner]}], "file:///w/a.py")
    assert [(len(symbol.name), len(symbol.container)) for symbol in named] == [(1_000, 0), (1_000, 1_000)]
    (reported,) = symbols([{"name": HUGE, "kind": 1, "location": {"uri": HUGE}, "containerName": HUGE}], "")
    assert (len(reported.name), len(reported.container)) == (1_000, 1_000)
    assert len(str(RefusedError(0, HUGE))) == 1_000
