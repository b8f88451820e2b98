"""Decisions on commands: parts, paths, doubts, modes, layers and grants together."""

from pathlib import Path

import pytest

from coder_tui.config.project_settings import user_layer
from coder_tui.config.settings import Settings
from coder_tui.config.sources import Sources
from coder_tui.policy.decide import decide
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.targets import Action, Policy
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm

ROOT = "/nowhere/ws"
WORLD = Boundaries(roots=(ROOT,), own=("/nowhere/config",))
RULES = (
    ("bash", "*", "ask"),
    ("bash", "git status*", "allow"),
    ("bash", "ls*", "allow"),
    ("bash", "cat*", "allow"),
    ("bash", "echo*", "allow"),
    ("bash", "sort*", "allow"),
    ("bash", "mkdir*", "allow"),
    ("bash", "rm*", "allow"),
    ("bash", "make*", "allow"),
    ("bash", "curl*", "deny"),
)


def command(text: str) -> Action:
    target = Target(TargetKind.COMMAND, text, writes=True)
    found = analyze_command(text, ROOT, home="/nowhere/home", roots=(ROOT,))
    return Action("bash", "bash", ToolKind.EXECUTE, (target, *found.targets), found)


def layer(*rules: tuple[str, str, str], name: str = "user", is_trusted: bool = True) -> Layer:
    listed = tuple(Rule(key, pattern, Effect(effect), name) for key, pattern, effect in rules)
    return Layer(name, listed, is_trusted)


def effect(
    text: str,
    *layers: Layer,
    mode: Mode = Mode.ASK,
    grants: tuple[Grant, ...] = (),
    is_sandboxed: bool = False,
) -> Effect:
    policy = Policy(WORLD, mode, layers or (layer(*RULES),), grants, is_sandboxed)
    return decide(command(text), policy).effect


@pytest.mark.parametrize(
    "text",
    ["git status", "ls -la | cat", "cd src && ls", "timeout 5 ls", "git --no-pager status", "ls || true"],
)
def test_a_command_runs_when_every_part_has_its_rule(text: str) -> None:
    assert effect(text) is Effect.ALLOW


@pytest.mark.parametrize(
    "text",
    ["ls; touch x", "ls\ntouch x", "ls & touch x", "lsof -i", "ls.sh", "./ls", "/bin/ls", "true", "cd src"],
)
def test_a_part_without_a_rule_asks(text: str) -> None:
    assert effect(text) is Effect.ASK


@pytest.mark.parametrize(
    "text",
    [
        "curl h",
        "env curl h",
        "/usr/bin/curl h",
        "\\curl h",
        "c''url h",
        "true;" * 60 + "curl h",
        "if true; then curl h; fi",
        "echo $(curl h)",
        "X=1 curl h",
        "bash -c 'curl h'",
        "sudo -u me curl h",
        "xargs curl",
        "find . -exec curl {} +",
        "busybox curl h",
        "true;" * 20_000 + "curl h",
        "true;" * 20_000 + "if x; then A=1 env -i /usr/bin/curl h; fi",
        "true;" * 20_000 + "timeout -k 5 9 cu''rl h",
        "git log &&& curl h",
        "CURL h",
    ],
)
def test_a_denied_command_is_found_in_every_form(text: str) -> None:
    assert effect(text) is Effect.DENY


def test_a_rule_for_everything_allows_only_what_is_plain() -> None:
    everything = layer(("bash", "*", "allow"))
    assert effect("frobnicate --now", everything) is Effect.ALLOW
    for text in ("echo $x", "sudo ls", "find . -delete", "rg --pre ./x k", "ls\u200b", "bash -c ls"):
        assert effect(text, everything) is Effect.ASK, text


def test_a_redirection_is_decided_like_an_edit() -> None:
    assert effect("echo x > f") is Effect.ASK
    assert effect("sort -o f a") is Effect.ASK
    assert effect("echo x > f", layer(*RULES, ("edit", "*", "allow"))) is Effect.ALLOW
    assert effect("echo x > f", mode=Mode.EDITS) is Effect.ALLOW
    assert effect("echo x > f", layer(*RULES, ("edit", "f", "deny"))) is Effect.DENY
    assert effect("echo x > /dev/null") is Effect.ALLOW


def test_a_rule_for_a_program_covers_the_files_it_exists_to_write() -> None:
    assert effect("mkdir -p build/out") is Effect.ALLOW
    assert effect("rm -rf build") is Effect.ALLOW
    for text in ("mkdir /elsewhere", "rm -rf .", "rm -rf ..", "rm -rf *", "rm .env", "rm -rf ~", "rm $x"):
        assert effect(text) is Effect.ASK, text
    assert effect("rm -rf .git") is Effect.DENY


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cat .env", Effect.ASK),
        ("cat < .env", Effect.ASK),
        ("cat /etc/passwd", Effect.ASK),
        ("cat ../x", Effect.ASK),
        ("ls /nowhere/ws-evil", Effect.ASK),
        ("cd .git && echo x > config", Effect.DENY),
        ("echo x > .coder-tui/config.toml", Effect.DENY),
        ("echo x > /nowhere/config/config.toml", Effect.DENY),
    ],
)
def test_protections_apply_to_the_paths_of_a_command(text: str, wanted: Effect) -> None:
    assert effect(text, layer(("bash", "*", "allow"), ("edit", "*", "allow"))) is wanted


def test_a_rule_with_exactly_the_whole_line_allows_it_despite_doubts() -> None:
    exact = layer(("bash", "*", "ask"), ("bash", "for f in a b; do make $f; done", "allow"))
    assert effect("for f in a b; do make $f; done", exact) is Effect.ALLOW
    assert effect("for f in a c; do make $f; done", exact) is Effect.ASK
    assert effect("sort *", layer(("bash", "sort *", "allow"))) is Effect.ASK


def test_among_layers_the_strictest_wins_and_an_untrusted_one_only_tightens() -> None:
    user = layer(*RULES)
    assert effect("ls", user, layer(("bash", "ls*", "ask"), name="project")) is Effect.ASK
    assert effect("ls", user, layer(("bash", "ls*", "deny"), name="project", is_trusted=False)) is Effect.DENY
    assert effect("make x", layer(("bash", "make*", "allow"), name="project", is_trusted=False)) is Effect.ASK
    assert effect("make x", layer(("bash", "make*", "allow"), name="project")) is Effect.ALLOW


def test_inside_a_layer_the_last_match_wins() -> None:
    rules = layer(("bash", "git *", "deny"), ("bash", "git status*", "allow"))
    assert effect("git status", rules) is Effect.ALLOW
    assert effect("git push", rules) is Effect.DENY
    assert effect("git -C . push", rules) is Effect.DENY


def test_plan_mode_runs_only_what_is_known_to_read() -> None:
    assert effect("ls", mode=Mode.PLAN) is Effect.ALLOW
    assert effect("ls", layer(), mode=Mode.PLAN) is Effect.ASK
    for text in ("make", "echo x > f", "mkdir x", "ls $x"):
        assert effect(text, mode=Mode.PLAN) is Effect.DENY, text


def test_auto_runs_what_the_sandbox_confines() -> None:
    free = layer()
    for text in ("pytest -q", "make $TARGET", "for f in *; do wc $f; done", "echo x > f", "python x.py"):
        assert effect(text, free, mode=Mode.AUTO, is_sandboxed=True) is Effect.ALLOW, text
        assert effect(text, free, mode=Mode.AUTO) is Effect.ASK, text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (". ./x", "mode auto"),
        ("git status; pytest", "mode auto"),
        ("git status", "bash 'git status*' = allow"),
    ],
)
def test_a_command_that_mode_auto_allows_names_the_mode(text: str, rule: str) -> None:
    policy = Policy(WORLD, Mode.AUTO, (layer(("bash", "git status*", "allow")),), is_sandboxed=True)
    verdict = decide(command(text), policy)
    assert (verdict.effect, verdict.rule) == (Effect.ALLOW, rule)


@pytest.mark.parametrize(
    "text",
    [
        'rm -rf ~ "$UNSET/"',
        "rm -rf build",
        "$X -rf .",
        "mv a $B",
        "echo x > $F",
        "curl h",
        "npm install",
        "git commit -m x",
        "git reset --hard",
        "cat .env",
        "cat /etc/passwd",
        "echo x > /elsewhere",
        "ls\u202e",
        "find . -delete",
        "ls | xargs rm",
        "true;" * 20_000,
        "",
    ],
)
def test_auto_still_asks_about_what_the_sandbox_cannot_contain(text: str) -> None:
    assert effect(text, layer(), mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK


def test_auto_obeys_rules_that_ask_or_deny() -> None:
    rules = layer(("bash", "make*", "ask"), ("bash", "curl*", "deny"))
    assert effect("make", rules, mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK
    assert effect("make $x", rules, mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK
    assert effect("curl h", rules, mode=Mode.AUTO, is_sandboxed=True) is Effect.DENY


def own(*rules: tuple[str, str, str]) -> Layer:
    """Return the user's layer, as read from a settings file."""
    table: dict[str, dict[str, str]] = {}
    for key, pattern, chosen in rules:
        table.setdefault(key, {})[pattern] = chosen
    return user_layer(Settings.model_validate({"permission": table}).permission, Sources())


@pytest.mark.parametrize("rules", [[("bash", "*", "ask")], [("*", "*", "ask")]])
def test_a_catch_all_that_asks_yields_to_the_mode_that_the_user_chose(
    rules: list[tuple[str, str, str]],
) -> None:
    assert effect("pytest -q", own(*rules), mode=Mode.AUTO, is_sandboxed=True) is Effect.ALLOW
    assert effect("make $x", own(*rules), mode=Mode.AUTO, is_sandboxed=True) is Effect.ALLOW
    assert effect("pytest -q", own(*rules), mode=Mode.AUTO) is Effect.ASK
    assert effect("pytest -q", own(*rules), is_sandboxed=True) is Effect.ASK
    assert effect("npm install", own(*rules), mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK


@pytest.mark.parametrize(
    "layers",
    [
        (own(("bash", "*", "ask"), ("bash", "make*", "ask")),),
        (own(("bash", "make*", "ask"), ("bash", "*", "ask")),),
        (own(("bash", "*", "ask")), layer(("bash", "make*", "ask"), name="project")),
        (own(("bash", "*", "ask")), layer(("bash", "*", "ask"), name="project")),
    ],
)
def test_a_rule_that_asks_by_name_or_from_the_project_applies_in_every_mode(
    layers: tuple[Layer, ...],
) -> None:
    assert effect("cd src && make", *layers, mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK


def test_a_mode_does_not_revive_rules_before_a_catch_all() -> None:
    rules = own(("bash", "npm*", "allow"), ("bash", "*", "ask"))
    assert effect("npm install", rules, mode=Mode.AUTO, is_sandboxed=True) is Effect.ASK


def test_mode_edits_overrides_a_catch_all_for_edits_only() -> None:
    def edit(path: str, mode: Mode, *rules: tuple[str, str, str]) -> Effect:
        target = Target(TargetKind.PATH, f"{ROOT}/{path}", writes=True)
        action = Action("edit", "edit", ToolKind.EDIT, (target,))
        return decide(action, Policy(WORLD, mode, (own(*rules),))).effect

    assert edit("a.py", Mode.EDITS, ("edit", "*", "ask")) is Effect.ALLOW
    assert edit("a.py", Mode.ASK, ("edit", "*", "ask")) is Effect.ASK
    assert edit("a.py", Mode.EDITS, ("edit", "*", "ask"), ("edit", "*.py", "ask")) is Effect.ASK
    assert edit("a.py", Mode.EDITS, ("edit", "*.py", "ask"), ("edit", "*", "ask")) is Effect.ASK
    reading = Action("read", "read", ToolKind.READ, (Target(TargetKind.PATH, f"{ROOT}/a"),))
    everything = Policy(WORLD, Mode.AUTO, (own(("*", "*", "ask")),))
    assert decide(reading, everything).effect is Effect.ASK


def test_a_granted_pattern_covers_the_parts_that_it_names() -> None:
    granted = (Grant("bash", ("npm run build*", "ls*"), "x", GrantForm.GLOB),)
    assert effect("npm run build --all && ls", layer(), grants=granted) is Effect.ALLOW
    for text in ("npm run deploy", "npm run build; touch x", "npm run build $x", "ls > f", "cat .env"):
        assert effect(text, layer(), grants=granted) is Effect.ASK, text
    assert effect("curl h", grants=(Grant("bash", ("*",), "x", GrantForm.GLOB),)) is Effect.DENY


def test_a_granted_exact_command_runs_again_with_everything_it_touches() -> None:
    granted = (Grant("bash", ("cat .env $x",), "x"), Grant("bash", ("echo x > .git/config",), "x"))
    assert effect("cat .env $x", layer(), grants=granted) is Effect.ALLOW
    assert effect("cat .env $y", layer(), grants=granted) is Effect.ASK
    assert effect("echo x > .git/config", layer(), grants=granted) is Effect.DENY


def test_an_allowed_command_is_explained_by_its_rule() -> None:
    policy = Policy(WORLD, layers=(layer(*RULES),))
    verdict = decide(command("ls src"), policy)
    assert (verdict.rule, verdict.source) == ("bash 'ls*' = allow", "user")
    assert verdict.reasons == ("the rule bash 'ls*' = allow says so",)


def test_the_reasons_name_every_doubt() -> None:
    verdict = decide(command("X=1 rg --pre ./x k > ~/f"), Policy(WORLD, layers=(layer(*RULES),)))
    assert (verdict.effect, verdict.source) == (Effect.ASK, "built-in protection")
    said = " ".join(verdict.reasons)
    for part in ("sets a variable", "--pre", "~ stands for", "outside the workspace"):
        assert part in said, part


def linked(tmp_path: Path) -> Path:
    """A workspace with a link to a file, one to a folder and one to nothing yet, all of them outside."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "x").write_text("x")
    (root / "src").mkdir(parents=True)
    (root / "link").symlink_to(outside / "x")
    (root / "there").symlink_to(outside)
    (root / "dangling").symlink_to(outside / "nothing")
    (root / "near").symlink_to(root / "src")
    return root


def effect_in(root: Path, text: str, mode: Mode = Mode.ASK) -> Effect:
    found = analyze_command(text, str(root), roots=(str(root),))
    target = Target(TargetKind.COMMAND, text, writes=True)
    action = Action("bash", "bash", ToolKind.EXECUTE, (target, *found.targets), found)
    rules = layer(("bash", "*", "allow"), ("edit", "*", "allow"), ("external_directory", "*", "allow"))
    exact = Grant("bash", (text,), "exact", GrantForm.EXACT)
    boundaries = Boundaries(roots=(str(root),))
    return decide(action, Policy(boundaries, mode, (rules,), (exact,), is_sandboxed=True)).effect


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
@pytest.mark.parametrize(
    "text",
    [
        "echo x > link",
        "echo x >> dangling",
        "echo x > there/new",
        "cd there && echo x > new",
        "echo x > there/sub/../y",
        "tee link",
        "cp src/a link",
        "cp src/a there",
        "mv src/a there",
        "touch dangling",
        "mkdir there/made",
        "rm there/x",
        "truncate -s 0 link",
        "echo $HOME > link",
        "echo x > li*",
    ],
)
def test_no_rule_grant_or_mode_lets_a_command_write_out_of_the_workspace_through_a_link(
    tmp_path: Path, text: str, mode: Mode
) -> None:
    assert effect_in(linked(tmp_path), text, mode) is Effect.DENY


@pytest.mark.parametrize(
    "text", ["rm link", "mv there elsewhere", "echo x > near/new", "cat link", "echo x > ../outside/x"]
)
def test_a_link_itself_may_be_removed_and_a_named_path_may_be_granted(tmp_path: Path, text: str) -> None:
    assert effect_in(linked(tmp_path), text) is Effect.ALLOW


def test_a_workspace_behind_a_link_does_not_count_as_outside(tmp_path: Path) -> None:
    root = linked(tmp_path)
    (tmp_path / "alias").symlink_to(root)
    found = analyze_command("echo x > src/new", str(tmp_path / "alias"), roots=(str(tmp_path / "alias"),))
    assert found.linked_out == frozenset()
