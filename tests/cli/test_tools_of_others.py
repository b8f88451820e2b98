"""Tools from extensions in the installed program: the documented example, discovered and project tools."""

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.fakes.program import PLAIN, Program, json_lines

DOCUMENT = Path(__file__).parents[2] / "docs/tools.md"


def example() -> str:
    found = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path, PLAIN)
    (made.home / ".config/coder-tui/tools").mkdir(parents=True)
    return made


def own(program: Program, name: str, text: str) -> None:
    (program.home / ".config/coder-tui/tools" / name).write_text(text)


def test_the_example_of_the_documents_is_ten_lines_and_works(program: Program) -> None:
    assert len([line for line in example().splitlines() if line.strip()]) == 10
    own(program, "words.py", example())
    own(program, "broken.py", "import nothing_like_this\n")

    done = program.run("tool", "call", "word_count", '{"text": "one two"}')

    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True, "words": 2})
    assert done.stderr == (
        "coder-tui: A tool is not used: ~/.config/coder-tui/tools/broken.py:1: "
        "ModuleNotFoundError: No module named 'nothing_like_this'\n"
    )


def test_discovered_tools_are_listed_after_built_in_ones_and_ask(program: Program) -> None:
    listing = [{"name": "read", "description": "Not ours."}, {"name": "bad", "parameters": 3}]
    (program.project / "tools.json").write_text(json.dumps(listing))
    (program.home / ".config/coder-tui/config.toml").write_text(
        '[tools]\ndiscovery_command = "cat tools.json"\ncall_command = "printf %s"\n'
    )

    listed = program.run("tool", "list", "--json")
    call = {"tool": "discovered_tool_read", "args": {}}
    asked = program.run("tool", "call", "--stdin", stdin=json.dumps(call))
    allowed = program.run(
        *("tool", "call", "discovered_tool_read", "{}"),
        CODER_TUI_PERMISSION='{"discovered_tool_read": "allow"}',
    )

    names = [tool["function"]["name"] for tool in json.loads(listed.stdout)]
    assert (names[0], names[-1]) == ("read", "discovered_tool_read")
    assert "tools.discovery_command: tool 2: bad: its schema is not an object but int" in listed.stderr
    assert [each["error"]["type"] for each in json_lines(asked.stdout)] == ["permission_denied"]
    assert json.loads(allowed.stdout) == {"ok": True, "stdout": "read"}


def test_a_projects_python_waits_for_trust_and_for_each_new_content(program: Program) -> None:
    folder, canary = program.project / ".coder-tui/tools", program.project / "canary"
    folder.mkdir(parents=True)
    text = f"open({str(canary)!r}, 'a').write('ran ')\n{example()}"
    (folder / "words.py").write_text(text)

    def call() -> CompletedProcess[str]:
        return program.run("tool", "call", "word_count", '{"text": "one"}')

    def ran() -> int:
        return canary.read_text().count("ran") if canary.exists() else 0

    before = call()
    assert "found .coder-tui/tools/words.py, not used: this folder is not trusted" in before.stderr
    assert ran() == 0
    assert program.run("trust", "--yes").returncode == 0
    trusted = call()
    # Its kind would run unasked; yet it is a project's.
    assert (json.loads(trusted.stdout)["error"]["type"], ran()) == ("permission_denied", 1)
    (folder / "words.py").write_text(text + "# changed\n")
    call()
    assert ran() == 1


def test_a_projects_discovering_command_gets_nothing_by_naming_it(program: Program) -> None:
    (program.project / "tools.json").write_text(json.dumps([{"name": "read"}]))
    outside = program.home / "outside"
    (program.project / ".coder-tui").mkdir()
    (program.project / ".coder-tui/config.toml").write_text(
        f'[tools]\ndiscovery_command = "touch {outside}; cat tools.json"\ncall_command = "printf %s"\n'
    )
    assert program.run("trust", "--yes").returncode == 0

    listed = program.run("tool", "list", "--json")

    assert "discovered_tool_read" in listed.stdout
    assert not outside.exists()


def test_a_package_provides_tools_through_entry_points(program: Program, tmp_path: Path) -> None:
    (tmp_path / "site/loud-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site/loud.py").write_text(example())
    (tmp_path / "site/loud-1.0.dist-info/METADATA").write_text("Name: loud\nVersion: 1.0\n")
    (tmp_path / "site/loud-1.0.dist-info/entry_points.txt").write_text(
        "[coder_tui.tools]\nwords = loud:WordCount\nnothing = loud:Missing\nparams = loud:WordsParams\n"
    )

    done = program.run(
        *("tool", "call", "word_count", '{"text": "one two"}'), PYTHONPATH=str(tmp_path / "site")
    )

    assert json.loads(done.stdout) == {"ok": True, "words": 2}
    assert sorted(line.partition("entry point ")[2] for line in done.stderr.splitlines()) == [
        "nothing (loud:Missing): AttributeError: module 'loud' has no attribute 'Missing'",
        "params (loud:WordsParams): it is not a subclass of Tool",
    ]
