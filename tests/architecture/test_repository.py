"""The repository speaks of the product alone."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = re.compile(r"https?://[^/\s]+/(simple|packages)/|\"resolved\": *\"https?://")


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT)
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_file_names_a_package_registry_address() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path != Path(__file__) and REGISTRY.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_nothing_unfinished_is_called_done() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix == ".py"
        and path.is_relative_to(ROOT / "coder_tui")
        and words.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
