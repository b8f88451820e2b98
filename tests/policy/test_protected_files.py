"""Changes of files that other programs run always ask, and so does the home folder as a workspace."""

from pathlib import Path

import pytest

from coder_tui.policy.decide import decide, offered_grants
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.targets import Action, Policy, Verdict
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.shell.sandbox.protected import ALSO_GUARDED, GUARDED, START_FILES

HOME = "/home/me"
RULES = (Layer("user", (Rule("edit", "*", Effect.ALLOW, "file"), Rule("bash", "*", Effect.ALLOW, "file"))),)
PROGRAM_FILES = [
    ".mcp.json",
    ".claude/settings.json",
    ".claude/commands/deep/x.md",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin/x.ts",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".VSCode/launch.json",
    "app.code-workspace",
    ".idea/workspace.xml",
    ".envrc",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "mise.toml",
    ".mise.local.toml",
    ".config/mise/config.toml",
    ".devcontainer/devcontainer.json",
    ".yarnrc.yml",
    ".cargo/config.toml",
    ".exrc",
    ".dir-locals.el",
    "packages/inner/.vscode/tasks.json",
    *(name for name in (*GUARDED, *ALSO_GUARDED) if name not in (".git", ".coder-tui")),
]


def verdict(path: str, *roots: str, mode: Mode = Mode.EDITS, layers: tuple[Layer, ...] = ()) -> Verdict:
    target = Target(TargetKind.PATH, path, writes=True)
    policy = Policy(Boundaries(roots or ("/ws",), homes=(HOME,)), mode, layers)
    return decide(Action("write", "edit", ToolKind.EDIT, (target,)), policy)


@pytest.mark.parametrize("mode", [Mode.EDITS, Mode.AUTO])
@pytest.mark.parametrize("layers", [(), RULES], ids=["no rules", "all allowed"])
@pytest.mark.parametrize("name", PROGRAM_FILES)
def test_files_that_other_programs_act_on_always_ask(
    name: str, mode: Mode, layers: tuple[Layer, ...]
) -> None:
    assert verdict(f"/ws/{name}", mode=mode, layers=layers).effect is Effect.ASK


@pytest.mark.parametrize("name", ["src/app.py", "vscode/tasks.json", "claude.md", "mise.py", ".gitignore"])
def test_other_files_run_in_mode_edits(name: str) -> None:
    assert verdict(f"/ws/{name}").effect is Effect.ALLOW


def test_a_workspace_below_such_a_folder_is_a_workspace() -> None:
    root = "/ws/.claude/worktrees/fix"

    assert verdict(f"{root}/src/app.py", root).effect is Effect.ALLOW
    assert verdict(f"{root}/.vscode/tasks.json", root).effect is Effect.ASK
    assert verdict("/ws/.claude/settings.json", "/ws/.claude").effect is Effect.ASK


def test_only_exactly_this_file_can_be_allowed_for_the_session() -> None:
    target = Target(TargetKind.PATH, "/ws/.vscode/tasks.json", writes=True)
    policy = Policy(Boundaries(("/ws",)), Mode.EDITS)

    grants = offered_grants(Action("write", "edit", ToolKind.EDIT, (target,)), policy)

    assert [grant.patterns for grant in grants] == [("/ws/.vscode/tasks.json",)]


@pytest.mark.parametrize("root", [HOME, "/home", "/"])
@pytest.mark.parametrize(
    "name",
    [*START_FILES, ".ssh/authorized_keys", ".local/bin/ls", ".config/systemd/user/x.service", ".config"],
)
@pytest.mark.parametrize("layers", [(), RULES], ids=["no rules", "all allowed"])
def test_hidden_names_of_the_home_folder_ask(root: str, name: str, layers: tuple[Layer, ...]) -> None:
    assert verdict(f"{HOME}/{name}", root, layers=layers).effect is Effect.ASK


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/cron.d/x", "/usr/bin/git", "/srv/x", "/home/other/x"])
def test_everything_outside_the_home_folder_asks_if_the_root_is_the_workspace(path: str) -> None:
    assert verdict(path, "/").effect is Effect.ASK


@pytest.mark.parametrize(
    ("path", "roots"),
    [
        (f"{HOME}/notes.txt", (HOME,)),
        (f"{HOME}/project/.eslintrc", (HOME,)),
        (f"{HOME}/project/.eslintrc", ("/",)),
        (f"{HOME}/.dotfiles/vimrc", (f"{HOME}/.dotfiles",)),
        (f"{HOME}/.dotfiles/vimrc", (HOME, f"{HOME}/.dotfiles")),
        ("/srv/data/x", (HOME, "/srv/data")),
    ],
)
def test_ordinary_files_of_a_wide_workspace_run(path: str, roots: tuple[str, ...]) -> None:
    assert verdict(path, *roots).effect is Effect.ALLOW


def test_the_root_as_home_protects_everything() -> None:
    policy = Policy(Boundaries(("/",), homes=("/",)), Mode.EDITS)
    target = Target(TargetKind.PATH, "/etc/passwd", writes=True)

    assert decide(Action("write", "edit", ToolKind.EDIT, (target,)), policy).effect is Effect.ASK


@pytest.mark.parametrize(
    ("command", "home", "effect"),
    [
        ("echo x > .vscode/tasks.json", "/nowhere", Effect.ASK),
        ("./build", "/nowhere", Effect.ALLOW),
        ("./build", "", Effect.ASK),
        ("ls", "", Effect.ALLOW),
    ],
)
def test_the_sandbox_does_not_replace_an_answer_about_the_home_folder(
    tmp_path: Path, command: str, home: str, effect: Effect
) -> None:
    root = str(tmp_path)
    policy = Policy(Boundaries((root,), homes=(home or root,)), Mode.AUTO, is_sandboxed=True)
    found = analyze_command(command, root, home=home or root, roots=(root,))
    target = Target(TargetKind.COMMAND, command, writes=True)

    assert decide(Action("bash", "bash", ToolKind.EXECUTE, (target,), found), policy).effect is effect
