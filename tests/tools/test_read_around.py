"""`read_around` shows each place where a text occurs."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.tools.calling import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


def numbered(first: int, last: int) -> str:
    return "\n".join(f"line {number}" for number in range(first, last + 1))


async def test_each_hit_has_its_context(bench: Bench) -> None:
    bench.put("a.txt", f"{numbered(1, 9)}\nneedle\n{numbered(11, 19)}\nneedle")

    result = await bench.result("read_around", path="a.txt", keyword="needle", context=2)

    assert result.for_model == {
        "ok": True,
        "path": "a.txt",
        "hits": [
            {
                "line": 10,
                "start_line": 8,
                "end_line": 12,
                "content": "line 8\nline 9\nneedle\nline 11\nline 12",
            },
            {"line": 20, "start_line": 18, "end_line": 20, "content": "line 18\nline 19\nneedle"},
        ],
    }
    assert result.summary == "needle in a.txt: 2 hits"
    assert result.for_user == TextBlock(
        "line 8\nline 9\nneedle\nline 11\nline 12\n⋯\nline 18\nline 19\nneedle"
    )


async def test_twenty_lines_and_five_hits_by_default(bench: Bench) -> None:
    bench.put("a.txt", f"{numbered(1, 50)}\n" + "needle\n" * 6)

    hits = (result := await bench.call("read_around", path="a.txt", keyword="needle"))["hits"]

    assert [hit["line"] for hit in hits] == [51, 52, 53, 54, 55]
    assert (hits[0]["start_line"], hits[0]["end_line"]) == (31, 56)
    assert result["truncated"] is True


async def test_the_keyword_is_plain_text(bench: Bench) -> None:
    bench.put("a.txt", "x = f(a)[0] + {1} ^ $b | c\\d # é - &&\nabc\n")

    for keyword in ("f(a)[0] + {1}", "^ $b | c\\d", "# é - &&", "."):
        hits = (await bench.call("read_around", path="a.txt", keyword=keyword))["hits"]
        assert [hit["line"] for hit in hits] == ([] if keyword == "." else [1])


async def test_case_is_ignored_only_where_nothing_else_is_found(bench: Bench) -> None:
    bench.put("a.txt", "needle\nNEEDLE\n")

    exact = await bench.call("read_around", path="a.txt", keyword="NEEDLE", context=0)
    folded = await bench.call("read_around", path="a.txt", keyword="Needle", context=0)

    assert [hit["content"] for hit in exact["hits"]] == ["NEEDLE"]
    assert [hit["content"] for hit in folded["hits"]] == ["needle", "NEEDLE"]


async def test_nothing_found_is_no_error(bench: Bench) -> None:
    bench.put("a.txt", "x\n")

    assert await bench.call("read_around", path="a.txt", keyword="needle") == {
        "ok": True,
        "path": "a.txt",
        "hits": [],
    }


async def test_a_named_secret_and_an_ignored_file_are_read(bench: Bench) -> None:
    bench.put(".gitignore", "*.log\n")
    bench.put(".env", "TOKEN=1\n")
    bench.put("a.log", "TOKEN\n")

    assert len((await bench.call("read_around", path=".env", keyword="TOKEN"))["hits"]) == 1
    assert len((await bench.call("read_around", path="a.log", keyword="TOKEN"))["hits"]) == 1
    assert [t.value for t in (await bench.access("read_around", path=".env", keyword="x")).targets] == [
        str(bench.root / ".env")
    ]


async def test_long_lines_and_many_of_them_stay_within_bounds(bench: Bench) -> None:
    bench.put("a.txt", ("needle" + "x" * 3_000 + "\n") * 60)

    result = await bench.call("read_around", path="a.txt", keyword="needle", max_hits=50, context=5)

    assert result["truncated"] is True
    assert sum(len(hit["content"]) for hit in result["hits"]) <= 48 * 1024
    assert result["hits"][0]["content"].split("\n")[0] == "needle" + "x" * 1_994 + " […]"


@pytest.mark.parametrize("keyword", ["", "a\nb", "a\0b"])
async def test_a_keyword_is_text_within_a_line(bench: Bench, keyword: str) -> None:
    with pytest.raises(ValidationError):
        await bench.call("read_around", path="a.txt", keyword=keyword)


async def test_a_file_that_is_not_text_is_refused(bench: Bench) -> None:
    bench.put("a.bin", b"needle\0")
    (bench.root / "folder").mkdir()

    assert await bench.failure("read_around", path="a.bin", keyword="needle") == (
        ErrorType.BINARY_FILE,
        "a.bin is not text: binary data.",
    )
    assert (await bench.failure("read_around", path="folder", keyword="x"))[0] is ErrorType.NOT_A_FILE
    assert (await bench.failure("read_around", path="gone", keyword="x"))[0] is ErrorType.FILE_NOT_FOUND
