"""Profiles from files: in the formats that people have, without trusting a project, without breaking."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.agent.profiles.files import Dialect, load_profiles, parse_file
from coder_tui.agent.profiles.profiles import Profile, ProfileMode, Profiles, Switch, built_in, off
from coder_tui.config.paths import Directories
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.access import ToolKind
from coder_tui.skills.command_files import ExtensionPlaces

NAMES = [profile.name for profile in built_in().all]


class Home:
    """The user's folders and a project, with agents in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.project.mkdir(parents=True)
        data = folder / "data"
        self.directories = Directories(folder / "config", data, data, data)
        self.environ: dict[str, str] = {}

    def put(self, name: str, text: str | bytes) -> None:
        """`config/…`, `home/…` or `project/…`."""
        path = self.home.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def load(self, settings: str = "") -> tuple[Profiles, list[str]]:
        places = ExtensionPlaces(self.project, self.directories, self.home, self.environ)
        file = parse_settings(self.directories.config / "config.toml", settings.encode())
        agents = file.values.get("agents", {})
        custom = agents.get("custom", {}) if isinstance(agents, dict) else {}
        trust = Trust.load(self.directories)
        profiles, notices = load_profiles(built_in(), places, trust, custom, Sources(file=file))
        root = str(self.home.parent)
        return profiles, [notice.replace(root, "") for notice in notices]

    def trust(self) -> None:
        trust = Trust.load(self.directories)
        trust.accept(trust.inventory(self.project))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def of(profiles: Profiles, name: str) -> Profile:
    return profiles.get(name)


def test_claudes_format(home: Home) -> None:
    home.put(
        "home/.claude/agents/reviewer.md",
        "---\nname: code-reviewer\ndescription: Reviews: carefully\ntools: Read, Grep, Bash(git diff:*)\n"
        "model: inherit\ncolor: blue\n---\nYou review code.\n",
    )
    profiles, notices = home.load()
    found = of(profiles, "code-reviewer")
    label = found.source
    on = ("read", "read_many", "read_around", "file_info", "grep", "bash", "bash_output", "bash_kill")
    assert notices == []
    assert found == Profile(
        "code-reviewer",
        "Reviews: carefully",
        ProfileMode.SUB,
        "You review code.",
        (*off("question", "plan_exit", "*"), *(Switch(name, is_on=True) for name in on)),
        (
            Rule("bash", "*", Effect.DENY, label),
            Rule("bash", "git diff*", Effect.ALLOW, label),
        ),
        source=label,
    )
    assert label.endswith("/home/.claude/agents/reviewer.md")
    offered = {
        name
        for name in ("read", "grep", "bash", "write", "edit", "skill", "task_finish")
        if found.offers(name, ToolKind.READ)
    }
    assert offered == {"read", "grep", "bash", "task_finish"}


def test_what_claude_code_itself_writes(home: Home) -> None:
    """One long line with colons and escapes, its own model's short name, tools that only it has."""
    home.put(
        "home/.claude/agents/test-runner.md",
        "---\nname: test-runner\ndescription: Use this agent when tests must run. Examples: <example>"
        'Context: a change was made. user: "Done?" assistant: "I\'ll use the test-runner agent" '
        "<commentary>Since: x</commentary></example>\\n\\nMore: yes\n"
        "tools: Glob, Grep, LS, Read, NotebookEdit, WebFetch, TodoWrite, ListMcpResourcesTool, mcp__files\n"
        "model: sonnet\ncolor: green\n---\n\nYou run tests.\n",
    )
    profiles, notices = home.load()
    found = of(profiles, "test-runner")
    assert notices == []
    assert (found.prompt, found.model) == ("You run tests.", "")
    assert found.description.startswith("Use this agent when tests must run. Examples: <example>")
    names = ("glob", "grep", "list", "read", "fetch", "todowrite", "mcp__files__read", "write", "bash")
    offered = [name for name in names if found.offers(name, ToolKind.READ)]
    assert offered == [*names[:-2]]


def test_opencodes_format(home: Home) -> None:
    home.put(
        "home/.config/opencode/agent/team/docs.md",
        "---\ndescription: Writes docs\nmode: subagent\nmodel: openai/gpt-5\ntemperature: 0.1\nsteps: 12\n"
        "tools:\n  bash: false\n  webfetch: false\npermission:\n  edit: ask\n"
        '  bash:\n    "*": deny\n    "git log*": allow\n---\nYou write docs.\n',
    )
    profiles, notices = home.load()
    found = of(profiles, "team-docs")
    assert notices == []
    assert (found.mode, found.model, found.max_steps) == (ProfileMode.SUB, "openai/gpt-5", 12)
    assert [(rule.key, rule.pattern, rule.effect) for rule in found.rules] == [
        ("edit", "*", Effect.ASK),
        ("bash", "*", Effect.DENY),
        ("bash", "git log*", Effect.ALLOW),
    ]
    assert found.rules[0].source.endswith("docs.md:10")
    assert not found.offers("bash", ToolKind.EXECUTE)
    assert not found.offers("fetch", ToolKind.FETCH)
    assert found.offers("read", ToolKind.READ)


def test_our_own_toml_and_settings(home: Home) -> None:
    home.put("config/agents/small.toml", 'mode = "primary"\nprompt = "Be brief."\nmax_minutes = 5\n')
    profiles, notices = home.load(
        '[agents.custom.lead]\nprompt = "Lead."\ntools = ["read", "task"]\nmax_steps = 3\n'
    )
    small, lead = of(profiles, "small"), of(profiles, "lead")
    assert notices == []
    assert (small.mode, small.prompt, small.max_minutes) == (ProfileMode.PRIMARY, "Be brief.", 5)
    assert (lead.mode, lead.max_steps) == (ProfileMode.ALL, 3)
    assert lead.source.endswith("config.toml:1")


def test_of_one_name_the_nearer_of_the_users_own_holds(home: Home) -> None:
    home.put("home/.claude/agents/x.md", "---\nname: x\n---\nclaude")
    home.put("config/agents/x.md", "---\nname: x\n---\nours")
    home.put("config/agents/explore.md", "---\ndescription: mine\n---\nmy explorer")
    profiles, _ = home.load()
    assert of(profiles, "x").prompt == "ours"
    assert of(profiles, "explore").prompt == "my explorer"


def test_a_disabled_agent_is_gone_but_build_and_plan_stay(home: Home) -> None:
    for name in ("verify", "build", "plan"):
        home.put(f"config/agents/{name}.md", "---\ndisable: true\n---\nx")
    profiles, _ = home.load()
    assert [profile.name for profile in profiles.all] == ["general", "explore", "build", "plan"]


def test_a_projects_agents_wait_for_trust_and_are_bound_to_their_content(home: Home) -> None:
    home.put("project/.claude/agents/helper.md", "---\nname: helper\n---\nHelp.")
    home.put("project/.opencode/agents/other.md", "---\n---\nOther.")
    profiles, notices = home.load()
    assert [profile.name for profile in profiles.all] == NAMES
    assert notices == [
        "found .claude/agents/helper.md and 1 more agents, not used: this folder is not trusted; "
        "'coder-tui trust' shows them, and asks"
    ]
    home.trust()
    profiles, notices = home.load()
    assert [profile.name for profile in profiles.all] == [*NAMES, "helper", "other"]
    assert notices == []
    home.put("project/.claude/agents/helper.md", "---\nname: helper\ntools: '*'\n---\nHarm.")
    profiles, notices = home.load()
    assert [profile.name for profile in profiles.all] == [*NAMES, "other"]
    assert notices[0].startswith("found .claude/agents/helper.md, not used")


@pytest.mark.parametrize("name", ["plan", "build", "explore", "mine"])
def test_a_trusted_project_cannot_replace_an_agent(home: Home, name: str) -> None:
    home.put("config/agents/mine.md", "---\n---\nmine")
    home.put(f"project/.coder-tui/agents/{name}.md", "---\ntools: '*'\n---\nNew words.")
    home.trust()
    profiles, notices = home.load()
    assert of(profiles, name).prompt != "New words."
    assert notices == [
        f".coder-tui/agents/{name}.md: the name {name} is taken by an agent of yours or ours; not used"
    ]


def test_a_trusted_projects_agent_cannot_pass_for_another_by_its_case(home: Home) -> None:
    home.put("project/.coder-tui/agents/Build.md", "---\ntools: '*'\n---\nNew words.")
    home.trust()
    profiles, _ = home.load()

    assert [profile.name for profile in profiles.all] == NAMES


def test_a_link_out_of_the_project_is_not_followed(home: Home) -> None:
    home.put("elsewhere.md", "---\n---\nSecret.")
    (home.project / ".claude/agents").mkdir(parents=True)
    (home.project / ".claude/agents/x.md").symlink_to(home.home.parent / "elsewhere.md")
    home.trust()
    profiles, notices = home.load()
    assert [profile.name for profile in profiles.all] == NAMES
    assert notices == [".claude/agents/x.md: leads out of the project through a link; not used"]


WRONG: dict[str, tuple[str | bytes, str]] = {
    "no-head": ("just words", "no-head.md:1: there is no frontmatter"),
    "no-end": ("---\nname: x\n", "no-end.md:1: the frontmatter is not closed"),
    "yaml": ("---\nname: [x\n---\nhi", "yaml.md:"),
    "no-prompt": ("---\nname: x\n---\n", "no-prompt.md: the agent x has no prompt"),
    "bad-name": ("---\nname: ../../etc\n---\nhi", "bad-name.md:2: '../../etc' is no name for an agent"),
    "bad-mode": ("---\nmode: boss\n---\nhi", "bad-mode.md:2: mode 'boss' is none of primary, sub, all"),
    "bytes": (b"---\nname: x\n---\n\xff\xfe", "bytes.md:4: not UTF-8 text"),
    "huge": ("---\nname: x\n---\n" + "y" * 200_000, "huge.md: its prompt is longer than"),
    "bomb": ("---\na: &a [x]\nb: [*a, *a]\n---\nhi", "bomb.md:3: aliases"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_reported_by_file_and_line(home: Home, name: str) -> None:
    text, said = WRONG[name]
    home.put(f"config/agents/{name}.md", text)
    profiles, notices = home.load()
    assert [profile.name for profile in profiles.all] == NAMES
    assert len(notices) == 1
    assert said in notices[0]
    assert notices[0].endswith("not used")


DOUBTFUL = {
    "tool": ("---\ntools: Read, Wrte\n---\nhi", "tool.md:2: there is no tool Wrte; did you mean write?"),
    "field": (
        "---\ndescripton: x\n---\nhi",
        'field.md:2: unknown field "descripton"; did you mean "description"?',
    ),
    "model": (
        "---\nmodel: sonnet\n---\nhi",
        "model.md:2: model sonnet names no provider; the session's is used",
    ),
    "effect": (
        "---\npermission:\n  bash: never\n---\nhi",
        "effect.md:2: permission.bash: 'never' is none of allow, ask, deny",
    ),
    "steps": ("---\nsteps: many\n---\nhi", "steps.md:2: steps must be a whole number above 0, got 'many'"),
    "key": ("---\npermission:\n  bahs: deny\n---\nhi", "key.md:2: there is no tool bahs; did you mean bash?"),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_field_that_is_wrong_is_reported_and_the_rest_is_used(home: Home, name: str) -> None:
    text, said = DOUBTFUL[name]
    home.put(f"config/agents/{name}.md", text)
    profiles, notices = home.load()
    assert of(profiles, name).prompt == "hi"
    assert len(notices) == 1
    assert said in notices[0]


_VALUES = st.recursive(
    st.text(max_size=20)
    | st.booleans()
    | st.integers()
    | st.sampled_from(["Read, Bash(x)", "deny", "*", "all"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_HEADS = st.dictionaries(
    st.sampled_from(
        ["name", "mode", "tools", "permission", "model", "steps", "disable", "disallowedTools", "x"]
    ),
    _VALUES,
    max_size=6,
)


@given(head=_HEADS, body=st.text(max_size=50))
def test_no_head_whatever_it_says_breaks_the_start(head: dict[str, object], body: str) -> None:
    text = f"---\n{yaml.safe_dump(head, allow_unicode=True)}---\n{body}"
    parsed = parse_file(Path("x.md"), "x.md", text.encode("utf-8", "replace"), "x.md", Dialect.OURS)
    assert parsed.profile is not None or parsed.notices


@given(data=st.binary(max_size=200), suffix=st.sampled_from([".md", ".toml"]))
def test_no_bytes_break_the_start(data: bytes, suffix: str) -> None:
    name = f"x{suffix}"
    parsed = parse_file(Path(name), name, b"---\n" + data, name, Dialect.CLAUDE)
    assert parsed.profile is not None or parsed.notices


def test_broken_toml_names_its_line(home: Home) -> None:
    home.put("config/agents/x.toml", 'prompt = "a"\nmode = \n')
    _, notices = home.load()
    assert [notice.rpartition("/")[2].split(": ")[0] for notice in notices] == ["x.toml:2:8"]


def test_an_unknown_agent_is_answered_with_the_nearest(home: Home) -> None:
    profiles, _ = home.load()
    with pytest.raises(Exception, match="there is no agent 'explor'; did you mean explore"):
        profiles.get("explor")
    with pytest.raises(Exception, match="explore is a sub-agent"):
        profiles.leader("explore")
