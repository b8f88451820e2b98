import pytest

from coder_tui.policy.decide import decide, offered_grants
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.targets import Action, Policy
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

ROOT = "/nowhere/ws"
POLICY = Policy(Boundaries(roots=(ROOT,)))


def command(text: str) -> Action:
    found = analyze_command(text, ROOT, roots=(ROOT,))
    target = Target(TargetKind.COMMAND, text, writes=True)
    return Action("bash", "bash", ToolKind.EXECUTE, (target,), found)


def patterns(text: str) -> list[tuple[str, ...]]:
    return [grant.patterns for grant in offered_grants(command(text), POLICY)]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("git status", ("git status*",)),
        ("git --no-pager log -5", ("git log*",)),
        ("npm run build", ("npm run build*",)),
        ("npm test", ("npm test*",)),
        ("pytest tests/x.py", ("pytest*",)),
        ("ls -la", ("ls*",)),
        ("cargo test --all", ("cargo test*",)),
        ("make", ("make",)),
        ("make test", ("make test*",)),
        ("rg foo | head -5", ("rg*", "head*")),
        ("cd src && ls || true", ("ls*",)),
        ("timeout 5 pytest -q", ("pytest*",)),
        ("docker compose ps", ("docker compose ps*",)),
        ("docker volume ls", ("docker volume ls*",)),
        ("gh repo view", ("gh repo view*",)),
        ("npm config get x", ("npm config get*",)),
        ("terraform state list", ("terraform state list*",)),
    ],
)
def test_the_narrowest_useful_pattern_is_offered_for_each_scope(text: str, offered: tuple[str, ...]) -> None:
    exact, *others = offered_grants(command(text), POLICY)
    assert exact == Grant("bash", (text,), "this exact command, this session")
    words = " + ".join(offered)
    assert others == [
        Grant("bash", offered, f"{words}  ·  this session", GrantForm.GLOB, GrantScope.SESSION),
        Grant("bash", offered, f"{words}  ·  saved for this project", GrantForm.GLOB, GrantScope.PROJECT),
        Grant("bash", offered, f"{words}  ·  saved for all projects", GrantForm.GLOB, GrantScope.USER),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "python x.py",
        "node -e 1",
        "bash x.sh",
        "sudo ls",
        "npx tsc",
        "uv run pytest",
        "docker run x",
        "ssh h ls",
        "./run.sh",
        "echo $x",
        "find . -delete",
        "rg --pre ./x k",
        "env FOO=1 ls",
        "echo x > f",
        "cat .env",
        "ls /etc",
        "ls; python x.py",
    ],
)
def test_only_the_exact_command_is_offered_if_a_pattern_is_too_wide_or_useless(text: str) -> None:
    assert patterns(text) == [(text,)]


def test_nothing_is_offered_for_invisible_characters() -> None:
    assert patterns("ls \u200b") == []


@pytest.mark.parametrize(
    "text", ["git status", "rg foo | head -5", "npm run build -- --x", "echo $x", "cat .env"]
)
def test_an_offered_grant_avoids_the_next_question(text: str) -> None:
    for grant in offered_grants(command(text), POLICY):
        granted = Policy(POLICY.boundaries, grants=(grant,))
        assert decide(command(text), granted).effect is Effect.ALLOW


def test_a_discovered_tool_offers_no_server_whatever_its_name() -> None:
    name = "discovered_tool_a__db__query"
    keys = {grant.key for grant in offered_grants(Action(name, name, ToolKind.OTHER), POLICY)}
    assert keys == {name}


def test_a_tool_of_a_server_is_offered_with_its_server() -> None:
    action = Action("mcp__db__query", "mcp__db__query", ToolKind.OTHER)
    offered = offered_grants(action, POLICY)
    assert [(grant.key, grant.patterns, grant.scope) for grant in offered] == [
        (key, ("*",), scope) for key in ("mcp__db__query", "mcp__db__*") for scope in GrantScope
    ]
    other = Action("mcp__db__drop", "mcp__db__drop", ToolKind.OTHER)
    foreign = Action("mcp__dbx__query", "mcp__dbx__query", ToolKind.OTHER)
    this_tool, this_server = (Policy(POLICY.boundaries, grants=(offered[index],)) for index in (0, 3))
    assert [decide(each, this_tool).effect for each in (action, other)] == [Effect.ALLOW, Effect.ASK]
    assert [decide(each, this_server).effect for each in (other, foreign)] == [Effect.ALLOW, Effect.ASK]


def test_a_page_is_offered_with_its_host() -> None:
    def fetch(url: str) -> Action:
        return Action("fetch", "fetch", ToolKind.FETCH, (Target(TargetKind.ADDRESS, url),))

    offered = offered_grants(fetch("https://example.org/a"), POLICY)
    assert [grant.patterns for grant in offered][:2] == [
        ("https://example.org/a",),
        ("https://example.org/*",),
    ]
    granted = Policy(POLICY.boundaries, grants=(offered[1],))
    assert decide(fetch("https://example.org/b"), granted).effect is Effect.ALLOW
    for url in ("https://example.org.evil.io/b", "http://example.org/b", "https://x@evil.io/b"):
        assert decide(fetch(url), granted).effect is Effect.ASK, url


def patch(*paths: str) -> Action:
    targets = tuple(Target(TargetKind.PATH, path, writes=True) for path in paths)
    return Action("patch", "edit", ToolKind.EDIT, targets)


def test_a_change_of_several_files_can_be_granted_for_them_or_for_the_workspace() -> None:
    exact, everywhere, *_ = offered_grants(patch(f"{ROOT}/src/a.py", f"{ROOT}/b.py"), POLICY)
    assert exact == Grant(
        "edit", (f"{ROOT}/src/a.py", f"{ROOT}/b.py"), "src/a.py and 1 more, as listed, this session"
    )
    label = "every edit inside the workspace, this session"
    assert everywhere == Grant("edit", (ROOT,), label, GrantForm.FOLDER)
    for grant, reaches in ((exact, Effect.ASK), (everywhere, Effect.ALLOW)):
        policy = Policy(POLICY.boundaries, grants=(grant,))
        assert decide(patch(f"{ROOT}/b.py", f"{ROOT}/src/a.py"), policy).effect is Effect.ALLOW
        assert decide(patch(f"{ROOT}/b.py", f"{ROOT}/c.py"), policy).effect is reaches
        assert decide(patch(f"{ROOT}/b.py", f"{ROOT}/.env"), policy).effect is Effect.ASK


@pytest.mark.parametrize("other", ["/elsewhere/b.py", f"{ROOT}/.env"])
def test_files_with_a_protected_one_among_them_are_granted_only_by_name(other: str) -> None:
    (only,) = offered_grants(patch(f"{ROOT}/a.py", other), POLICY)
    assert (only.form, only.patterns) == (GrantForm.EXACT, (f"{ROOT}/a.py", other))


def test_a_scope_is_offered_only_if_a_rule_in_it_would_avoid_the_next_question() -> None:
    def scopes(*layers: Layer) -> list[GrantScope]:
        offered = offered_grants(command("make test"), Policy(POLICY.boundaries, layers=layers))
        return [grant.scope for grant in offered if grant.form is GrantForm.GLOB]

    def asking(name: str) -> Layer:
        return Layer(name, (Rule("bash", "*", Effect.ASK, name),))

    every = [GrantScope.SESSION, GrantScope.PROJECT, GrantScope.USER]
    assert scopes() == every
    assert scopes(asking("user")) == [GrantScope.SESSION, GrantScope.USER]
    assert scopes(asking("project")) == [GrantScope.SESSION, GrantScope.PROJECT]
    assert scopes(asking("user"), asking("project")) == [GrantScope.SESSION]


def test_a_file_can_be_granted_permanently_unless_a_rule_cannot_name_it() -> None:
    saved = [grant for grant in offered_grants(patch(f"{ROOT}/a.py"), POLICY) if grant.scope != "session"]
    assert saved == [
        Grant("edit", (f"{ROOT}/a.py",), "a.py  ·  saved for this project", scope=GrantScope.PROJECT),
        Grant("edit", (f"{ROOT}/a.py",), "a.py  ·  saved for all projects", scope=GrantScope.USER),
    ]
    for path in (f"{ROOT}/a*.py", f"{ROOT}/.env", "/elsewhere/a.py"):
        assert {grant.scope for grant in offered_grants(patch(path), POLICY)} == {GrantScope.SESSION}
