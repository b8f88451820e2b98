import subprocess
from pathlib import Path

import pytest

from coder_tui.policy.command import ShellCommand
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.shell.syntax import loose_steps, parse
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.findings import Finding, FindingKind

ROOT = "/nowhere/ws"


def found(command: str) -> ShellCommand:
    return analyze_command(command, ROOT, home="/nowhere/home", roots=(ROOT,))


def reads(path: str) -> Target:
    return Target(TargetKind.PATH, path)


def writes(path: str) -> Target:
    return Target(TargetKind.PATH, path, writes=True)


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "cat a.txt | head -20",
        "git status --short",
        "git log --oneline -5 -- src/",
        "git --no-pager diff HEAD~1",
        "rg -n 'foo|bar' src | sort | uniq -c",
        "find . -name '*.py' -not -path './x/*'",
        "sed -n '1,80p' a.txt",
        "awk '{print $1}' a.txt",
        "jq '.scripts' package.json",
        "cd src && wc -l main.py",
        "[ -d src ] && echo yes || true",
        "command -v git 2>/dev/null",
        "timeout 5 cat a.txt",
    ],
)
def test_a_command_that_only_reads_is_proven_to(command: str) -> None:
    assert (found(command).is_read_only, found(command).doubts) == (True, ())


@pytest.mark.parametrize(
    "command",
    [
        "FOO=1 ls",
        "echo $(touch x)",
        "ls *; $x",
        "eval ls",
        ". ./x",
        "bash -c ls",
        "sudo ls",
        "env FOO=1 ls",
        "env",
        "printenv",
        "xargs cat",
        "xargs rm",
        "find . -delete",
        "find . -exec ls {} +",
        "rg --pre ./x k",
        "rg --hidden k",
        "sort --compress-prog ./x a",
        "git -c a=b status",
        "git log --outp=x",
        "git statusx",
        "sort *",
        "ls\u200b",
        "\u0441at a",
        "if true; then ls; fi",
        "pushd x",
        "cd - && ls",
        "command cd x",
        "",
        "# nothing",
    ],
)
def test_a_line_that_is_not_plain_is_doubted(command: str) -> None:
    seen = found(command)
    assert seen.doubts or any(part.doubts for part in seen.parts)
    assert not seen.is_read_only


def test_each_wrapper_is_a_part_and_so_is_what_it_wraps() -> None:
    assert [part.text for part in found("nice -n 5 timeout 3 curl h").parts] == [
        "nice -n 5 timeout 3 curl h",
        "timeout 3 curl h",
        "curl h",
    ]


def test_the_script_of_another_shell_is_analyzed_as_well() -> None:
    assert "curl h" in [part.text for part in found("bash -c 'ls; curl h'").parts]
    assert "curl h" in [part.text for part in found("eval curl h").parts]
    assert "curl h" in [part.text for part in found("echo $(true; curl h)").parts]


def test_nested_commands_are_read_in_the_order_of_the_line() -> None:
    """tree-sitter returns its nodes in no fixed order, and `cd` affects what follows it."""
    assert writes(f"{ROOT}/.git/x") in found("ls; (cd .git; touch x)").targets
    names = [f"program{number}" for number in range(300)]
    line = f"({'; '.join(names)})".encode()
    steps, _ = loose_steps(parse(line), line, 300)
    assert [step.words[0].text for step in steps] == names


def test_deep_nesting_finishes() -> None:
    deep = found("env " * 20 + "ls")
    assert "commands are nested too deeply" in deep.doubts


def test_redirections_are_paths_of_their_own() -> None:
    assert found("sort < a > b 2>> c 2>&1 >/dev/null").targets == (
        reads(f"{ROOT}/a"),
        writes(f"{ROOT}/b"),
        writes(f"{ROOT}/c"),
    )
    assert found("echo x > -").targets == (writes(f"{ROOT}/-"),)


def test_a_redirection_to_a_host_uses_the_network() -> None:
    seen = found("echo x > /dev/tcp/h/9")
    assert Finding(FindingKind.NETWORK, "h", "> /dev/tcp/h/9") in seen.findings
    assert seen.doubts


def test_a_redirection_is_relative_to_the_folder_after_cd() -> None:
    assert writes(f"{ROOT}/.git/config") in found("cd .git && echo x > config").targets


def test_a_cd_that_may_have_failed_leaves_both_folders_open() -> None:
    after = found("cd a; cat b").targets
    assert {reads(f"{ROOT}/b"), reads(f"{ROOT}/a/b")} <= set(after)
    assert reads(f"{ROOT}/b") not in found("cd a && cat b").targets


def test_paths_are_found_in_every_way_to_write_them() -> None:
    assert writes(f"{ROOT}/out") in found("sort --output=out a").targets
    assert writes(f"{ROOT}/out") in found("sort -uoout a").targets
    assert writes(f"{ROOT}/out") in found("uniq a out").targets
    assert writes(f"{ROOT}/a") in found("sed -n -i p a").targets


def test_the_target_of_a_tilde_is_shown_and_still_doubted() -> None:
    seen = found("echo k >> ~/.bashrc")
    assert writes("/nowhere/home/.bashrc") in seen.targets
    assert seen.doubts


def test_a_link_is_followed_to_where_it_leads(tmp_path: Path) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "x").write_text("x")
    (root / "link").symlink_to(outside / "x")
    (root / "there").symlink_to(outside)
    (root / "plain").write_text("x")
    (root / "dangling").symlink_to(outside / "nothing")
    for command in (
        "cat link",
        "cat l*",
        "cat there/x",
        "cat */x",
        "cat t[[:lower:]]ere/*",
        "cd there && cat x",
        "cat < link",
    ):
        assert reads(str(outside / "x")) in analyze_command(command, str(root)).targets, command


def test_a_folder_above_a_link_is_doubted_because_shells_differ_on_it(tmp_path: Path) -> None:
    (tmp_path / "ws" / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "ws" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "ws" / "near").symlink_to(tmp_path / "ws" / "src")

    def doubts(command: str) -> tuple[str, ...]:
        return analyze_command(command, str(tmp_path / "ws")).parts[0].doubts

    assert doubts("cd out/../ws && ls") == ("shells differ on the folder above a link",)
    assert (doubts("cd src/.. && ls"), doubts("cd near/.. && ls")) == ((), ())


def test_findings_say_what_an_approved_command_needs() -> None:
    commit = found("git commit -m x").findings
    assert Finding(FindingKind.WRITES, f"{ROOT}/.git", "git commit changes the repository") in commit
    assert {finding.kind for finding in found("npm install").findings} == {
        FindingKind.NETWORK,
        FindingKind.WRITES,
        FindingKind.RUNS_CODE,
    }
    assert Finding(FindingKind.NETWORK, "example.org", "curl") in found("curl https://example.org/x").findings
    assert Finding(FindingKind.DELETES, f"{ROOT}/build", "rm") in found("rm -rf build").findings
    assert found("frobnicate").findings[0].kind is FindingKind.UNKNOWN


@pytest.mark.parametrize(
    "unit",
    ["true;", "(", "a|", "$(", '"', "a <<E ", "env ", "eval ", "coproc ", "if true; then ", "é ", "[ "],
)
def test_a_hundred_kilobytes_of_anything_end_in_a_doubt(unit: str) -> None:
    seen = found(unit * (100_000 // len(unit)) + "; curl h")
    assert "it is too long to be judged" in seen.doubts
    assert "curl h" in seen.unjudged


@pytest.mark.parametrize("command", ["cat \0", "cat \ud800", "ls " + "x" * 7000, "cat a/" * 900, "\\", "'"])
def test_no_text_is_too_odd_to_be_read(command: str) -> None:
    assert found(command).text == command


def test_a_nested_repository_is_doubted_because_it_may_run_programs(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / "vendor" / name).mkdir(parents=True)
    (tmp_path / "vendor" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "src").mkdir()
    assert not analyze_command("cd vendor && git status", str(tmp_path)).is_read_only
    assert analyze_command("cd src && git status", str(tmp_path)).is_read_only


def test_a_pattern_counts_as_the_files_it_matches(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert reads(str(tmp_path / "a.txt")) in analyze_command("cat *", str(tmp_path)).targets
    (tmp_path / "server.pem").write_text("x")
    for command in ("cat *", "cat s*", "cat [s]erver.pem", "cat se[[:alpha:]]ver.*"):
        assert reads(str(tmp_path / "server.pem")) in analyze_command(command, str(tmp_path)).targets, command
    assert not analyze_command("cat .e*", str(tmp_path)).is_read_only


def test_a_search_that_would_show_a_secret_is_doubted(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "certs").mkdir()
    (tmp_path / "certs" / "server.key").write_text("x")
    (tmp_path / ".env").write_text("x")
    for command in ("rg KEY", "rg KEY certs", "grep -r KEY .", "grep -rn KEY .", "diff -r certs src"):
        assert not analyze_command(command, str(tmp_path)).is_read_only, command
    for command in ("rg KEY src", "rg -l KEY", "rg -t py KEY", "grep -rn KEY src", "grep -rl KEY ."):
        assert analyze_command(command, str(tmp_path)).is_read_only, command
    (tmp_path / ".gitignore").write_text("certs/\n")
    assert not analyze_command("rg KEY", str(tmp_path)).is_read_only
    (tmp_path / ".git").mkdir()
    assert analyze_command("rg KEY", str(tmp_path)).is_read_only
    (tmp_path / "src" / ".ignore").write_text("!.env\n")
    assert not analyze_command("rg KEY", str(tmp_path)).is_read_only


@pytest.mark.parametrize(
    "setting",
    [
        "[core]\n\tfsmonitor = ./x",
        "[core] fsmonitor=./x",
        '[filter "x"]\n\tclean = ./x',
        '[diff "x"]\n\ttextconv = ./x',
        "[diff]\n\texternal = ./x",
        "[include]\n\tpath = x",
        "[core]\n\tworktree = /",
        "[extensions]\n\tworktreeConfig = true",
        "[log]\n\tshowSignature = true",
        "[pretty]\n\tq = %G?",
        '[remote "o"]\n\tpromisor = true',
        "[core]\n\thooksPath = .husky",
        "[core]\n\tfsmonitor = \\\n./x",
    ],
)
def test_a_repository_whose_settings_run_programs_is_doubted(tmp_path: Path, setting: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".husky").mkdir()
    (tmp_path / ".husky" / "post-index-change").write_text("x")
    config = tmp_path / ".git" / "config"
    config.write_text('[core]\n\tbare = false\n\tfsmonitor = true\n[remote "origin"]\n\turl = x\n')
    assert analyze_command("git status", str(tmp_path)).is_read_only
    config.write_text(f"[core]\n\tbare = false\n{setting}\n")
    assert not analyze_command("git status", str(tmp_path)).is_read_only
    assert analyze_command("git rev-parse HEAD", str(tmp_path)).is_read_only


def test_a_repository_elsewhere_is_doubted_unless_it_is_the_main_one(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    assert analyze_command("git status", str(tree)).is_read_only
    (main / ".git" / "config").write_text("[core]\n\tfsmonitor = ./x\n")
    assert not analyze_command("git status", str(tree)).is_read_only
    (tree / ".git").write_text("gitdir: vendor/git\n")
    assert not analyze_command("git status", str(tree)).is_read_only


def test_a_linked_repository_is_checked(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init")
    git("init", "inner")
    git("-C", "inner", "commit", "--allow-empty", "-m", "x")
    git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    assert analyze_command("git status", str(tmp_path)).is_read_only
    git("-C", "inner", "config", "core.fsmonitor", "./x")
    assert not analyze_command("git status", str(tmp_path)).is_read_only


def test_a_program_of_the_workspace_does_not_count_as_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An activated environment is on the PATH, and an edit could put a `git` there."""
    binaries = tmp_path / ".venv/bin"
    binaries.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    for name in ("git", "pytest"):
        (binaries / name).write_text("#!/bin/sh\n")

    def doubts(command: str) -> list[str]:
        parts = analyze_command(command, str(tmp_path), roots=(str(tmp_path),)).parts
        return [doubt for part in parts for doubt in part.doubts]

    assert doubts("git log") == [f"the PATH finds {binaries}/git, which is in the workspace"]
    assert doubts("pytest -q") == []
    assert doubts("ls") == []
