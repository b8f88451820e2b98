"""What the pages show works: settings load, commands parse, Python compiles, links lead somewhere."""

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from bench.reference import FOLDER, SENTENCES, setting_schemas
from coder_tui.cli.arguments import COMMANDS, session_parser, split_command
from coder_tui.cli.completion import parser_of
from coder_tui.commands.builtin import builtin_commands
from coder_tui.config.settings import Settings, load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.policy.rules import is_permission_key
from tests.docs.pages import ROOT, Block, blocks, name_of, paths, prose, quoted

COMMAND_FILE_KEYS = {"description", "prompt"}
"""A TOML block with these is a command of one's own, not settings."""
SKILLS = {path.name for path in (ROOT / "skills").iterdir()}
PLACEHOLDERS = {
    "name",
    "server:prompt",
    "user:name",
    "project:name",
    "mcp-project:prompt",
    "mcp-user:prompt",
    "git:fix",
    "fix",
}
"""Slash commands that stand for any of their kind."""
PATHS = {"tmp", "home", "etc", "dev"}
_ENDS = ("|", "||", "&&", ">", "<", ";", "--")


def ids(block: Block) -> str:
    return block.place


def load(text: str) -> Settings:
    return load_settings(Sources(file=parse_settings(Path("config.toml"), text.encode())))


@pytest.mark.parametrize("block", blocks("toml"), ids=ids)
def test_settings_load(block: Block) -> None:
    if set(tomllib.loads(block.text)) <= COMMAND_FILE_KEYS:
        return
    load(block.text)


@pytest.mark.parametrize("key", SENTENCES["settings"])
def test_an_example_of_a_setting_loads(key: str) -> None:
    words = SENTENCES["settings"][key]
    path = key.replace("NAME", words.get("name", "")).replace("EVENT", words.get("name", "PreToolUse"))
    if ".hooks." in path:
        hook = {"command": '"x"', path.rsplit(".", 1)[1]: words["example"]}
        written = ", ".join(f"{name} = {value}" for name, value in hook.items())
        load(f"[[hooks.PreToolUse]]\nhooks = [{{ {written} }}]")
    elif path.endswith(".matcher"):
        load(f"[[hooks.PreToolUse]]\nmatcher = {words['example']}")
    else:
        section, _, last = path.rpartition(".")
        others = "".join(f"{name} = {json.dumps(value)}\n" for name, value in words.get("with", {}).items())
        load(f"[{section}]\n{others}{last} = {words['example']}")


def commands() -> Iterator[tuple[str, str]]:
    """Every command line of ours in a block or between backticks, with its place."""
    for block in blocks("sh", "console", "bash"):
        for number, line in enumerate(block.text.splitlines(), block.line):
            for part in re.split(r"&& |<\(|\|\| ", line):
                text = part.strip().removeprefix("$ ").removeprefix("uv run ")
                if re.match(r"coder-tui( |$)", text):
                    yield f"{block.page}:{number}", text.replace(")", "") if "<(" in line else text
    for path in paths():
        for number, span in quoted(path):
            if re.match(r"(uv run )?coder-tui [a-z-]", span) and path.parent != FOLDER:
                yield f"{name_of(path)}:{number}", span.removeprefix("uv run ")


@pytest.mark.parametrize(("place", "line"), list(commands()))
def test_a_command_line_parses(place: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(line, comments=True)[1:]
    ends = [index for index, word in enumerate(words) if word in _ENDS]
    # Of a choice such as `list|add` the first is tried.
    name, rest = split_command([word.split("|")[0] for word in words[: min(ends, default=len(words))]])
    if name == "" and rest and not rest[0].startswith(("-", "~", "/", ".")) and rest[0] != "PATH":
        pytest.fail(f"{rest[0]} is no command of {', '.join(COMMANDS)}")
    parser = parser_of(name) if name else session_parser()
    try:
        parser.parse_args(rest)
    except SystemExit as end:
        # A line may name a command and leave out what it needs: `coder-tui sessions export`.
        complaint = capsys.readouterr().err
        assert end.code == 0 or "the following arguments are required" in complaint, f"{place}: {complaint}"


@pytest.mark.parametrize("block", blocks("json"), ids=ids)
def test_json_parses(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", blocks("python"), ids=ids)
def test_python_compiles_and_its_imports_exist(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coder_tui"):
            module = import_module(node.module or "")
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_settings_and_slash_commands_in_the_text_exist(path: Path) -> None:
    schemas = setting_schemas()
    known = {each.name for each in builtin_commands()} | SKILLS | PLACEHOLDERS | PATHS
    wrong = []
    for number, span in quoted(path, columns_after=path.name == "coming-from.md"):
        if setting := re.match(r"([a-z]+)\.([a-z_]+)( = |$)", span):
            section, key = setting[1], setting[2]
            is_rule = section == "permission" and is_permission_key(key)
            tables = {name.split(".")[0] for name in schemas if name.count(".") > 1}
            is_key = f"{section}.{key}" in schemas or is_rule or section in tables
            if section in Settings.model_fields and not is_key and key not in ("toml", "log", "py"):
                wrong.append((number, span))
        if (command := re.match(r"/([a-z][a-z:-]*)( |$)", span)) and command[1] not in known:
            wrong.append((number, span))
    assert wrong == []


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        name, _, anchor = target.partition("#")
        if not target.startswith(("http://", "https://")):
            page = path.parent / name if name else path
            if not page.exists() or (anchor and anchor not in _anchors(page)):
                lost.append(target)
    assert lost == []


@pytest.mark.parametrize("path", paths(), ids=name_of)
def test_files_and_benchmarks_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    files = re.findall(r"(?<![\w./~-])((?:[a-z_]+/)+[a-z_]+\.py)\b", text)
    lost = {name for name in files if not any((ROOT / home / name).exists() for home in ("", "coder_tui"))}
    benches = set(re.findall(r"\bbench\.([a-z_]+)", text))
    lost |= {name for name in benches if not (ROOT / f"bench/{name}.py").exists()}
    assert lost == set()


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs/index.md"
    linked = {(index.parent / name).resolve() for name in re.findall(r"\]\(([^)#]+)\)", prose(index))}
    assert {name_of(path) for path in (ROOT / "docs").rglob("*.md") if path not in linked} == {
        "docs/index.md"
    }


def _anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
