"""After turns that changed something the project's check runs, and the model fixes what fails."""

from pathlib import Path

import pytest

from coder_tui.agent.verify import MOST_CHARACTERS, checked_in, failure, only_documents, relevant
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.messages import Attachment


@pytest.mark.parametrize(
    ("names", "skips"),
    [
        ((), True),
        (("README.md", "notes.txt", "a/b.rst", "x.MDX", "y.adoc"), True),
        (("docs/conf.py", "docs/deep/x.js"), True),
        (("src/docs/conf.py",), False),
        (("docs",), False),
        (("README.md", "a.py"), False),
        (("requirements.txt",), False),
        (("requirements-dev.txt",), False),
        (("docs/requirements.txt",), False),
        (("constraints.txt",), False),
        (("CMakeLists.txt",), False),
    ],
    ids=lambda value: ",".join(value) or "none" if isinstance(value, tuple) else str(value),
)
def test_only_documents_skip_the_check(names: tuple[str, ...], skips: bool) -> None:
    assert only_documents(names) is skips


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": "", "tests/test_a.py": ""}, "pytest -q"),
        ({"pytest.ini": ""}, "pytest -q"),
        ({"package.json": '{"scripts": {"test": "vitest run"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ""),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n", "go.mod": ""}, "make test"),
        ({"Makefile": "tests:\n\ttrue\n"}, ""),
        ({}, ""),
    ],
    ids=["pytest", "ini", "npm", "no npm test", "cargo", "go", "make", "no make test", "nothing"],
)
def test_the_projects_own_check_is_recognised(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert checked_in(tmp_path) == command


def test_of_a_long_output_the_first_trouble_and_the_end_are_shown() -> None:
    noise = "".join(f"line {number}\n" for number in range(5_000))
    reported = relevant(f"{noise}E   AssertionError: 1 != 2\n{noise}3 failed\n")
    assert "AssertionError: 1 != 2" in reported
    assert reported.endswith("3 failed")
    assert len(reported) <= MOST_CHARACTERS + 20


def test_the_message_says_what_ran_and_how_it_ended() -> None:
    reported = failure(TerminalBlock("make test", "boom", 2), 1, 3)
    assert reported.words.startswith(
        "The project's check `make test` ended with 2 after your changes (round 1 of 3)."
    )
    assert reported.output == Attachment("output of the check", "boom")
    assert "ran too long and was stopped" in failure(TerminalBlock("make test", "", 124), 1, 3).words
