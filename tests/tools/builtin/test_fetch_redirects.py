"""A redirect is a separate request: checked, pinned, and without what belongs to another origin."""

from contextlib import nullcontext

import pytest

from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import read_address
from coder_tui.web.fetch import check_rules
from tests.web.loopback import HERE, OUTSIDE, Answer, Fetching, Names, Received, redirect, serving

SECRETS = {
    "Authorization": "Bearer abc",
    "Cookie": "sid=1",
    "X-Api-Key": "k",
    "X-Custom": "c",
    "Accept": "a/b",
}


def echo(received: Received) -> Answer:
    return Answer(f"{received.method} {received.body.decode()}".encode())


async def test_redirects_are_followed_to_the_last_address() -> None:
    routes = {"/": redirect("/b", 301), "/b": redirect("c?x=1", 307), "/c": Answer(b"there")}
    async with serving(routes) as server:
        result = await Fetching().call(url=server.url())
    assert (result["url"], result["content"]) == (server.url("/c?x=1"), "there")


async def test_five_redirects_are_followed_and_no_more() -> None:
    routes = {f"/{n}": redirect(f"/{n + 1}") for n in range(6)}
    async with serving({**routes, "/6": Answer(b"end")}) as server:
        assert (await Fetching().call(url=server.url("/1")))["content"] == "end"
        error = await Fetching().failure(url=server.url("/0"))
    assert (error.type, error.message) == (ErrorType.NETWORK_ERROR, "The server redirects more than 5 times.")


@pytest.mark.parametrize(
    ("method", "status", "seen"),
    [
        ("POST", 301, "GET "),
        ("POST", 302, "GET "),
        ("POST", 303, "GET "),
        ("POST", 307, "POST body"),
        ("POST", 308, "POST body"),
        ("PUT", 302, "PUT body"),
        ("PUT", 303, "GET "),
        ("DELETE", 308, "DELETE body"),
    ],
)
async def test_method_and_body_change_as_the_status_says(method: str, status: int, seen: str) -> None:
    async with serving({"/": redirect("/next", status), "/next": echo}) as server:
        assert (await Fetching().call(url=server.url(), method=method, body="body"))["content"] == seen
    assert ("content-type" in server.seen[1].headers) is ("body" in seen)


async def test_a_head_stays_one() -> None:
    async with serving({"/": redirect("/next", 303), "/next": Answer(b"x")}) as server:
        await Fetching().call(url=server.url(), method="HEAD")
    assert [seen.method for seen in server.seen] == ["HEAD", "HEAD"]


async def test_what_may_be_a_credential_never_reaches_another_origin() -> None:
    async with (
        serving({"/": Answer(b"there")}) as other,
        serving({"/": redirect(other.url())}) as server,
    ):
        result = await Fetching().call(url=server.url(), headers=SECRETS)
    assert (result["ok"], result["url"]) == (True, other.url())
    assert {name.lower() for name in SECRETS} <= server.seen[0].headers.keys()
    kept = other.seen[0].headers
    assert {name for name in SECRETS if name.lower() in kept} == {"Accept"}


async def test_credentials_are_not_sent_again_after_a_detour() -> None:
    async with serving({}) as server, serving({"/": redirect(server.url("/back"))}) as other:
        server.routes = {"/": redirect(other.url()), "/back": Answer(b"back")}
        await Fetching().call(url=server.url(), headers={"Authorization": "Bearer abc"})
    assert [seen.headers.get("authorization") for seen in server.seen] == ["Bearer abc", None]


async def test_another_origin_that_asks_for_credentials_gets_none() -> None:
    async with (
        serving({"/": Answer(b"who?", status=401)}) as other,
        serving({"/": redirect(other.url())}) as server,
    ):
        result = await Fetching().call(url=server.url(), auth={"type": "bearer", "token": "abc"})
    assert result["status_code"] == 401
    assert [seen.headers.get("authorization") for seen in other.seen] == [None]


async def test_credentials_given_after_a_401_stay_at_home() -> None:
    async with serving({"/": Answer(b"there")}) as other:

        def guarded(received: Received) -> Answer:
            return redirect(other.url()) if "authorization" in received.headers else Answer(status=401)

        async with serving({"/": guarded}) as server:
            await Fetching().call(url=server.url(), auth={"type": "basic", "user": "a", "password": "b"})
    assert [seen.headers.get("authorization") for seen in other.seen] == [None]


@pytest.mark.parametrize(("method", "status"), [("POST", 307), ("POST", 308), ("PUT", 301), ("DELETE", 302)])
async def test_what_is_sent_is_not_carried_to_another_origin(method: str, status: int) -> None:
    async with (
        serving({"/": echo}) as other,
        serving({"/": redirect(other.url(), status)}) as server,
    ):
        error = await Fetching().failure(url=server.url(), method=method, body="secret")
    assert (error.type, other.seen) == (ErrorType.PERMISSION_DENIED, [])


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/",
        "http://0xA9FEA9FE/",
        "http://2852039166/",
        "http://[::ffff:169.254.169.254]/",
        "http://metadata.google.internal/",
        "http://127.0.0.1:{port}/",
        "http://127.1:{port}/",
        "http://localhost:{port}/",
        "http://localhost.:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://10.0.0.1/",
        "http://inside.example:{port}/",
        "//127.0.0.1:{port}/",
    ],
)
async def test_the_open_net_cannot_send_us_inside(target: str) -> None:
    names = Names(
        {
            "outside.example": [OUTSIDE],
            "localhost": [HERE],
            "inside.example": [HERE],
            "metadata.google.internal": ["169.254.169.254"],
        }
    )
    async with serving({"/": Answer(b"secret")}) as inside:
        routes = {"/": redirect(target.format(port=inside.port))}
        async with serving(routes, OUTSIDE) as outside:
            error = await Fetching(names).failure(url=outside.url("/", "outside.example"))
    assert (error.type, inside.seen, len(outside.seen)) == (ErrorType.PERMISSION_DENIED, [], 1)


async def test_the_open_net_cannot_send_us_back_inside() -> None:
    """The approval was for a request to this machine, not for one that another server invents."""
    async with serving({}) as inside, serving({"/": redirect(inside.url("/admin"))}, OUTSIDE) as outside:
        inside.routes = {"/": redirect(outside.url("/", "outside.example")), "/admin": Answer(b"done")}
        error = await Fetching().failure(url=inside.url())
    assert error.type is ErrorType.PERMISSION_DENIED
    assert [seen.path for seen in inside.seen] == ["/"]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "gopher://h/", "https://u:p@h.example/", "http://a\\b/"]
)
async def test_a_redirect_to_an_address_outside_the_web_is_refused(target: str) -> None:
    async with serving({"/": redirect(target)}) as server:
        error = await Fetching().failure(url=server.url())
    assert error.type in (ErrorType.PERMISSION_DENIED, ErrorType.INVALID_TOOL_PARAMS)


def rules(allowed: str, denied: str = "-") -> Fetching:
    def judge(url: str) -> Effect:
        if denied in url:
            return Effect.DENY
        return Effect.ALLOW if allowed in url else Effect.ASK

    return Fetching(
        judge=judge, names=Names({"a.example": [OUTSIDE], "b.example": [OUTSIDE], "www.a.example": [OUTSIDE]})
    )


async def test_an_address_that_a_rule_allows_cannot_lead_to_one_that_none_does() -> None:
    async with (
        serving({"/to": Answer(b"leaked")}, OUTSIDE) as other,
        serving({"/": redirect(other.url("/to?secret", "b.example"))}, OUTSIDE) as server,
    ):
        error = await rules("//a.example").failure(url=server.url("/", "a.example"))
        followed = await rules("nothing").call(url=server.url("/", "a.example"))
    assert error.type is ErrorType.PERMISSION_DENIED
    assert "/to?secret" in error.message
    assert followed["content"] == "leaked"


async def test_an_address_that_a_rule_denies_is_not_reached_by_a_redirect() -> None:
    async with (
        serving({"/": Answer(b"x")}, OUTSIDE) as other,
        serving({"/": redirect(other.url("/", "b.example"))}, OUTSIDE) as server,
    ):
        error = await rules("nothing", "b.example").failure(url=server.url("/", "a.example"))
    assert (error.type, other.seen) == (ErrorType.PERMISSION_DENIED, [])


@pytest.mark.parametrize(
    ("there", "is_followed"),
    [
        ("https://a.example/", True),
        ("https://www.a.example/x", True),
        ("http://a.example:8080/", False),
        ("http://b.example/", False),
        ("http://a.example.evil.io/", False),
        ("http://wwwa.example/", False),
    ],
)
def test_a_site_that_a_rule_allows_may_redirect_within_itself(there: str, is_followed: bool) -> None:
    here = read_address("http://a.example/")
    expected = nullcontext() if is_followed else pytest.raises(ToolError)
    with expected:
        check_rules(Effect.ALLOW, Effect.ASK, here, read_address(there))
    check_rules(Effect.ASK, Effect.ASK, here, read_address(there))


async def test_a_redirect_without_a_location_is_the_answer() -> None:
    async with serving({"/": Answer(b"several", status=300), "/n": Answer(b"none", status=302)}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == "several"
        assert (await Fetching().call(url=server.url("/n")))["status_code"] == 302
