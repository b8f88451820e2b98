"""Which servers a session has, and what each gets."""

from pathlib import Path

import pytest

from coder_tui.config.mcp_files import FoundServers
from coder_tui.config.sections import McpServerSection
from coder_tui.mcp.servers import (
    McpContext,
    OfferedPrompt,
    PromptArgumentsError,
    UnsetVariableError,
    choose_servers,
    fill_variables,
    known,
    server_part,
)
from coder_tui.mcp.wire import PromptArgument, PromptInfo, Transport
from coder_tui.tools.foreign import valid_name
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
    assert fill_variables(text, ENVIRON) == expected


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UnsetVariableError, match="the variable NONE is not set"):
        fill_variables("x ${NONE}", ENVIRON)


def test_the_nearest_of_two_that_share_a_name_is_used_with_one_notice() -> None:
    far, near = found("db", command="far"), found("db", command="near", is_own=False)
    other = found("other", command="x")

    servers, notices = choose_servers((FoundServers((far, other)), FoundServers((near,), ("a word",))), {})

    assert [(server.name, server.section.command) for server in servers] == [("db", "near"), ("other", "x")]
    assert notices == (
        "a word",
        "two MCP servers are named db: the one in config.toml is used, the one in config.toml is not",
    )


def test_only_the_user_decides_how_a_projects_server_is_confined() -> None:
    brought = found("db", command="x", sandbox="off", writable=("/",), is_own=False)
    own = McpServerSection(sandbox="off", timeout_sec=5)

    (bare,), _ = choose_servers((FoundServers((brought,)),), {})
    (changed,), _ = choose_servers((FoundServers((brought,)),), {"db": own})
    (off,), _ = choose_servers((FoundServers((brought,)),), {"db": McpServerSection(enabled=False)})

    assert (bare.section.sandbox, bare.section.writable) == ("auto", ())
    assert (changed.section.sandbox, changed.section.timeout_sec) == ("off", 5)
    assert off.section.enabled is False


def test_a_projects_server_gets_no_secrets_of_the_users_server_of_the_same_name() -> None:
    own = McpServerSection(headers={"X-Key": "${API_KEY}"}, env={"TOKEN": "t"}, timeout_sec=5)
    places = [FoundServers((found("db", url="http://x", is_own=is_own),)) for is_own in (True, False)]

    (mine,), nothing = choose_servers(places[:1], {"db": own})
    (theirs,), notices = choose_servers(places[1:], {"db": own})

    assert (mine.section.headers, mine.section.env, nothing) == (own.headers, own.env, ())
    assert (theirs.section.headers, theirs.section.env, theirs.section.timeout_sec) == ({}, {}, 5)
    assert notices == (
        "env and headers of your [mcp.db] are not passed to the server from config.toml; "
        "add a command or url to your table to define your own server",
    )


def test_a_server_gets_a_few_variables_and_its_own() -> None:
    server = found("db", command="run", args=("${API_KEY}",), env={"TOKEN": "${API_KEY}"}, cwd="sub")
    order = known(server, McpContext((Path("/w"),), ENVIRON, Path("/logins"))).order
    assert order is not None
    assert (order.argv, order.directory, order.transport) == (("run", "k"), "/w/sub", Transport.STDIO)
    assert order.environment == {"HOME": "/home/a", "PATH": "/bin", "LANG": "C", "TOKEN": "k"}


def test_names_suit_every_provider_and_stay_unique() -> None:
    names = [
        server_part(name) for name in ("plain", "two words", "two.words", "a__b", "ü", "x" * 60, "x" * 61)
    ]
    assert names[0] == "plain"
    assert len(set(names)) == len(names)
    assert all("__" not in name and len(name) <= 28 and name for name in names)
    tools = [valid_name(f"mcp__{names[5]}__", name) for name in ("t" * 80, "t" * 81, "read", "a b", "a.b")]
    assert len(set(tools)) == len(tools)
    assert all(len(name) <= 64 for name in tools)


def test_no_server_can_get_another_servers_name() -> None:
    assert server_part(server_part("two words")) != server_part("two words")


def test_no_server_can_replace_the_users_commands() -> None:
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


def test_a_prompt_without_required_arguments_is_an_error() -> None:
    with pytest.raises(PromptArgumentsError, match="/everything:ask needs city: city \\[state\\]"):
        OfferedPrompt("everything", ASK).filled("")
    with pytest.raises(PromptArgumentsError, match="takes no arguments"):
        OfferedPrompt("everything", PromptInfo("bare")).filled("x")
