"""`websearch` asks the service that the settings name, with the user's key and nothing else."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import JsonObject, ToolContext
from coder_tui.tools.builtin.websearch import WebsearchParams, WebsearchTool
from coder_tui.web.web import WebSettings, open_web
from tests.web.loopback import Answer, Loopback, Names, ask_for_all, reach_of, redirect, serving

CONTEXT = ToolContext("session", "call", Path("/"))
HITS = {
    "requestId": "r",
    "results": [
        {
            "title": "One",
            "url": "https://one.example/",
            "text": "first  words\n" * 500,
            "publishedDate": "2026-01-02",
        },
        {"title": None, "url": "https://two.example/", "score": 0.3},
        {"title": "without an address"},
    ],
}


def tool(server: Loopback, key: str = "the-key") -> WebsearchTool:
    settings = WebSettings(search_url=server.url("/v1/"), environ={"EXA_API_KEY": key} if key else {})
    return WebsearchTool(open_web(settings, ask_for_all, Names({}), reach_of).search)


async def search(made: WebsearchTool, **arguments: object) -> JsonObject:
    params = made.params.model_validate(arguments)
    await made.access(params, CONTEXT)
    return (await made.run(params, CONTEXT)).for_model


def answering(body: object, status: int = 200) -> dict[str, Answer]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"/v1/search": Answer(text.encode(), "application/json", status)}


async def test_results_have_title_address_snippet_and_date() -> None:
    async with serving(answering(HITS)) as server:
        result = await search(tool(server), query="  how to  ")
    first, second = result["results"]
    assert result["ok"] is True
    assert first["snippet"].startswith("first words first words")
    assert len(first["snippet"]) == 1_200
    assert {**first, "snippet": ""} == {
        "title": "One",
        "url": "https://one.example/",
        "snippet": "",
        "published": "2026-01-02",
    }
    assert second == {"title": "", "url": "https://two.example/", "snippet": ""}


async def test_eight_results_are_asked_for_with_the_key_in_a_header() -> None:
    async with serving(answering({"results": []})) as server:
        assert await search(tool(server), query="x") == {"ok": True, "results": []}
    sent = server.seen[0]
    assert (sent.method, sent.path, sent.headers["x-api-key"]) == ("POST", "/v1/search", "the-key")
    assert json.loads(sent.body)["numResults"] == 8
    assert json.loads(sent.body)["query"] == "x"


@pytest.mark.parametrize(("asked", "count"), [(3, 3), (0, 8), (-1, 8), (999, 25)])
async def test_the_number_of_results_can_be_set(asked: int, count: int) -> None:
    many = {"results": [{"url": f"https://{n}.example/"} for n in range(40)]}
    async with serving(answering(many)) as server:
        assert len((await search(tool(server), query="x", max_results=asked))["results"]) == count


async def test_without_a_key_nothing_is_asked_or_sent() -> None:
    async with serving(answering(HITS)) as server:
        with pytest.raises(ToolError) as caught:
            await search(tool(server, key=""), query="x")
    assert server.seen == []
    assert caught.value.message == "The search service needs a key, but none is set."
    assert "EXA_API_KEY" in caught.value.hint


async def test_the_approval_shows_the_words_and_where_they_go() -> None:
    async with serving({}) as server:
        access = await tool(server).access(WebsearchParams(query="my words"), CONTEXT)
    assert access.targets == (Target(TargetKind.ADDRESS, server.url("/v1/search")),)
    assert access.facts == ("the query goes to 127.0.0.1",)
    assert "my words" in repr(access.preview)


@pytest.mark.parametrize("status", [400, 401, 403, 402, 429, 500])
async def test_a_refusal_of_the_service_is_a_network_error_without_the_key(status: int) -> None:
    async with serving(answering({"error": "bad the-key"}, status)) as server:
        with pytest.raises(ToolError) as caught:
            await search(tool(server), query="x")
    assert caught.value.type is ErrorType.NETWORK_ERROR
    assert "the-key" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("body", ["<html>", "[]", '{"results": 3}', '{"results": [7]}', ""])
async def test_an_invalid_answer_is_a_network_error(body: str) -> None:
    async with serving(answering(body)) as server:
        with pytest.raises(ToolError) as caught:
            await search(tool(server), query="x")
    assert caught.value.type is ErrorType.NETWORK_ERROR


async def test_the_key_does_not_follow_a_redirect() -> None:
    async with (
        serving({"/": Answer(b"{}")}) as other,
        serving({"/v1/search": redirect(other.url())}) as server,
    ):
        with pytest.raises(ToolError):
            await search(tool(server), query="x")
    assert all("x-api-key" not in seen.headers for seen in other.seen)


@pytest.mark.parametrize("query", ["", "  ", "a\0b", "x" * 3_000])
def test_a_query_must_say_something(query: str) -> None:
    with pytest.raises(ValidationError):
        WebsearchParams(query=query)
