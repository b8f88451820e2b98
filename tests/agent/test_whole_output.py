"""What a command printed is found again where its result was cut."""

import json
from pathlib import Path

from coder_tui.agent.session_report import whole_output
from coder_tui.protocol.messages import ToolMessage, UserMessage


def result(tool: str, **fields: object) -> ToolMessage:
    return ToolMessage("m", "c1", tool, json.dumps(fields))


def test_the_file_that_a_command_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_bytes(b"all \xff of it")
    messages = (result("bash", output_file=str(tmp_path / "out.log")), UserMessage("u", "thanks"))
    assert whole_output(messages, "c1") == "all \ufffd of it"
    assert whole_output(messages, "c2") is None


def test_a_file_that_is_gone_or_was_never_cut_is_no_mistake(tmp_path: Path) -> None:
    assert whole_output((result("bash", output_file=str(tmp_path / "gone")),), "c1") is None
    assert whole_output((result("bash", stdout="short"),), "c1") is None
    assert whole_output((ToolMessage("m", "c1", "bash", "no json"),), "c1") is None


def test_another_tools_word_for_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    assert whole_output((result("some_server_tool", output_file=str(tmp_path / "secret")),), "c1") is None
