"""`fetch` returns what a page says, and reports what it could not return."""

import asyncio
import base64
import json

import pytest
from pydantic import ValidationError

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.builtin.fetch_request import FetchParams
from tests.web.loopback import Answer, Fetching, Received, serving

PAGE = """<!doctype html><html><head><title>T</title><style>p {color: red}</style></head><body>
<header><h1>The title</h1><p>By the author</p></header>
<nav><a href="/elsewhere">Menu</a></nav>
<script>alert("evil")</script><noscript>no script</noscript><template>unused</template>
<div hidden>unseen words</div><div style="display:none">invisible words</div>
<p>See <a href="/guide?x=1">the guide</a> and <img src="pic.png" alt="a picture"></p>
<svg><title>drawing</title></svg>
</body></html>"""
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 200


def say(body: str, kind: str = "text/plain", **headers: str) -> Answer:
    return Answer(body.encode(), kind, headers=headers)


async def test_text_is_returned_as_it_is_with_all_fields() -> None:
    async with serving({"/a": say("hello\n")}) as server:
        result = await Fetching().call(url=server.url("/a#part"))
    assert result == {
        "ok": True,
        "url": server.url("/a"),
        "status_code": 200,
        "content_type": "text/plain",
        "is_image": False,
        "content": "hello\n",
        "size_bytes": 6,
        "truncated": False,
    }


async def test_a_page_becomes_markdown_without_what_no_reader_sees() -> None:
    async with serving({"/docs/a": say(PAGE, "text/html")}) as server:
        content = (await Fetching().call(url=server.url("/docs/a")))["content"]
    assert content == (
        "# The title\n\nBy the author\n\n"
        f"See [the guide]({server.url('/guide?x=1')}) and ![a picture]({server.url('/docs/pic.png')})"
    )


async def test_the_title_in_a_header_is_kept_next_to_a_navigation() -> None:
    """The converter's own cleaning removes a whole <header>."""
    html = "<body><header><nav><a href='/'>Home</a></nav><h1>Title</h1></header><main>Text</main></body>"
    async with serving({"/": say(html, "text/html")}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == "# Title\n\nText"


async def test_a_page_of_navigation_alone_is_shown() -> None:
    async with serving({"/": say("<body><nav><a href='/x'>X</a></nav></body>", "text/html")}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == f"[X]({server.url('/x')})"


@pytest.mark.parametrize(
    ("form", "content"), [("text", "Title\n\na b"), ("html", "<h1>Title</h1><p>a <b>b</b></p>")]
)
async def test_a_page_is_returned_in_the_requested_format(form: str, content: str) -> None:
    async with serving({"/": say("<h1>Title</h1><p>a <b>b</b></p>", "text/html")}) as server:
        assert (await Fetching().call(url=server.url(), format=form))["content"] == content


async def test_json_is_left_alone() -> None:
    async with serving({"/": say('{"a": [1]}', "application/json; charset=utf-8")}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == '{"a": [1]}'


async def test_an_image_is_returned_as_base64() -> None:
    async with serving({"/": Answer(PNG, "image/png")}) as server:
        result = await Fetching().result(url=server.url())
    assert result.for_model["is_image"] is True
    assert base64.b64decode(result.for_model["content"]) == PNG
    assert result.for_user == TextBlock("200 OK\nimage/png image, 208 bytes")


async def test_an_image_is_shown_to_a_model_that_sees() -> None:
    async with serving({"/": Answer(PNG, "image/png")}) as server:
        fetching = Fetching()
        fetching.sees_images = True
        result = await fetching.result(url=server.url())
    assert result.for_model["content"] == "The picture follows the results of this step."
    assert [(each.media_type, base64.b64decode(each.data)) for each in result.attachments] == [
        ("image/png", PNG)
    ]


async def test_an_image_is_known_by_its_bytes_where_the_server_does_not_say() -> None:
    async with serving({"/": Answer(PNG, "application/octet-stream"), "/b": Answer(PNG, "")}) as server:
        assert (await Fetching().call(url=server.url()))["is_image"] is True
        assert (await Fetching().call(url=server.url("/b")))["content_type"] == "image/png"


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"\x00\x01\x02" * 99, "application/zip"), (b"PK\x03\x04\0\0", ""), (b"\0\1\2\3\4", "text/plain")],
)
async def test_what_is_not_text_is_refused_with_its_type(body: bytes, kind: str) -> None:
    async with serving({"/": Answer(body, kind)}) as server:
        error = await Fetching().failure(url=server.url())
    assert error.type is ErrorType.BINARY_FILE
    assert (kind or "binary data") in error.message
    assert error.fields["status_code"] == 200


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("grüße".encode("latin-1"), "text/plain; charset=iso-8859-1", "grüße"),
        ("grüße".encode(), "text/plain; charset=iso-8859-1", "grüße"),
        ("grüße".encode("latin-1"), "text/plain; charset=utf-8", "grüße"),
        ("grüße".encode("latin-1"), "text/plain", "grüße"),
        ("grüße".encode("utf-16"), "text/plain", "grüße"),
        ("hello world".encode("utf-16-le"), "text/plain", "hello world"),
        ("日本語".encode("shift_jis"), "text/plain; charset=Shift_JIS", "日本語"),
        ("日本語".encode("iso2022_jp"), "text/plain; charset=iso-2022-jp", "日本語"),
        ("\ufeffgrüße".encode(), "text/plain; charset=ascii", "grüße"),
        ("grüße".encode(), "text/plain; charset=no-such-set", "grüße"),
        ("grüße".encode(), "text/plain; charset=unicode_escape", "grüße"),
        (b"a\xff\xfeb", "text/plain; charset=utf-8", "aÿþb"),
    ],
)
async def test_a_charset_is_found_however_wrongly_it_is_declared(body: bytes, kind: str, text: str) -> None:
    async with serving({"/": Answer(body, kind)}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == text


async def test_a_page_names_its_own_charset() -> None:
    html = '<html><head><meta charset="windows-1251"></head><body>Привет</body></html>'.encode("cp1251")
    async with serving({"/": Answer(html, "text/html")}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == "Привет"


async def test_head_has_no_body_but_a_size() -> None:
    async with serving({"/": say("x" * 500)}) as server:
        result = await Fetching().call(url=server.url(), method="head")
    assert server.seen[0].method == "HEAD"
    assert (result["ok"], result["content"], result["size_bytes"]) == (True, "", 500)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_body_is_sent_with_its_type(method: str) -> None:
    async with serving({"/": say("done")}) as server:
        await Fetching().call(url=server.url(), method=method, body='{"a": "ü"}', headers={"X-A": "b"})
    received = server.seen[0]
    assert (received.method, received.body) == (method, '{"a": "ü"}'.encode())
    assert received.headers["content-type"] == "application/json"
    assert received.headers["x-a"] == "b"


async def test_we_say_who_we_are_and_what_we_take() -> None:
    async with serving({"/": say("")}) as server:
        await Fetching().call(url=server.url())
    headers = server.seen[0].headers
    assert headers["user-agent"].startswith("coder-tui/")
    assert headers["accept-encoding"] == "gzip, deflate"
    assert headers["host"] == f"127.0.0.1:{server.port}"
    assert "cookie" not in headers


async def test_a_failing_status_is_a_failure_that_still_shows_the_answer() -> None:
    body = json.dumps({"message": "no such thing"})
    async with serving({"/": Answer(body.encode(), "application/json", 404)}) as server:
        result = await Fetching().call(url=server.url())
    assert (result["ok"], result["status_code"], result["content"]) == (False, 404, body)
    assert result["error"] == {"type": "network_error", "message": "The server answered 404 Not Found."}


async def test_a_closed_port_is_a_network_error() -> None:
    async with serving({}) as server:
        url = server.url()
    error = await Fetching().failure(url=url)
    assert error.type is ErrorType.NETWORK_ERROR
    assert error.message.startswith(f"No connection to {url.rstrip('/')}: ")


async def test_garbage_in_place_of_http_is_a_network_error() -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        error = await Fetching().failure(url=f"http://127.0.0.1:{port}/")
    assert error.type is ErrorType.NETWORK_ERROR


async def test_an_unknown_name_is_a_network_error() -> None:
    assert (await Fetching().failure(url="https://nowhere.example/")).type is ErrorType.NETWORK_ERROR


async def test_the_next_address_of_a_host_is_tried() -> None:
    async with serving({"/": say("second")}) as server:
        fetching = Fetching()
        fetching.names._answers["localhost"] = ["127.0.0.3 127.0.0.1"]
        assert (await fetching.call(url=server.url("/", "localhost")))["content"] == "second"


async def test_a_call_tells_how_far_it_is() -> None:
    async with serving({"/": say("x" * 600_000, "text/html")}) as server:
        fetching = Fetching()
        await fetching.call(url=server.url())
    assert fetching.progress[0] == f"GET {server.url()}\n"
    assert fetching.progress[-1].endswith(" bytes\n")


async def test_cancelling_closes_the_connection() -> None:
    async def never(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving({"/": Answer(b"x", rest=never)}) as server:
        task = asyncio.create_task(Fetching().call(url=server.url()))
        await server.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 10)


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": "TRACE"},
        {"method": "CONNECT"},
        {"headers": {"Host": "x"}},
        {"headers": {"content-length": "3"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"Proxy-Authorization": "x"}},
        {"headers": {"a b": "x"}},
        {"headers": {"": "x"}},
        {"headers": {"x": "a\r\nHost: evil"}},
        {"headers": {"x": "a\0"}},
        {"headers": {"x": "日本"}},
        {"headers": {"x": "a" * 9_000}},
        {"body": "x"},
        {"body": "x", "method": "HEAD"},
        {"body": "\udc80", "method": "POST"},
        {"auth": {"type": "basic"}},
        {"auth": {"type": "bearer"}},
        {"auth": {"type": "bearer", "token": "a\r\nb"}},
        {"auth": {"type": "digest", "user": "a"}},
        {"auth": {"type": "cookie", "cookie": "a=b", "extra": 1}},
        {"format": "pdf"},
        {"timeout_sec": float("nan")},
        {"surprise": 1},
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_happens(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FetchParams.model_validate({"url": "https://example.org/", **arguments})


async def test_basic_bearer_and_cookie_answer_a_401_once() -> None:
    def guarded(received: Received) -> Answer:
        given = received.headers.get("authorization") or received.headers.get("cookie")
        return say(given) if given else Answer(b"who?", status=401)

    cases: list[tuple[dict[str, str], str]] = [
        ({"type": "basic", "user": "me", "password": "pä:ss"}, "Basic bWU6cMOkOnNz"),
        ({"type": "bearer", "token": "abc"}, "Bearer abc"),
        ({"type": "cookie", "cookie": "sid=1; b=2"}, "sid=1; b=2"),
    ]
    for auth, sent in cases:
        async with serving({"/": guarded}) as server:
            result = await Fetching().call(url=server.url(), auth=auth)
            assert (result["ok"], result["content"]) == (True, sent)
            assert [bool(seen.headers.keys() & {"authorization", "cookie"}) for seen in server.seen] == [
                False,
                True,
            ]


async def test_a_second_401_is_the_answer() -> None:
    async with serving({"/": Answer(b"no", status=401)}) as server:
        result = await Fetching().call(url=server.url(), auth={"type": "bearer", "token": "wrong"})
    assert (result["ok"], result["status_code"], len(server.seen)) == (False, 401, 2)


async def test_credentials_are_not_sent_unless_asked_for() -> None:
    async with serving({"/": say("open")}) as server:
        await Fetching().call(url=server.url(), auth={"type": "bearer", "token": "abc"})
    assert [seen.headers.get("authorization") for seen in server.seen] == [None]
