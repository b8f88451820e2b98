"""A key in the system keyring is saved, used for the model, and seen by nothing else."""

import json
from pathlib import Path

from tests.fakes.file_keyring import VARIABLE
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program
from tests.fakes.script import Call, Reply

ROOT = Path(__file__).resolve().parents[2]
KEY = "kept-key-without-any-shape"


def desktop(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with a keyring and no key in the environment."""
    return {
        "PYTHONPATH": str(ROOT),
        "PYTHON_KEYRING_BACKEND": "tests.fakes.file_keyring.FileKeyring",
        VARIABLE: str(tmp_path / "keyring.json"),
        "OPENAI_API_KEY": "",
        "ANTHROPIC_API_KEY": "",
    }


def test_a_saved_key_reaches_the_provider_but_no_command_and_no_file(tmp_path: Path) -> None:
    program, environment = Program.in_folder(tmp_path), desktop(tmp_path)
    kept = program.run("config", "key", "openai", stdin=f"{KEY}\n", **environment)
    assert (kept.returncode, kept.stderr) == (0, "")
    assert json.loads((tmp_path / "keyring.json").read_text()) == {"coder-tui OPENAI_API_KEY": KEY}
    look = Call("bash", {"command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'"})
    with OpenAIServer([Reply(calls=(look,)), Reply(text=f"The key is {KEY}.")]) as server:
        arguments = ("run", "-p", "look", "--model", "openai/x", "--api-base", server.url)
        done = program.run(*arguments, "--permission", "auto", "--format", "stream-json", **environment)
    assert done.returncode in (0, 3), done.stderr
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY not in done.stdout + done.stderr
    files = [path for path in program.home.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_the_environment_wins_and_a_deleted_key_is_gone(tmp_path: Path) -> None:
    program, environment = Program.in_folder(tmp_path), desktop(tmp_path)
    program.run("config", "key", "openai", stdin=f"{KEY}\n", **environment)
    with OpenAIServer([Reply(text="hello")]) as server:
        arguments = ("run", "-p", "hello", "--model", "openai/x", "--api-base", server.url)
        program.run(*arguments, **(environment | {"OPENAI_API_KEY": "mine-from-the-shell"}))
    assert server.headers[0]["authorization"] == "Bearer mine-from-the-shell"
    output = program.run("config", "key", **environment).stdout
    assert "openai       system keyring" in output
    deleted = program.run("config", "key", "openai", "--delete", **environment)
    assert deleted.stdout == "The OpenAI key was deleted from the system keyring.\n"
    assert "openai       none; set OPENAI_API_KEY" in program.run("config", "key", **environment).stdout
