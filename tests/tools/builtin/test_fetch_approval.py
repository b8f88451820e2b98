"""What an approval of `fetch` shows, what it covers, and what it never covers."""

import pytest

from coder_tui.policy.addresses import reach_of_url
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.web import WebSettings
from tests.web.loopback import HERE, OUTSIDE, Answer, Fetching, Names, serving


async def test_an_approval_shows_the_whole_request_without_its_secrets() -> None:
    access = await Fetching().access(
        url="https://Outside.example/a/../b?q=1#f",
        method="POST",
        headers={"Authorization": "Bearer abc", "X-Api-Key": "k1", "X-Kind": "plain"},
        body="the body",
        auth={"type": "basic", "user": "me", "password": "hunter2"},
    )
    assert access.targets == (Target(TargetKind.ADDRESS, "https://outside.example/b?q=1", writes=True),)
    assert access.preview == TextBlock(
        "POST https://outside.example/b?q=1\nAuthorization: ••••\nX-Api-Key: ••••\nX-Kind: plain\n\nthe body"
    )
    assert access.facts == ("sends the call's basic credentials only to this host, if it answers 401",)
    assert "hunter2" not in repr(access)


@pytest.mark.parametrize(
    ("method", "writes"), [("GET", False), ("HEAD", False), ("DELETE", True), ("PATCH", True)]
)
async def test_a_request_that_changes_something_says_so(method: str, writes: bool) -> None:
    access = await Fetching().access(url="https://outside.example/", method=method)
    assert access.targets[0].writes is writes


async def test_no_public_name_is_looked_up_before_an_approval() -> None:
    """A lookup would send the name, and what is in it, to the owner of its domain."""
    fetching = Fetching()
    await fetching.access(url="https://a-secret-in-a-name.outside.example/")
    assert fetching.names.asked == []


async def test_a_local_name_is_shown_with_the_address_behind_it() -> None:
    fetching = Fetching(Names({"wiki": ["10.0.0.3"], "build.corp": ["192.168.7.7 10.1.1.1"]}))
    access = await fetching.access(url="http://wiki/page")
    assert access.targets == (
        Target(TargetKind.ADDRESS, "http://wiki/page"),
        Target(TargetKind.ADDRESS, "http://10.0.0.3/"),
    )
    assert "resolves to 10.0.0.3, a private address" in access.facts
    several = await fetching.access(url="https://build.corp/")
    assert [target.value for target in several.targets[1:]] == [
        "https://192.168.7.7/",
        "https://10.1.1.1/",
    ]


async def test_this_machine_is_one_thing_by_any_name() -> None:
    fetching = Fetching()
    access = await fetching.access(url="http://localhost:3000/")
    assert access.targets == (Target(TargetKind.ADDRESS, "http://localhost:3000/"),)
    assert fetching.names.asked == []


async def test_a_name_of_the_open_net_that_leads_inside_is_refused_first_and_then_shown() -> None:
    fetching = Fetching(Names({"sly.example": [HERE]}))
    async with serving({"/": Answer(b"inside")}) as server:
        url = server.url("/", "sly.example")
        error = await fetching.failure(url=url)
        assert (error.type, server.seen) == (ErrorType.PERMISSION_DENIED, [])
        assert "sly.example resolves to 127.0.0.1, a loopback address" in error.message
        access = await fetching.access(url=url)
        assert "resolves to 127.0.0.1, a loopback address" in access.facts
        assert reach_of_url(access.targets[1].value) == "loopback"
        assert (await fetching.call(url=url))["content"] == "inside"


async def test_an_approval_applies_to_the_address_that_it_showed() -> None:
    """A name server that changes its answer after the approval gains nothing."""
    fetching = Fetching(Names({"wiki": [OUTSIDE, HERE]}))
    async with serving({"/": Answer(b"secret")}) as inside:
        error = await fetching.failure(url=inside.url("/", "wiki"))
    assert (error.type, inside.seen) == (ErrorType.PERMISSION_DENIED, [])


async def test_an_approved_private_address_does_not_cover_its_neighbour() -> None:
    fetching = Fetching(Names({"wiki": ["10.0.0.3", HERE]}))
    async with serving({"/": Answer(b"secret")}) as inside:
        error = await fetching.failure(url=inside.url("/", "wiki"))
    assert (error.type, inside.seen) == (ErrorType.PERMISSION_DENIED, [])


async def test_a_name_is_looked_up_once_for_each_hop_and_pinned() -> None:
    names = Names({"outside.example": [OUTSIDE, HERE]})
    async with serving({"/": Answer(b"pinned")}, OUTSIDE) as outside:
        result = await Fetching(names).call(url=outside.url("/", "outside.example"))
    assert (result["content"], names.asked) == ("pinned", ["outside.example"])
    assert outside.seen[0].headers["host"] == f"outside.example:{outside.port}"


async def test_one_private_answer_among_public_ones_is_enough_to_refuse() -> None:
    names = Names({"mixed.example": [f"{OUTSIDE} 10.0.0.1"]})
    async with serving({"/": Answer(b"x")}, OUTSIDE) as outside:
        error = await Fetching(names).failure(url=outside.url("/", "mixed.example"))
    assert (error.type, outside.seen) == (ErrorType.PERMISSION_DENIED, [])


@pytest.mark.parametrize("answer", ["169.254.169.254", "fe80::1", "fd00:ec2::254", "::ffff:169.254.169.254"])
async def test_a_name_that_leads_to_metadata_is_always_refused(answer: str) -> None:
    fetching = Fetching(Names({"wiki": [answer]}))
    assert (await fetching.failure(url="http://wiki/")).type is ErrorType.PERMISSION_DENIED


@pytest.mark.parametrize("host", ["169.254.169.254", "0xA9FEA9FE", "2852039166", "[::ffff:169.254.169.254]"])
async def test_metadata_is_refused_even_when_somebody_approved_it(host: str) -> None:
    assert (await Fetching().failure(url=f"http://{host}/")).type is ErrorType.PERMISSION_DENIED


@pytest.mark.parametrize("host", ["localhost", "localhost.", "127.1", "[::ffff:127.0.0.1]", "2130706433"])
async def test_this_machine_is_reached_once_it_was_approved(host: str) -> None:
    async with serving({"/": Answer(b"here")}) as server:
        assert (await Fetching().call(url=f"http://{host}:{server.port}/"))["content"] == "here"


async def test_facts_name_what_the_user_should_know() -> None:
    settings = WebSettings(
        insecure_hosts=frozenset({"outside.example"}), proxy="http://u:p@proxy.example:3128"
    )
    access = await Fetching(settings=settings).access(url="https://outside.example/")
    assert access.facts == (
        "goes through the proxy http://proxy.example:3128, which resolves the name itself",
        "TLS is not verified for outside.example, because fetch.insecure_hosts names it",
    )
    assert (await Fetching().access(url="http://bücher.example/")).facts == (
        "is not encrypted",
        "the host name is written in another alphabet; xn--… is its real name",
    )


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc/passwd", ErrorType.PERMISSION_DENIED),
        ("gopher://h/", ErrorType.PERMISSION_DENIED),
        ("https://good.com@evil.io/", ErrorType.INVALID_TOOL_PARAMS),
        ("https://u:hunter2@h.example/", ErrorType.INVALID_TOOL_PARAMS),
        ("https://h\0.example/", ErrorType.INVALID_TOOL_PARAMS),
        ("https://h.example/a b", ErrorType.INVALID_TOOL_PARAMS),
    ],
)
async def test_a_bad_url_fails_before_anybody_is_asked(url: str, kind: ErrorType) -> None:
    with pytest.raises(ToolError) as caught:
        await Fetching().access(url=url)
    assert caught.value.type is kind
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_the_summary_hides_a_password_in_a_url() -> None:
    tool = Fetching().tool
    assert tool.summary(tool.params(url="https://u:hunter2@h.example/x")) == "h.example/x"
    assert tool.summary(tool.params(url="https://h.example/@a", method="PUT")) == "PUT https://h.example/@a"
