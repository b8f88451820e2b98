"""What must be true for any text: nothing outside a change is touched, and our diffs apply."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.diffs.unified import unified_diff
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.editing.patch_plan import apply_hunks
from coder_tui.tools.editing.replace import replace_text
from coder_tui.tools.editing.script import Operation, added_text, rewritten
from coder_tui.tools.editing.unified import parse_unified
from coder_tui.workspace.files.confine import Located
from coder_tui.workspace.files.text import Encoding, TextFile, decode, show

HERE = Located(Path("/f"), "f", is_inside=True, escapes_by_link=False)
WORDS = st.sampled_from(
    ["a", "b", "  a", "\tb", "", "-- x", "++ y", "@@ z", "--- a/f", "+++ b/f", "é“”", "\x0c", "```"]
)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r\r\n"])


@st.composite
def texts(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> str:
    lines = draw(st.lists(st.tuples(words, ENDS), max_size=14))
    text = "".join(word + end for word, end in lines)
    return text if draw(st.booleans()) else text.rstrip("\r\n")


def patched(before: str, diff: str) -> str:
    """Return the text after a diff of one file, as `patch` applies it."""
    (patch,) = parse_unified(diff)
    if patch.operation is Operation.CREATE:
        return added_text(patch.hunks)
    applied = apply_hunks(TextFile(before), patch.hunks, only_exact=True)
    assert applied.text is not None, applied.hunks
    return applied.text


@settings(max_examples=400, deadline=None)
@given(before=texts(), after=texts())
def test_the_diff_of_two_texts_makes_one_of_the_other(before: str, after: str) -> None:
    diff = unified_diff("f", before, after).text

    assert (patched(before, diff) if diff else before) == after


@settings(max_examples=200, deadline=None)
@given(after=texts())
def test_the_diff_of_a_new_file_makes_it(after: str) -> None:
    if after:
        assert patched("", unified_diff("f", None, after).text) == after


@settings(max_examples=200, deadline=None)
@given(before=texts(), content=texts())
def test_the_diff_that_write_returns_makes_what_it_wrote(before: str, content: str) -> None:
    written = rewritten(TextFile(before), content)
    diff = unified_diff("f", before, written).text

    assert (patched(before, diff) if diff else before) == written


@settings(max_examples=300, deadline=None)
@given(before=texts(), data=st.data())
def test_the_diff_that_edit_returns_makes_what_it_wrote(before: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    old, new = before[start:end] or "a", data.draw(texts())
    try:
        edited = replace_text(TextFile(before), "f", old, new, replace_all=data.draw(st.booleans())).text
    except ToolError:
        return
    diff = unified_diff("f", before, edited).text

    assert patched(before, diff) == edited


TOKENS = st.lists(
    st.sampled_from(["go", "json", "v0.7", "-", "(", ")", "=", "1", "é", "—"]), min_size=3, max_size=8
)
BLANKS = st.sampled_from(["", " ", "  ", "\t", "    "])


@st.composite
def spaced(draw: st.DrawFn, tokens: list[str]) -> str:
    """Return the tokens with blanks between them, at least one between two words."""
    text = tokens[0]
    for token in tokens[1:]:
        needs_blank = text[-1].isalnum() and token[0].isalnum()
        text += draw(BLANKS.filter(bool) if needs_blank else BLANKS) + token
    return text


def tokens_of(line: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", line.replace("—", "--"))


@settings(max_examples=400, deadline=None)
@given(tokens=TOKENS, data=st.data())
def test_a_changed_line_has_the_words_that_the_model_wrote(tokens: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(tokens)))
    end = data.draw(st.integers(start, len(tokens)))
    changed = [*tokens[:start], *data.draw(TOKENS), *tokens[end:]]
    own, old, new = (data.draw(spaced(part)) for part in (tokens, tokens, changed))
    try:
        edited = replace_text(TextFile(f"first line\n{own}\n"), "f", old, new, replace_all=False).text
    except ToolError:
        return

    assert tokens_of(edited) == ["first", "line", *tokens_of(new)]


BYTES = st.lists(
    st.sampled_from([b"one\n", b"two\r\n", b" three\n", b"\n", b"x \xff\xfe\n", b"caf\xc3\xa9\r\n", b"\r"]),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(head=BYTES, tail=BYTES, bom=st.booleans(), lead=st.sampled_from(["", "  ", "\t"]), crlf=st.booleans())
def test_any_file_keeps_every_byte_around_a_forgiving_edit(
    head: list[bytes], tail: list[bytes], bom: bool, lead: str, crlf: bool
) -> None:
    """The old text has blanks that the file does not have, in all kinds of surroundings."""
    end = "\r\n" if crlf else "\n"
    place = f"{lead}unique_first(){end}{lead}unique_second(){end}".encode()
    before, after = b"".join(head), b"".join(tail)
    if before and not before.endswith(b"\n"):
        before += b"\n"
    data = (b"\xef\xbb\xbf" if bom else b"") + before + place + after
    file = decode(data, HERE)
    old, new = "unique_first() \nunique_second()\n", "unique_first() \nadded()\nunique_second()\n"

    edited = replace_text(file, "f", old, new, replace_all=False)

    added = f"{lead}unique_first(){end}{lead}added(){end}{lead}unique_second(){end}".encode()
    assert file.encode(edited.text) == data.replace(place, added)


@settings(max_examples=100, deadline=None)
@given(head=texts(), tail=texts(), encoding=st.sampled_from(list(Encoding)))
def test_any_encoding_survives_a_patch(head: str, tail: str, encoding: Encoding) -> None:
    head = head if head.endswith("\n") or not head else head + "\n"
    file = TextFile(f"{head}<old>\n{tail}", encoding, has_bom=encoding is not Encoding.UTF_8)
    diff = unified_diff("f", file.text, f"{head}<new>\n{tail}").text
    (patch,) = parse_unified(diff)

    applied = apply_hunks(file, patch.hunks, only_exact=True)

    assert applied.text is not None
    data = file.encode(applied.text)
    assert show(decode(data, HERE).text) == f"{head}<new>\n{tail}"
    assert data.startswith(file.encode(head))
