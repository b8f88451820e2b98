"""Mentions of files in a sentence."""

import pytest

from coder_tui.text.mentions import Mention, find_mentions, mention


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("see @calc.py now", [(Mention("calc.py"),)]),
        ("@a.py:10-20", [(Mention("a.py", 10, 20), Mention("a.py:10-20"))]),
        ("@a.py:7", [(Mention("a.py", 7, 7), Mention("a.py:7"))]),
        ("@a.py:20-10", [(Mention("a.py", 10, 20), Mention("a.py:20-10"))]),
        ("(look at @src/)", [(Mention("src/)"), Mention("src/"))]),
        ("is it @a.py?", [(Mention("a.py?"), Mention("a.py"))]),
        ('@"my notes.txt" and @b', [(Mention("my notes.txt"),), (Mention("b"),)]),
        ('@"my notes.txt":3-4', [(Mention("my notes.txt", 3, 4),)]),
        ("me@example.org", []),
        ("@", []),
        ("```diff\n+ @a.py\n```\nand @b.py", [(Mention("b.py"),)]),
        ("````\n```\n@a.py\n```\n````\n~~~ @b.py\n@c.py", []),
        ("`@a.py` ``` @b.py", [(Mention("a.py"),), (Mention("b.py"),)]),
        ("@数/計算.py", [(Mention("数/計算.py"),)]),
    ],
)
def test_a_name_is_found_in_all_its_readings(text: str, readings: list[tuple[Mention, ...]]) -> None:
    assert list(find_mentions(text)) == readings


@pytest.mark.parametrize("path", ["a.py", "my notes.txt", "odd(1).txt", "a:10", "end.", "数/計算.py", "src/"])
def test_a_path_that_was_written_is_read_as_itself(path: str) -> None:
    assert find_mentions(f"x {mention(path)} y")[0][0] == Mention(path)


def test_a_label_names_the_lines() -> None:
    labels = [each.label for each in (Mention("a"), Mention("a", 3, 3), Mention("a", 3, 9))]
    assert labels == ["a", "a:3", "a:3-9"]
