"""Which servers a session has, and what each is given."""

from pathlib import Path

import pytest

from coder_tui.config.mcp_files import FoundServers
from coder_tui.config.sections import McpServerSection
from coder_tui.mcp.prompts import OfferedPrompt, PromptArgumentsError
from coder_tui.mcp.servers import Surroundings, UnsetVariableError, chosen, filled, known, server_part
from coder_tui.mcp.wire import PromptArgument, PromptInfo, Transport
from coder_tui.tools.foreign import fitting_name
from tests.fakes.mcp_pools import found

ENVIRON = {"HOME": "/home/a", "PATH": "/bin", "LANG": "C", "API_KEY": "k", "EMPTY": "", "OTHER": "x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ${HOME} b", "a /home/a b"),
        ("${NONE:-instead}", "instead"),
        ("${EMPTY:-instead}", "instead"),
        ("${EMPTY}", ""),
        ("${NONE:-}", ""),
        ("$HOME $$ ${", "$HOME $$ ${"),
    ],
)
def test_variables_are_filled_in(text: str, expected: str) -> None:
    assert filled(text, ENVIRON) == expected


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UnsetVariableError, match="the variable NONE is not set"):
        filled("x ${NONE}", ENVIRON)


def test_the_nearest_of_two_that_share_a_name_is_used_with_one_notice() -> None:
    far, near = found("db", command="far"), found("db", command="near", is_own=False)
    other = found("other", command="x")

    servers, notices = chosen((FoundServers((far, other)), FoundServers((near,), ("a word",))), {})

    assert [(server.name, server.section.command) for server in servers] == [("db", "near"), ("other", "x")]
    assert notices == (
        "a word",
        "two MCP servers are called db: that of config.toml is used, that of config.toml is not",
    )


def test_how_a_projects_server_is_confined_is_the_persons_to_say() -> None:
    brought = found("db", command="x", sandbox="off", writable=("/",), is_own=False)
    own = McpServerSection(sandbox="off", timeout_sec=5)

    (bare,), _ = chosen((FoundServers((brought,)),), {})
    (changed,), _ = chosen((FoundServers((brought,)),), {"db": own})
    (off,), _ = chosen((FoundServers((brought,)),), {"db": McpServerSection(enabled=False)})

    assert (bare.section.sandbox, bare.section.writable) == ("auto", ())
    assert (changed.section.sandbox, changed.section.timeout_sec) == ("off", 5)
    assert off.section.enabled is False


def test_a_projects_server_gets_no_secret_that_the_person_keeps_for_one_of_that_name() -> None:
    own = McpServerSection(headers={"X-Key": "${API_KEY}"}, env={"TOKEN": "t"}, timeout_sec=5)
    places = [FoundServers((found("db", url="http://x", is_own=is_own),)) for is_own in (True, False)]

    (mine,), nothing = chosen(places[:1], {"db": own})
    (theirs,), notices = chosen(places[1:], {"db": own})

    assert (mine.section.headers, mine.section.env, nothing) == (own.headers, own.env, ())
    assert (theirs.section.headers, theirs.section.env, theirs.section.timeout_sec) == ({}, {}, 5)
    assert notices == (
        "env and headers of your [mcp.db] are not handed to the server of config.toml; "
        "give your table a command or url to have a server of your own",
    )


def test_a_server_gets_few_variables_and_those_that_are_its_own() -> None:
    server = found("db", command="run", args=("${API_KEY}",), env={"TOKEN": "${API_KEY}"}, cwd="sub")
    order = known(server, Surroundings((Path("/w"),), ENVIRON, Path("/logins"))).order
    assert order is not None
    assert (order.argv, order.directory, order.transport) == (("run", "k"), "/w/sub", Transport.STDIO)
    assert order.environment == {"HOME": "/home/a", "PATH": "/bin", "LANG": "C", "TOKEN": "k"}


def test_names_fit_every_provider_and_stay_apart() -> None:
    names = [
        server_part(name) for name in ("plain", "two words", "two.words", "a__b", "ü", "x" * 60, "x" * 61)
    ]
    assert names[0] == "plain"
    assert len(set(names)) == len(names)
    assert all("__" not in name and len(name) <= 28 and name for name in names)
    tools = [fitting_name(f"mcp__{names[5]}__", name) for name in ("t" * 80, "t" * 81, "read", "a b", "a.b")]
    assert len(set(tools)) == len(tools)
    assert all(len(name) <= 64 for name in tools)


def test_no_server_can_take_the_name_that_another_got() -> None:
    assert server_part(server_part("two words")) != server_part("two words")


def test_no_server_takes_the_place_of_commands_of_ones_own() -> None:
    names = ("project", "User", "mcp-project", "projects")
    commands = [OfferedPrompt(name, PromptInfo("Review It")).command for name in names]
    assert commands == [
        "mcp-project:review_it",
        "mcp-user:review_it",
        "mcp-mcp-project:review_it",
        "projects:review_it",
    ]


ASK = PromptInfo("ask", "", (PromptArgument("city", is_required=True), PromptArgument("state")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rome", {"city": "Rome"}),
        ("'New York' NY", {"city": "New York", "state": "NY"}),
        ("state=NY Albany", {"state": "NY", "city": "Albany"}),
        ("Rome a b c", {"city": "Rome", "state": "a b c"}),
        ("it's", {"city": "it's"}),
    ],
)
def test_arguments_of_a_prompt_are_read(text: str, expected: dict[str, str]) -> None:
    prompt = OfferedPrompt("My Server", ASK)
    assert prompt.usage == "city [state]"
    assert prompt.filled(text) == expected


def test_a_prompt_without_what_it_needs_says_so() -> None:
    with pytest.raises(PromptArgumentsError, match="/everything:ask needs city: city \\[state\\]"):
        OfferedPrompt("everything", ASK).filled("")
    with pytest.raises(PromptArgumentsError, match="takes no arguments"):
        OfferedPrompt("everything", PromptInfo("bare")).filled("x")
