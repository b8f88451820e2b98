"""`fetch` through the whole runner: asked for, refused, allowed by a rule, followed as the rules say."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from tests.fakes.real_tools import RealTools, setup_in
from tests.web.loopback import Answer, Loopback, redirect, serving

Tools = Callable[..., RealTools]


def yes(request: ApprovalRequest) -> ApprovalReply:
    return ApprovalReply(Decision.ALLOW_ONCE)


def saved(path: str) -> str:
    return Path(path).read_text()


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """The program's tools with rules for `fetch` in the user's settings."""

    def make(answer: Callable[[ApprovalRequest], ApprovalReply] | None = None, **rules: str) -> RealTools:
        project, config = tmp_path / "project", tmp_path / "home" / "config"
        project.mkdir(exist_ok=True)
        config.mkdir(parents=True, exist_ok=True)
        lines = [f"{json.dumps(pattern)} = {json.dumps(effect)}" for pattern, effect in rules.items()]
        (config / "config.toml").write_text("\n".join(["[permission.fetch]", *lines]))
        setup = setup_in(tmp_path / "home", project, Mode.ASK)
        return RealTools(setup, answer) if answer else RealTools(setup)

    return make


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    async with serving({"/": Answer(b"hello"), "/away": redirect("http://169.254.169.254/")}) as made:
        yield made


async def test_a_fetch_is_asked_for_with_all_that_it_would_send(tools: Tools, server: Loopback) -> None:
    real = tools(yes)
    result = await real.call("fetch", url=server.url(), headers={"Authorization": "Bearer hunter2"})
    assert (result["ok"], result["content"]) == (True, "hello")
    (request,) = real.asked
    assert request.preview == TextBlock(f"GET {server.url()}\nAuthorization: ••••")
    assert f"{server.url()} is a loopback address" in request.facts
    assert "hunter2" not in repr(request)


async def test_without_a_user_nothing_is_sent(tools: Tools, server: Loopback) -> None:
    assert await tools().outcome("fetch", url=server.url()) == "permission_denied"
    assert server.seen == []


async def test_a_rule_for_everything_does_not_reach_this_machine(tools: Tools, server: Loopback) -> None:
    assert await tools(**{"*": "allow"}).outcome("fetch", url=server.url()) == "permission_denied"
    assert server.seen == []


async def test_a_rule_with_its_very_host_does(tools: Tools, server: Loopback) -> None:
    real = tools(**{"http://127.0.0.1:*": "allow"})
    assert (await real.call("webfetch", uri=server.url()))["content"] == "hello"
    assert real.asked == []


async def test_an_address_that_the_user_edits_is_decided_on_again(tools: Tools, server: Loopback) -> None:
    def rewrite(request: ApprovalRequest) -> ApprovalReply:
        if request.editable and request.editable.text.endswith("/first"):
            return ApprovalReply(Decision.MODIFY, edited=f"{server.url()}\n")
        return ApprovalReply(Decision.ALLOW_ONCE)

    result = await tools(rewrite).call("fetch", url=server.url("/first"))
    assert (result["content"], [seen.path for seen in server.seen]) == ("hello", ["/"])


async def test_an_address_that_the_user_edits_to_metadata_is_denied(tools: Tools, server: Loopback) -> None:
    def rewrite(request: ApprovalRequest) -> ApprovalReply:
        return ApprovalReply(Decision.MODIFY, edited="http://169.254.169.254/")

    assert await tools(rewrite).outcome("fetch", url=server.url()) == "permission_denied"


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://[fe80::1]/", "http://0xA9FEA9FE/x"])
async def test_metadata_is_denied_without_a_question(tools: Tools, url: str) -> None:
    real = tools(yes, **{"*": "allow", "http://169.254.169.254/*": "allow"})
    assert await real.outcome("fetch", url=url) == "permission_denied"
    assert real.asked == []


async def test_a_redirect_to_metadata_is_denied(tools: Tools, server: Loopback) -> None:
    assert await tools(yes).outcome("fetch", url=server.url("/away")) == "permission_denied"


async def test_a_deny_rule_applies_to_a_redirect(tools: Tools, server: Loopback) -> None:
    server.routes["/hop"] = redirect("/")
    real = tools(yes, **{"*": "ask", server.url("/"): "deny"})
    assert await real.outcome("fetch", url=server.url("/hop")) == "permission_denied"
    assert [seen.path for seen in server.seen] == ["/hop"]


async def test_a_long_text_leaves_valid_json_and_the_rest_in_a_file(tools: Tools, server: Loopback) -> None:
    server.routes["/long"] = Answer(b"line\n" * 15_000)
    result = await tools(yes).call("fetch", url=server.url("/long"))
    assert result["truncated"] is False
    assert "line\n" * 15_000 in saved(result["full_output"])
