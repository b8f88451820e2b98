"""Precedence, checks, and the sentence for each mistake."""

import json
from pathlib import Path

import pytest

from coder_tui.cli.config import SettingLine, describe
from coder_tui.config.sections import LimitsSection
from coder_tui.config.settings import Settings, load_settings
from coder_tui.config.settings_file import read_settings_file
from coder_tui.config.sources import RawTable, Sources
from coder_tui.protocol.errors import ConfigError


def _sources(
    root: Path,
    text: str = "",
    environ: dict[str, str] | None = None,
    flags: RawTable | None = None,
    name: str = "config.toml",
) -> Sources:
    path = root / name
    path.write_text(text)
    return Sources(read_settings_file(path), environ or {}, flags or {})


def _complaints(sources: Sources) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_settings(sources)
    folder = f"{sources.file.path.parent}/" if sources.file else "/"
    return str(caught.value).replace(folder, "").split("\n")


TOOLS = {
    "edit_wait_sec": 0.3,
    "discovery_command": "",
    "call_command": "",
    "discovery_timeout_sec": 30,
    "call_timeout_sec": 120,
}
EVENTS = (
    *("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"),
    *("SessionStart", "SessionEnd", "PreCompact", "Notification"),
)


def test_defaults_are_the_documented_ones() -> None:
    assert load_settings(Sources()).model_dump() == {
        "model": {
            "name": "",
            "small": "",
            "api_base": "",
            "effort": "",
            "max_tokens": None,
            "context_window": None,
            "idle_timeout_sec": 120,
            "max_retries": 5,
            "proxy": "",
            "ca_bundle": "",
        },
        "agents": {"questions": "plan", "custom": {}},
        "permission": {},
        "bash": {
            "shell": "/bin/sh",
            "timeout_ms": 120_000,
            "output_limit_bytes": 30_000,
            "sandbox": "auto",
            "pass_environment": (),
            "network": (),
        },
        "workspace": {"extra_roots": ()},
        "fetch": {"proxy": "", "ca_bundle": "", "insecure_hosts": ()},
        "websearch": {"base_url": "https://api.exa.ai"},
        "skills": {"paths": ()},
        "lsp": {},
        "mcp": {},
        "tools": TOOLS,
        "hooks": dict.fromkeys(EVENTS, ()),
        "limits": {"max_steps": 200, "max_cost": None, "max_minutes": None, "repeated_calls": 3},
        "undo": {
            "commands": True,
            "most_files": 50_000,
            "largest_file_mb": 10,
            "keep_days": 30,
            "keep_mb": 2000,
        },
        "verify": {"enabled": True, "command": "", "max_rounds": 3, "timeout_sec": 300},
        "ui": {
            "theme": "coder-dark",
            "motion": True,
            "thinking": "summary",
            "approvals": "letters",
            "keys": {},
        },
        "experimental": {"batch_tool": False, "websearch": False, "plan_mode": True},
    }


def test_the_process_environment_reaches_settings_only_through_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CODER_TUI_UI__THEME", "other")
    monkeypatch.setenv("CODER_TUI_NONSENSE", "1")
    assert load_settings(Sources()) == Settings()
    assert Settings().ui.theme == "coder-dark"


def test_file_then_environment_then_flags_the_later_wins(tmp_path: Path) -> None:
    sources = _sources(
        tmp_path,
        "[limits]\nmax_steps = 1\nmax_cost = 1\nmax_minutes = 1\n",
        {"CODER_TUI_LIMITS__MAX_COST": "2", "CODER_TUI_LIMITS__MAX_MINUTES": "2.5"},
        {"limits": {"max_minutes": 3}},
    )
    assert load_settings(sources).limits == LimitsSection(max_steps=1, max_cost=2, max_minutes=3)


def test_variables_carry_types_lists_and_whole_sections() -> None:
    environ = {
        "CODER_TUI_UI__MOTION": "false",
        "CODER_TUI_WORKSPACE__EXTRA_ROOTS": '["/a", "/b"]',
        "CODER_TUI_BASH": '{"timeout_ms": 7}',
        "CODER_TUI_BASH__SHELL": "/bin/dash",
        "CODER_TUI_MODEL__MAX_TOKENS": "9",
        "CODER_TUI_MODEL__API_BASE": "http://127.0.0.1:1/v1",
    }
    settings = load_settings(Sources(environ=environ))
    assert (
        settings.ui.motion,
        settings.workspace.extra_roots,
        settings.bash.timeout_ms,
        settings.bash.shell,
        settings.model.max_tokens,
        settings.model.api_base,
    ) == (False, ("/a", "/b"), 7, "/bin/dash", 9, "http://127.0.0.1:1/v1")


def test_permission_rules_keep_their_order_and_a_stronger_source_comes_last(tmp_path: Path) -> None:
    text = '[permission]\nbash = {"z*" = "allow", "*" = "ask", "a*" = "deny"}\nfetch = "ask"\nedit = "ask"\n'
    environ = {"CODER_TUI_PERMISSION": '{"bash": {"*": "deny", "b*": "allow"}, "fetch": "deny"}'}
    permission = load_settings(_sources(tmp_path, text, environ)).permission
    assert json.dumps(permission) == json.dumps(
        {
            "edit": "ask",
            "bash": {"z*": "allow", "a*": "deny", "*": "deny", "b*": "allow"},
            "fetch": "deny",
        }
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('\npermision = "ask"', 'config.toml:2: unknown key "permision"; did you mean "permission"?'),
        (
            "bash.timout_ms = 1",
            'config.toml:1: unknown key "bash.timout_ms"; did you mean "bash.timeout_ms"?',
        ),
        ("theme = 'x'", 'config.toml:1: unknown key "theme"; did you mean "ui.theme"?'),
        ("[UI]", 'config.toml:1: unknown key "UI"; did you mean "ui"?'),
        (
            "[zzz]",
            'config.toml:1: unknown key "zzz"; valid keys: '
            "model, agents, permission, bash, workspace, fetch, websearch, skills, lsp, mcp, tools, "
            "hooks, limits, "
            "undo, verify, ui, experimental",
        ),
        (
            "ui.zzz = 1",
            'config.toml:1: unknown key "ui.zzz"; valid keys: theme, motion, thinking, approvals, keys',
        ),
        (
            "[bash]\n\ntimeout_ms = 'fast'",
            'config.toml:3: bash.timeout_ms must be a whole number, got "fast"',
        ),
        ("[bash]\ntimeout_ms = 1.5", "config.toml:2: bash.timeout_ms must be a whole number, got 1.5"),
        ("[bash]\ntimeout_ms = 600001", "config.toml:2: bash.timeout_ms must be at most 600000, got 600001"),
        ("[bash]\nshell = ''", 'config.toml:2: bash.shell must be text that is not empty, got ""'),
        ("[limits]\nmax_steps = 0", "config.toml:2: limits.max_steps must be at least 1, got 0"),
        ("[limits]\nmax_minutes = 0", "config.toml:2: limits.max_minutes must be more than 0, got 0"),
        ("[limits]\nmax_cost = 'x'", 'config.toml:2: limits.max_cost must be a number, got "x"'),
        ("[ui]\nmotion = 'x'", 'config.toml:2: ui.motion must be true or false, got "x"'),
        ("[ui]\ntheme = 1979-05-27", 'config.toml:2: ui.theme must be text, got "1979-05-27"'),
        (
            "[ui]\nthinking = 'x'",
            'config.toml:2: ui.thinking must be one of "hidden", "summary", "full", got "x"',
        ),
        ("bash = 5", "config.toml:1: bash must be a table, got 5"),
        ("permission = 5", "config.toml:1: permission must be a table, got 5"),
        ("[workspace]\nextra_roots = 'x'", 'config.toml:2: workspace.extra_roots must be a list, got "x"'),
        (
            "[workspace]\nextra_roots = [\n'x',\n5]",
            "config.toml:4: workspace.extra_roots.1 must be text, got 5",
        ),
        (
            "[permission]\nfetch = 'yes'",
            'config.toml:2: permission.fetch must be one of "allow", "ask", "deny", got "yes"',
        ),
        (
            "[permission.bash]\n'git status*' = true",
            'config.toml:2: permission.bash."git status*" must be one of "allow", "ask", "deny", got true',
        ),
        ('ui.theme = ["\\u001b[2J"]', 'config.toml:1: ui.theme must be text, got ["\\u001b[2J"]'),
        (
            "ui.theme = ['\u202e" + "x" * 99 + "']",
            f'config.toml:1: ui.theme must be text, got ["<U+202E>{"x" * 57}…',
        ),
    ],
)
def test_a_mistake_in_a_file_has_its_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    assert _complaints(_sources(tmp_path, text)) == [complaint]


def test_a_mistake_in_json_names_its_line(tmp_path: Path) -> None:
    sources = _sources(tmp_path, '{"ui":\n {"motoin": 1}}', name="config.json")
    assert _complaints(sources) == ['config.json:2: unknown key "ui.motoin"; did you mean "ui.motion"?']


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("BASH__TIMEOUT_MS", "fast", 'bash.timeout_ms must be a whole number, got "fast"'),
        ("BASH__TIMEOUT", "5", 'unknown key "bash.timeout"; did you mean "bash.timeout_ms"?'),
        ("BAHS__TIMEOUT", "5", 'unknown key "bahs.timeout"; did you mean "bash.timeout_ms"?'),
        ("THEME", "x", 'unknown key "theme"; did you mean "ui.theme"?'),
        ("MODEL", "x", "model must be a JSON object in a variable; to set one key, use CODER_TUI_MODEL__KEY"),
        (
            "WORKSPACE__EXTRA_ROOTS",
            "/a",
            'workspace.extra_roots must be JSON in a variable, such as ["a", "b"]',
        ),
        ("PERMISSION__BASH", "no", 'permission.bash must be one of "allow", "ask", "deny", got "no"'),
    ],
)
def test_a_mistake_in_a_variable_names_it(name: str, value: str, complaint: str) -> None:
    variable = f"CODER_TUI_{name}"
    assert _complaints(Sources(environ={variable: value})) == [f"{variable}: {complaint}"]


def test_a_mistake_in_a_flag_names_it() -> None:
    assert _complaints(Sources(flags={"model": {"name": 7}})) == ["--model: model.name must be text, got 7"]


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    sources = _sources(
        tmp_path,
        "[experimental]\nx = 1\n[model]\nname = 1\n",
        {"CODER_TUI_NO": "1", "CODER_TUI_MODEL": "x"},
        {"limits": {"max_cost": -1}},
    )
    assert [line.split(": ")[0] for line in _complaints(sources)] == [
        "--max-cost",
        "config.toml:2",
        "config.toml:4",
        "CODER_TUI_NO",
        "CODER_TUI_MODEL",
    ]


def test_describe_lists_every_setting_with_its_origin_and_no_credentials(tmp_path: Path) -> None:
    sources = _sources(
        tmp_path,
        '[model]\nproxy = "http://ada:secret@proxy:3128"\n[permission.bash]\n"*" = "ask"\n'
        '[[hooks.Stop]]\nhooks = [{ command = "make" }]\n'
        '[mcp.x.env]\nDB_PASSWORD = "heron"\nA_TOKEN = "${A}"\nLOG_LEVEL = "info"\n',
        {"CODER_TUI_UI__MOTION": "0"},
        {"model": {"name": "openai/x"}},
    )
    lines = describe(load_settings(sources), sources)
    file = f"{tmp_path}/config.toml"
    assert [line for line in lines if line.origin != "default"] == [
        SettingLine("model.name", '"openai/x"', "--model"),
        SettingLine("model.proxy", '"http://…@proxy:3128"', f"{file}:2"),
        SettingLine('permission.bash."*"', '"ask"', f"{file}:4"),
        SettingLine("mcp.x.env.DB_PASSWORD", '"…"', f"{file}:8"),
        SettingLine("mcp.x.env.A_TOKEN", '"${A}"', f"{file}:9"),
        SettingLine("mcp.x.env.LOG_LEVEL", '"info"', f"{file}:10"),
        SettingLine("hooks.Stop", '[{"hooks": [{"command": "make"}]}]', f"{file}:5"),
        SettingLine("ui.motion", "false", "CODER_TUI_UI__MOTION"),
    ]
    assert SettingLine("bash.timeout_ms", "120000", "default") in lines


def test_a_misspelled_tool_in_a_permission_rule_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[permission]\nbahs = "deny"\nmcp__server__tool = "allow"\n')
    sources = Sources(file=read_settings_file(file))
    with pytest.raises(
        ConfigError, match=r'config.toml:2: unknown key "permission.bahs"; did you mean "permission.bash"'
    ):
        load_settings(sources)
