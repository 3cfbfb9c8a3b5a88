"""The service as others' clients see it: the official ones of OpenAI and of the Model Context
Protocol, against a server that runs."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

import ibid
from conftest import command_line, open_hashing
from ibid.service.chat_tasks import MARK
from ibid.testing.embedders import HashingEmbedder
from service_client import listening, make_key

LEAVE = "Parental leave lasts sixteen weeks. Notice is given eight weeks before."
QUESTION = "How long does parental leave last?"


@pytest.fixture
def url(library: ibid.Library) -> Iterator[str]:
    library.ingest(
        [
            ibid.Document("leave.md", LEAVE, title="Leave", source="https://intra.test/leave"),
            ibid.Document("pay.md", "Parental leave is paid from band seven.", allow=HR),
        ]
    )
    with listening(library) as url:
        yield url


NAME = HashingEmbedder().name
HR = frozenset({"group:hr"})


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client


def ask(client: openai.OpenAI, text: str, **options: Any) -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="ibid", messages=messages, **options)


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["ibid", NAME]
    assert client.models.retrieve("ibid").owned_by == "ibid"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other/model")


def test_a_completion_is_an_answer_with_its_citations(
    client: openai.OpenAI, library: ibid.Library
) -> None:
    done = ask(client, QUESTION, temperature=0.3, seed=1, user="ann", extra_body={"unknown": [1]})
    message = done.choices[0].message
    assert message.content == library.ask(QUESTION).text
    assert done.choices[0].finish_reason == "stop"
    (note, *_) = message.annotations
    assert note.url_citation.url == "https://intra.test/leave"
    start, end = note.url_citation.start_index, note.url_citation.end_index
    assert message.content[start:end] in LEAVE
    kept = library.answer(done.ibid["answer_id"])
    assert kept.answer.text == message.content


def test_a_streamed_completion_is_the_same_with_its_sources_and_usage(
    client: openai.OpenAI,
) -> None:
    whole = ask(client, QUESTION).choices[0].message
    chunks = list(ask(client, QUESTION, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == whole.content
    (source,) = [chunk.event["data"] for chunk in chunks if hasattr(chunk, "event")]
    assert source["source"] == {"name": "Leave", "url": "https://intra.test/leave"}
    assert source["document"] == [LEAVE]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == chunks[-1].usage.prompt_tokens
    assert chunks[-2].choices[0].finish_reason == "stop"
    bare = list(ask(client, QUESTION, stream=True))
    assert all(chunk.choices for chunk in bare)


def test_an_abstention_streams_its_words(client: openai.OpenAI, library: ibid.Library) -> None:
    question = "Which comet hit the moon?"
    deltas = [chunk.choices[0].delta for chunk in ask(client, question, stream=True)]
    said = "".join(delta.content or "" for delta in deltas)
    assert said == library.ask(question).text
    assert said


def test_a_follow_up_knows_the_messages_before(
    client: openai.OpenAI, library: ibid.Library
) -> None:
    before = ask(client, QUESTION).choices[0].message.content
    messages: Any = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": before},
        {"role": "user", "content": "And when is notice given?"},
    ]
    client.chat.completions.create(model="ibid", messages=messages)
    assert library.answers()[0].answer.request.history == (QUESTION, before)


def test_what_a_client_asks_for_itself_touches_no_document(
    client: openai.OpenAI, library: ibid.Library
) -> None:
    task = (
        f'{MARK}\nGenerate a title as JSON: {{"title": "…"}}\n'
        f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: Sixteen weeks.\n</chat_history>"
    )
    said = json.loads(ask(client, task).choices[0].message.content)
    assert said == {"title": "How long does parental leave last?"}
    assert library.answers() == []


@pytest.mark.parametrize("form", ["float", None])
def test_embeddings_are_those_of_the_library(
    client: openai.OpenAI, library: ibid.Library, form: Any
) -> None:
    options = {} if form is None else {"encoding_format": form}  # without, the client asks base64
    found = client.embeddings.create(model=NAME, input=["leave", "pay"], **options)
    vectors = np.array([one.embedding for one in found.data], dtype=np.float32)
    assert np.allclose(vectors, library.embed(["leave", "pay"]))


def test_errors_are_those_that_the_client_knows(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "x"}])
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="ibid", messages=[{"role": "system", "content": "x"}])
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="ibid", messages=[])


def test_a_key_sees_what_is_its_own(library: ibid.Library) -> None:
    library.ingest(ibid.Document("pay.md", "Parental leave is paid from band seven.", allow=HR))
    text = make_key(library, "group:hr", scopes=["ask"])["Authorization"].split()[1]
    with listening(library, keys_needed=True) as url:
        with openai.OpenAI(base_url=f"{url}/v1", api_key=text, max_retries=0) as known:
            assert "band seven" in ask(known, "How is leave paid?").choices[0].message.content
            with pytest.raises(openai.PermissionDeniedError):
                known.embeddings.create(model="ibid", input="x")
        with (
            openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as unknown,
            pytest.raises(openai.AuthenticationError),
        ):
            ask(unknown, "x")


# -- the Model Context Protocol -------------------------------------------------------------------


async def use_tools(client: Client) -> dict[str, Any]:
    """What the tools say to one caller."""
    async with client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == {"search", "fetch", "ask"}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed.tools)
        found = await client.call_tool("search", {"query": "parental leave"})
        fetched = await client.call_tool("fetch", {"id": "leave.md"})
        asked = await client.call_tool("ask", {"question": QUESTION})
        hidden = await client.call_tool("fetch", {"id": "pay.md"})
    for said in (found, fetched, asked):
        (item,) = said.content
        assert json.loads(item.text) == said.structured_content  # type: ignore[union-attr]  # one text
    return {
        "found": found.structured_content,
        "fetched": fetched.structured_content,
        "asked": asked.structured_content,
        "hidden": hidden.is_error,
    }


def check_tools(said: dict[str, Any]) -> None:
    assert said["found"] == {
        "results": [{"id": "leave.md", "title": "Leave", "url": "https://intra.test/leave"}]
    }
    assert said["fetched"]["text"] == LEAVE
    assert set(said["fetched"]) == {"id", "title", "text", "url", "metadata"}
    assert said["asked"]["answer"]["status"] == "answered"
    assert said["hidden"] is True


def test_tools_over_http(url: str) -> None:
    check_tools(asyncio.run(use_tools(Client(f"{url}/mcp"))))


def test_tools_over_http_need_a_key_where_the_service_does(library: ibid.Library, url: str) -> None:
    headers = make_key(library, scopes=["search"])

    async def call(client: Client) -> Any:
        async with client:
            return await client.call_tool("ask", {"question": QUESTION})

    with listening(library, keys_needed=True) as guarded:
        from mcp.shared._httpx_utils import create_mcp_http_client

        async def call_with_key() -> Any:
            async with create_mcp_http_client(headers=headers) as http:
                return await call(
                    Client(streamable_http_client(f"{guarded}/mcp", http_client=http))
                )

        said = asyncio.run(call_with_key())
        assert said.is_error
        assert "scope ask" in said.content[0].text
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{guarded}/mcp", b"{}")


def test_tools_over_standard_streams(tmp_path: Path) -> None:
    place = tmp_path / "tools"
    with open_hashing(place) as library:
        library.ingest(
            [
                ibid.Document("leave.md", LEAVE, title="Leave", source="https://intra.test/leave"),
                ibid.Document("pay.md", "Parental leave is paid from band seven.", allow=HR),
            ]
        )
    command = command_line(["mcp"])
    environ = {**os.environ, "IBID_LIBRARY": str(place), "IBID_EMBEDDER_NAME": "hashing"}
    server = StdioServerParameters(command=command[0], args=command[1:], env=environ)
    check_tools(asyncio.run(use_tools(Client(server))))
