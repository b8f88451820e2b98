"""Run git itself, to compare our hunks with."""

import subprocess
from pathlib import Path

HEADER = "--- a/f\n+++ b/f\n"


def undone_by_git(folder: Path, text: str, hunks: str) -> str:
    """Return a file after `git apply -R` of a diff without header."""
    file = folder / "f"
    file.write_bytes(text.encode())
    (folder / "p").write_bytes((HEADER + hunks).encode())
    command = ["git", "apply", "-R", "--unidiff-zero", "--whitespace=nowarn", "p"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return file.read_bytes().decode() if file.exists() else ""


def diff_by_git(folder: Path, old: str, new: str) -> str:
    """Return git's own hunks, without header."""
    (folder / "old").write_bytes(old.encode())
    (folder / "new").write_bytes(new.encode())
    command = ["git", "diff", "--no-index", "--no-color", "--text", "old", "new"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    text = done.stdout.decode()
    return text[text.index("\n@@ ") + 1 :] if "\n@@ " in text else ""
