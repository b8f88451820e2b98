"""MCP servers that an editor provides for a session."""

import shutil
import sys
from pathlib import Path

from acp import text_block
from acp.schema import McpServerStdio

from tests.fakes.acp_editor import Editor, started
from tests.fakes.program import Program

MCP_SERVER = Path(__file__).parents[1] / "fakes/mcp_server.py"
PYTHON = str(Path(sys.executable).resolve())


async def test_servers_that_the_editor_names_provide_their_tools(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (state := program.project / "state.json").write_text('{"count": 1}')
    fake = shutil.copy(MCP_SERVER, program.project)  # where this file lies may be hidden from it
    server = McpServerStdio(name="notes", command=PYTHON, args=[str(fake), str(state)], env=[])
    editor = Editor()
    async with started(editor, program, ("--model", "demo")) as (agent, _):
        new = await agent.new_session(cwd=str(program.project), mcp_servers=[server])
        for text in ("Hello.", "/tools"):
            await agent.prompt(session_id=new.session_id, prompt=[text_block(text)])

    assert "mcp__notes__tool_0" in editor.text(new.session_id)
