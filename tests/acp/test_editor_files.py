"""A file with unsaved text in the editor is not changed on the disk."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, text_block
from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse

from tests.fakes.acp_editor import Editor, started
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program
from tests.fakes.script import Call, Reply

OFFERED = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True))


@dataclass
class EditorWithFiles(Editor):
    """An editor with these `buffers` and no other open files."""

    buffers: dict[str, str] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        self.read.append(path)
        if path not in self.buffers:
            raise RequestError(-32002, "not open")
        return ReadTextFileResponse(content=self.buffers[path])


def changes(*names: str) -> list[Reply]:
    calls = tuple(
        Call("edit", {"path": name, "old_string": "two", "new_string": "TWO"}, name) for name in names
    )
    return [Reply(calls=calls), Reply(text="Done.")]


@pytest.mark.parametrize(("capabilities", "is_asked"), [(OFFERED, True), (None, False)])
async def test_files_with_unsaved_text_are_not_edited_if_the_editor_reports_it(
    tmp_path: Path, capabilities: ClientCapabilities | None, is_asked: bool
) -> None:
    program = Program.in_folder(tmp_path)
    saved, typed, closed = (program.project / name for name in ("saved.txt", "typed.txt", "closed.txt"))
    for file in (saved, typed, closed):
        file.write_bytes(b"one\r\ntwo\r\n")
    editor = EditorWithFiles()
    editor.buffers = {str(saved): "one\ntwo\n", str(typed): "one\ntwo\nand more\n"}
    with OpenAIServer(changes("saved.txt", "typed.txt", "closed.txt")) as server:
        flags = ("--model", "openai/x", "--api-base", server.url, "--permission", "edits")
        async with started(editor, program, flags) as (agent, _):
            await agent.initialize(protocol_version=1, client_capabilities=capabilities)
            new = await agent.new_session(cwd=str(program.project), mcp_servers=[])
            await agent.prompt(session_id=new.session_id, prompt=[text_block("Shout.")])

    ends = {each.tool_call_id: each for each in editor.of(new.session_id, "tool_call_update")}
    assert (saved.read_bytes(), closed.read_bytes()) == (b"one\r\nTWO\r\n",) * 2
    assert set(editor.read) == ({str(saved), str(typed), str(closed)} if is_asked else set())
    assert typed.read_bytes() == (b"one\r\ntwo\r\n" if is_asked else b"one\r\nTWO\r\n")
    assert ends["typed.txt"].status == ("failed" if is_asked else "completed")
    if is_asked:
        error = ends["typed.txt"].raw_output["error"]
        assert (error["type"], error["message"]) == (
            "stale_file",
            "typed.txt has unsaved changes in the editor.",
        )
