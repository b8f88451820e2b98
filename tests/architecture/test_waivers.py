"""Waivers are few, and each says which rule and why."""

import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 10
WAIVER = re.compile(r"#\s*(noqa|type:\s*ignore)")
EXPLAINED = re.compile(r"#\s*(noqa:\s*[A-Z]+\d+|type:\s*ignore\[[a-z-]+\])\s*(#|-|:)\s*\S.{10,}")


def waivers() -> list[str]:
    found = []
    for folder in ("coder_tui", "tests", "bench"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not WAIVER.search(path.read_text(encoding="utf-8")):
                continue
            with path.open("rb") as file:
                comments = [t for t in tokenize.tokenize(file.readline) if t.type == tokenize.COMMENT]
            found += [f"{path.name}:{t.start[0]} {t.string}" for t in comments if WAIVER.search(t.string)]
    return found


def test_waivers_are_few() -> None:
    assert len(waivers()) <= MOST, waivers()


def test_every_waiver_names_its_rule_and_reason() -> None:
    assert [waiver for waiver in waivers() if not EXPLAINED.search(waiver)] == []
